//! Prints the reference of the study file, which is kept in `docs/reference/study-file.md`.
#![allow(clippy::print_stdout, reason = "this is what it is for")]

fn main() {
    print!("{}", tribo_study::config::reference::markdown());
}
