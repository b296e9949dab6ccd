//! `tribo export`: all trials as a table for other programs.
//!
//! A file is written under another name and put in place when it is whole, so that a failure leaves no half table.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tribo_study::Error;
use tribo_study::reading::Reading;
use tribo_study::report::table::{MOST_CSV_COLUMNS, Table};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// csv, jsonl or parquet; by default what the name of the file says, else csv.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Write CSV with more than 2,000 columns, too.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each trial, one column for each value.
    Csv,
    /// One JSON object for each trial, vectors as arrays.
    Jsonl,
    /// Apache Parquet, uncompressed.
    Parquet,
}

impl Format {
    /// What the name of a file says, CSV if it says nothing.
    fn of(path: &Path) -> Result<Format, Failure> {
        match path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
            None | Some("csv" | "txt") => Ok(Format::Csv),
            Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
            Some("parquet") => Ok(Format::Parquet),
            Some(other) => Err(Failure::usage(format!(
                "{}: a table is not written as {other}; name the file .csv, .jsonl or .parquet, or say --format",
                path.display()
            ))),
        }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let reading = Reading::open(&options.study.layout())?;
    let rebuilt = reading.rebuilt()?;
    let begun = reading.begun();
    let table = Table::new(&reading.config, reading.ledger(), rebuilt.points(), &begun);
    let format = options.format.map_or_else(|| Format::of(&options.output), Ok)?;
    let n_columns = table.n_columns();
    if format == Format::Csv && n_columns > MOST_CSV_COLUMNS && !options.all {
        return Err(Failure::usage(format!(
            "the table has {n_columns} columns, which hardly any program reads as CSV; use --format jsonl or parquet, or --all to have it anyway"
        )));
    }
    let path = &options.output;
    if path == Path::new("-") {
        write(&table, format, BufWriter::new(io::stdout()), Path::new("standard output"))?;
        return Ok(OK);
    }
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".part");
    let part = path.with_file_name(name);
    let file = File::create(&part).map_err(Error::io("cannot write", path))?;
    let written = write(&table, format, BufWriter::new(file), path)
        .and_then(|()| fs::rename(&part, path).map_err(Error::io("cannot write", path)));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written?;
    Ok(OK)
}

fn write(table: &Table<'_>, format: Format, out: impl Write + Send, path: &Path) -> tribo_study::Result<()> {
    match format {
        Format::Csv => table.write_csv(out, path),
        Format::Jsonl => table.write_json_lines(out, path),
        Format::Parquet => table.write_parquet(out, path),
    }
}
