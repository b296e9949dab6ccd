//! `tribo plot`: one picture of a study.
//!
//! SVG only: browsers and office programs show it, and it can be enlarged. PNG would need fonts, which the nodes of clusters
//! mostly lack: texts would be missing without a word.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tribo_chart::Scheme;
use tribo_study::layout::shell_word;
use tribo_study::page;
use tribo_study::reading::Reading;
use tribo_study::view::{PictureKind, View};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What to draw.
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    study: StudyPath,
    /// The input of a slice; given twice, those of contours. By default the most important ones.
    #[arg(long, value_name = "NAME")]
    input: Vec<String>,
    /// The file, with the ending .svg; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Light colours on a dark ground, instead of what the reader prefers.
    #[arg(long, conflicts_with = "light")]
    dark: bool,
    /// Dark colours on a light ground, instead of what the reader prefers: for paper.
    #[arg(long)]
    light: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Every value as it came, and the best so far.
    Convergence,
    /// What the model expects along one input, through the best point.
    Slice,
    /// What the model expects over two inputs, through the best point.
    Contour,
    /// How much each input matters.
    Importance,
    /// Each result against what the model expects of it from the others.
    Validation,
    /// All results as lines across the inputs.
    Parallel,
    /// All results in all pairs of inputs.
    Matrix,
    /// Who worked when.
    Timeline,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let is_svg = options.output.extension().is_none_or(|extension| extension == "svg");
    if !is_svg && options.output != Path::new("-") {
        let (wanted, svg) = (&options.output, options.output.with_extension("svg"));
        let how = match wanted.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            true => format!(
                "; then `rsvg-convert -o {png} {svg}` or `chromium --headless --screenshot={png} {svg}` makes a PNG of it",
                png = shell_word(wanted),
                svg = shell_word(&svg)
            ),
            false => ", which browsers and office programs show".to_owned(),
        };
        return Err(Failure::usage(format!(
            "{}: pictures are SVG; use -o {}{how}",
            wanted.display(),
            shell_word(&svg)
        )));
    }
    let view = View::of(&Reading::open(&options.study.layout())?)?;
    let chart = view.picture(options.kind.into(), &options.input)?;
    let scheme = match (options.dark, options.light) {
        (true, _) => Scheme::Dark,
        (_, true) => Scheme::Light,
        _ => Scheme::Reader,
    };
    let svg = chart.picture().svg(scheme);
    match options.output == Path::new("-") {
        true => output::print(&svg)?,
        false => page::write(&options.output, &svg)?,
    }
    Ok(OK)
}

impl From<Kind> for PictureKind {
    fn from(kind: Kind) -> PictureKind {
        match kind {
            Kind::Convergence => PictureKind::Convergence,
            Kind::Slice => PictureKind::Slice,
            Kind::Contour => PictureKind::Contour,
            Kind::Importance => PictureKind::Importance,
            Kind::Validation => PictureKind::Validation,
            Kind::Parallel => PictureKind::Parallel,
            Kind::Matrix => PictureKind::Matrix,
            Kind::Timeline => PictureKind::Timeline,
        }
    }
}
