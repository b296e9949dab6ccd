//! The program `tribo`.

use std::process::ExitCode;
use tribo_study::job::{self, Target};

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let target = match words.as_slice() {
        [verb, option, path] if verb == "job" && option == "--dir" => Target::Dir(path.into()),
        [verb, option, path] if verb == "job" && option == "--array" => Target::Array(path.into()),
        _ => return ExitCode::from(2),
    };
    ExitCode::from(job::run(&target))
}
