//! `tribo init`: a study file to begin with. Never overwrites a file, never asks.

use crate::failure::{Failure, OK, Outcome};
use crate::output;
use crate::templates::{self, File, line};
use clap::{Args, ValueEnum};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tribo_study::Error;
use tribo_study::config::Config;
use tribo_study::layout::{STUDY_FILE, shell_word};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to write it; made if it does not exist.
    #[arg(default_value = ".", hide_default_value = true)]
    folder: PathBuf,
    /// A command line with ranges in it: {x:0..1}, {y:1e-3..1:log}, {n:1..9:int}, {m:a,b,c}.
    #[arg(long, value_name = "LINE", conflicts_with = "template")]
    from: Option<String>,
    /// A ready example with its script.
    #[arg(long, value_enum)]
    template: Option<Template>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Template {
    /// A shell script that prints a number.
    Quick,
    /// A solver with an input deck and a log file.
    Deck,
    /// A driver that was written for Dakota.
    Dakota,
    /// Ten thousand inputs.
    Wide,
    /// Jobs of SLURM.
    Slurm,
    /// Jobs of PBS.
    Pbs,
}

impl Template {
    fn files(self) -> &'static [File] {
        match self {
            Template::Quick => templates::QUICK,
            Template::Deck => templates::DECK,
            Template::Dakota => templates::DAKOTA,
            Template::Wide => templates::WIDE,
            Template::Slurm => templates::SLURM,
            Template::Pbs => templates::PBS,
        }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = &options.folder;
    let files: Vec<(&str, String)> = match (&options.from, options.template) {
        (Some(line), _) => {
            let text = line::study_file(line, folder).map_err(Failure::usage)?;
            // What is wrong with a range is said now, not by the next command.
            Config::parse(&folder.join(STUDY_FILE), &text)
                .map_err(|error| Failure::usage(format!("--from: {}", error.message)))?;
            vec![(STUDY_FILE, text)]
        }
        (None, template) => {
            let files = template.map_or(templates::PLAIN, Template::files);
            files.iter().map(|file| (file.name, file.text.to_owned())).collect()
        }
    };
    if let Some((name, _)) = files.iter().find(|(name, _)| folder.join(name).exists()) {
        return Err(Failure::usage(format!(
            "{} exists and is not overwritten; name another folder, or move it away",
            folder.join(name).display()
        )));
    }
    fs::create_dir_all(folder).map_err(Error::io("cannot make the folder", folder))?;
    for (name, text) in &files {
        write(&folder.join(name), text)?;
        output::note(&format!("wrote {}", folder.join(name).display()));
    }
    let study = if folder == Path::new(".") { String::new() } else { format!(" {}", shell_word(folder)) };
    output::note(&format!("next: `tribo check{study}` checks it, `tribo run{study}` runs the study"));
    Ok(OK)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mode = if text.starts_with("#!") { 0o777 } else { 0o666 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists and is not overwritten", path.display()))
        }
        _ => Error::io("cannot write", path)(error).into(),
    })
}
