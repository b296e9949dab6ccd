//! `tribo plot`: one picture of a study.
//!
//! SVG only: browsers and office programs show it, and it can be enlarged. PNG would need fonts, which the nodes of clusters
//! mostly lack: texts would be missing without a word.

use crate::args::StudyPath;
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tribo_chart::{Chart, Scheme};
use tribo_study::page;
use tribo_study::reading::Reading;
use tribo_study::view::{InputAxis, SHOWN_INPUTS, View};

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
        return Err(Failure::usage(format!(
            "{}: pictures are SVG; give a name that ends in .svg, which browsers and office programs show",
            options.output.display()
        )));
    }
    let view = View::of(&Reading::open(&options.study.layout())?)?;
    let Some(chart) = chart(&view, options)? else {
        return Err(Failure::usage(nothing(options.kind)));
    };
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

fn chart(view: &View, options: &Options) -> Result<Option<Box<dyn Chart>>, Failure> {
    fn boxed<C: Chart + 'static>(chart: Option<C>) -> Option<Box<dyn Chart>> {
        chart.map(|chart| Box::new(chart) as Box<dyn Chart>)
    }
    Ok(match options.kind {
        Kind::Convergence => boxed(view.convergence()),
        Kind::Slice => match inputs(view, options, 1)?.first() {
            Some(input) => boxed(view.slice(input)?),
            None => None,
        },
        Kind::Contour => match &inputs(view, options, 2)?[..] {
            [x, y, ..] => boxed(view.contours(x, y)?),
            _ => None,
        },
        Kind::Importance => boxed(view.importance(4 * SHOWN_INPUTS)),
        Kind::Validation => boxed(view.validation()),
        Kind::Parallel => boxed(view.parallel()),
        Kind::Matrix => boxed(view.matrix()),
        Kind::Timeline => boxed(view.timeline()),
    })
}

/// The inputs asked for, or the most important ones that can be drawn.
fn inputs(view: &View, options: &Options, n: usize) -> Result<Vec<InputAxis>, Failure> {
    if options.input.is_empty() {
        let numbers = view.inputs.iter().filter(|input| n == 1 || !input.is_categorical());
        return Ok(numbers.take(n).cloned().collect());
    }
    if options.input.len() != n {
        return Err(Failure::usage(format!(
            "this picture takes --input {n} times, not {} times",
            options.input.len()
        )));
    }
    let find = |name: &String| {
        InputAxis::named(&view.config.space, name).ok_or_else(|| {
            let known: Vec<&str> = view.inputs.iter().map(|input| input.name.as_str()).collect();
            Failure::usage(format!("there is no input `{name}`; there is {}", known.join(", ")))
        })
    };
    options.input.iter().map(find).collect()
}

/// Why there is no such picture.
fn nothing(kind: Kind) -> String {
    match kind {
        Kind::Convergence | Kind::Parallel | Kind::Matrix => {
            "there is nothing to draw yet: too few trials have a value".to_owned()
        }
        Kind::Timeline => "there is nothing to draw: no evaluation was run by this program".to_owned(),
        Kind::Slice | Kind::Contour | Kind::Importance | Kind::Validation => {
            "there is no model to draw: too few results, a strategy without a model, or inputs that it does not see as numbers"
                .to_owned()
        }
    }
}
