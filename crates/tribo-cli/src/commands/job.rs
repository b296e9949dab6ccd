//! `tribo job`: what runs inside a process of this machine, a SLURM job and a PBS job.

use clap::Args;
use std::path::PathBuf;
use tribo_study::job::{self, Target};

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
    job::run(&target, options.unready.as_deref())
}
