//! `tribo job`: what runs inside a process of this machine, a SLURM job and a PBS job.

use crate::{output, place};
use clap::Args;
use std::path::PathBuf;
use tribo_study::job::{self, Target};
use tribo_study::worker;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// Folder of the attempt.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// List of the attempts of a job array; the scheduler's environment says which element this is.
    #[arg(long, value_name = "FILE")]
    array: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    target: Which,
    /// What failed before the job could begin: there is nothing to run, only that to say.
    #[arg(long, value_name = "TEXT")]
    unready: Option<String>,
}

pub(crate) fn run(options: &Options) -> u8 {
    let target = match (&options.target.dir, &options.target.array) {
        (Some(dir), _) => Target::Dir(dir.clone()),
        (None, array) => Target::Array(array.clone().unwrap_or_default()),
    };
    let unready = options.unready.as_deref();
    // A pilot is submitted as any job is; its folder tells.
    let pilot = job::folder(&target).and_then(|dir| Ok(worker::pilot(&dir, unready, &place::program()?)));
    match pilot {
        Ok(Some(Ok(()))) => 0,
        Ok(Some(Err(error))) => {
            output::error(&error.to_string());
            1
        }
        Ok(None) | Err(_) => job::run(&target, unready),
    }
}
