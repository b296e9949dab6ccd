//! Pictures by their names: which there are, which inputs they are of, and why one cannot be drawn.

use super::{InputAxis, SHOWN_INPUTS, View};
use crate::report::text::count;
use crate::{Error, Result};
use tribo_chart::Chart;

/// A kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
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

impl PictureKind {
    /// Inputs that are named for it.
    fn n_inputs(self) -> usize {
        match self {
            PictureKind::Slice => 1,
            PictureKind::Contour => 2,
            _ => 0,
        }
    }
}

impl View {
    /// A picture of the inputs with these names, or by default of the most important ones. The error says why there is none.
    pub fn picture(&self, kind: PictureKind, names: &[String]) -> Result<Box<dyn Chart>> {
        fn boxed<C: Chart + 'static>(chart: Option<C>) -> Option<Box<dyn Chart>> {
            chart.map(|chart| Box::new(chart) as Box<dyn Chart>)
        }
        let chart = match (kind, &self.inputs_of(kind, names)?[..]) {
            (PictureKind::Convergence, _) => boxed(self.convergence()),
            (PictureKind::Slice, [input]) => boxed(self.slice(input)?),
            (PictureKind::Contour, [x, y]) => boxed(self.contours(x, y)?),
            (PictureKind::Slice | PictureKind::Contour, _) => None,
            (PictureKind::Importance, _) => boxed(self.importance(4 * SHOWN_INPUTS)),
            (PictureKind::Validation, _) => boxed(self.validation()),
            (PictureKind::Parallel, _) => boxed(self.parallel()),
            (PictureKind::Matrix, _) => boxed(self.matrix()),
            (PictureKind::Timeline, _) => boxed(self.timeline()),
        };
        chart.ok_or_else(|| self.nothing_to_draw(kind))
    }

    /// The inputs named, or the most important ones that can be drawn.
    pub(super) fn inputs_of(&self, kind: PictureKind, names: &[String]) -> Result<Vec<InputAxis>> {
        let n = kind.n_inputs();
        if names.is_empty() {
            let numbers = self.inputs.iter().filter(|input| n == 1 || !input.is_categorical());
            return Ok(numbers.take(n).cloned().collect());
        }
        if names.len() != n {
            let takes = if n == 0 { "no name of an input".to_owned() } else { count(n, "input") };
            return Err(Error::Usage(format!("this picture takes {takes}, not {}", names.len())));
        }
        let find = |name: &String| {
            InputAxis::named(&self.config.space, name).ok_or_else(|| {
                let known: Vec<&str> = self.inputs.iter().map(|input| input.name.as_str()).collect();
                Error::Usage(format!("there is no input `{name}`; there is {}", known.join(", ")))
            })
        };
        names.iter().map(find).collect()
    }

    pub(super) fn nothing_to_draw(&self, kind: PictureKind) -> Error {
        let why = match kind {
            PictureKind::Convergence | PictureKind::Parallel | PictureKind::Matrix => {
                "there is nothing to draw yet: too few trials have a value"
            }
            PictureKind::Timeline if self.layout.is_none() => {
                "there are no workers to draw: a study in memory is told results and does not know who worked when"
            }
            PictureKind::Timeline => "there is nothing to draw: no evaluation was run by this program",
            PictureKind::Slice | PictureKind::Contour | PictureKind::Importance | PictureKind::Validation => {
                "there is no model to draw: too few results, a strategy without a model, or inputs that it does not see as numbers"
            }
        };
        Error::Usage(why.to_owned())
    }
}
