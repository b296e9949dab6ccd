//! `tribo predict`: what a fitted model says of the rows of a table, of any length, as CSV.
//!
//! One row out for each row in. The file is put in place when it is whole.

use crate::failure::{Failure, OK, Outcome};
use clap::Args;
use faer::Mat;
use rayon::prelude::*;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tribo::surrogate::Prediction;
use tribo::surrogate::sparse::QUERIES;
use tribo_study::Error;
use tribo_study::model_file::NamedModel;
use tribo_study::report::csv;
use tribo_study::report::point::Cell;
use tribo_study::table::{Table, number};

/// Rows read before any is predicted.
const CHUNK: usize = 32 * QUERIES;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The model, a file that `tribo fit` wrote.
    model: PathBuf,
    /// The table, with a column for each input of the model.
    file: PathBuf,
    /// The file; - is standard output.
    #[arg(short = 'o', long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Leave the answer empty for rows with a missing or non-finite number, instead of stopping there.
    #[arg(long)]
    skip_bad: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let model = NamedModel::load(&options.model)?;
    let table = Table::open(&options.file)?;
    let find = |name: &String| {
        table
            .column(name)
            .map_err(|fault| Failure::usage(format!("{}: {fault}; the model needs it", table.header_place())))
    };
    let columns = model.inputs.iter().map(find).collect::<Result<Vec<usize>, Failure>>()?;
    let path = &options.output;
    if path == Path::new("-") {
        write(
            &model,
            &table,
            &columns,
            options.skip_bad,
            BufWriter::new(io::stdout()),
            Path::new("standard output"),
        )?;
        return Ok(OK);
    }
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".part");
    let part = path.with_file_name(name);
    let file = File::create(&part).map_err(Error::io("cannot write", path))?;
    let written = write(&model, &table, &columns, options.skip_bad, BufWriter::new(file), path)
        .and_then(|()| Ok(fs::rename(&part, path).map_err(Error::io("cannot write", path))?));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written?;
    Ok(OK)
}

fn write(
    model: &NamedModel,
    table: &Table,
    columns: &[usize],
    skip_bad: bool,
    mut out: impl Write,
    path: &Path,
) -> Result<(), Failure> {
    let failed = |source| Failure::from(Error::io("cannot write", path)(source));
    csv::write_header(&mut out, ["mean", "sd", "sd_measured"].into_iter()).map_err(failed)?;
    let mut rows = table.rows(columns)?;
    let mut cells = vec![Cell::Null; columns.len()];
    let mut is_last = false;
    while !is_last {
        let mut points: Vec<f64> = Vec::new();
        let mut is_good = Vec::new();
        while is_good.len() < CHUNK {
            if !rows.next(&mut cells)? {
                is_last = true;
                break;
            }
            let good = take(&cells, &model.inputs, &mut points);
            if let (Err(fault), false) = (&good, skip_bad) {
                return Err(Failure::usage(format!(
                    "{}: {fault}; --skip-bad leaves the answer of such rows empty",
                    rows.place()
                )));
            }
            is_good.push(good.is_ok());
        }
        let Prediction { mean, var } = predict(model, &points)?;
        let noise_var = model.posterior.hyperparameters().noise_var;
        let mut next = 0;
        for is_good in is_good {
            let mut answer = [Cell::Null, Cell::Null, Cell::Null];
            if is_good {
                let (sd, sd_measured) = (var[next].sqrt(), (var[next] + noise_var).sqrt());
                answer = [mean[next], sd, sd_measured].map(Cell::Float);
                next += 1;
            }
            csv::write_row(&mut out, &answer).map_err(failed)?;
        }
    }
    table.check_unchanged()?;
    out.flush().map_err(failed)
}

/// Adds the numbers of a row, or none of them.
fn take(cells: &[Cell], names: &[String], points: &mut Vec<f64>) -> Result<(), String> {
    let before = points.len();
    for (cell, name) in cells.iter().zip(names) {
        let fault = match number(cell) {
            Ok(Some(value)) if value.abs() <= 1e70 => {
                points.push(value);
                continue;
            }
            Ok(Some(value)) => format!("is {value}"),
            Ok(None) => "is empty".to_owned(),
            Err(fault) => format!("has {fault}"),
        };
        points.truncate(before);
        return Err(format!("column {name:?} {fault}"));
    }
    Ok(())
}

/// Predictions at points, one after the other, by all threads.
fn predict(model: &NamedModel, points: &[f64]) -> Result<Prediction, Failure> {
    let d = model.inputs.len();
    let parts: Vec<tribo::Result<Prediction>> = points
        .par_chunks(QUERIES * d)
        .map(|part| model.predict(Mat::from_fn(part.len() / d, d, |i, k| part[i * d + k])))
        .collect();
    let mut all = Prediction { mean: vec![], var: vec![] };
    for part in parts {
        let Prediction { mean, var } = part.map_err(Error::from)?;
        all.mean.extend(mean);
        all.var.extend(var);
    }
    Ok(all)
}
