//! `tribo report`: everything about a study on one page.

use crate::args::StudyPath;
use crate::failure::{OK, Outcome};
use crate::output;
use clap::Args;
use std::path::{Path, PathBuf};
use tribo_study::Result;
use tribo_study::layout::Layout;
use tribo_study::page;
use tribo_study::reading::Reading;
use tribo_study::view::View;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// The file; - is standard output. By default the name of the study file with the ending .html.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    match &options.output {
        Some(path) if path == Path::new("-") => output::print(&text(&layout)?)?,
        Some(path) => write(&layout, path)?,
        None => {
            write(&layout, &layout.report())?;
            output::note(&format!("report in {}", layout.report().display()));
        }
    }
    Ok(OK)
}

fn text(layout: &Layout) -> Result<String> {
    page::report(&View::of(&Reading::open(layout)?)?)
}

/// Writes the report of a study.
pub(crate) fn write(layout: &Layout, path: &Path) -> Result<()> {
    page::write(path, &text(layout)?)
}
