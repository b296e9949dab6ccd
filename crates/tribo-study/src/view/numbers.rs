//! The numbers behind each picture, as named columns, for those who draw themselves: all of them, where a picture shows a
//! choice of very many.

use super::model::{Along, Over};
use super::{PictureKind, View};
use crate::Result;
use tribo::strategy::Expected;

/// A column of numbers or names.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    /// Numbers of trials or lanes.
    Whole(Vec<i64>),
    /// Names.
    Names(Vec<String>),
    /// Numbers in rows of this length.
    Rows(usize, Vec<f64>),
}

/// Columns by name.
pub type Columns = Vec<(&'static str, Column)>;

impl View {
    /// The numbers behind [`View::picture`], with the same errors.
    pub fn numbers(&self, kind: PictureKind, names: &[String]) -> Result<Columns> {
        let columns = match (kind, &self.inputs_of(kind, names)?[..]) {
            (PictureKind::Convergence, _) => self.values(),
            (PictureKind::Slice, [input]) => {
                let best = self.through_best().map(|best| best.place).unwrap_or_default();
                self.along(input, &best)?.map(|along| slice(along, input.categories()))
            }
            (PictureKind::Contour, [x, y]) => self.over(x, y)?.map(contour),
            (PictureKind::Slice | PictureKind::Contour, _) => None,
            (PictureKind::Importance, _) => self.shares(),
            (PictureKind::Validation, _) => self.left_out(),
            (PictureKind::Parallel | PictureKind::Matrix, _) => self.places(),
            (PictureKind::Timeline, _) => self.machine.columns(),
        };
        columns.ok_or_else(|| self.nothing_to_draw(kind))
    }

    /// Every trial that is over, in the order told: its value, and the best so far.
    fn values(&self) -> Option<Columns> {
        let internal = |value: f64| self.config.direction.to_internal(value);
        let mut best = f64::NAN;
        let mut bests = Vec::with_capacity(self.outcomes.len());
        for outcome in &self.outcomes {
            match outcome.value {
                Some(value) if outcome.is_feasible && (best.is_nan() || internal(value) < internal(best)) => {
                    best = value;
                }
                _ => {}
            }
            bests.push(best);
        }
        let trials = self.outcomes.iter().map(|outcome| outcome.trial as i64);
        let values = self.outcomes.iter().map(|outcome| outcome.value.unwrap_or(f64::NAN));
        (!best.is_nan()).then(|| {
            vec![
                ("trial", Column::Whole(trials.collect())),
                ("value", Column::Numbers(values.collect())),
                ("best", Column::Numbers(bests)),
            ]
        })
    }

    fn shares(&self) -> Option<Columns> {
        let model = self.model.as_ref().filter(|model| !model.shares.is_empty())?;
        let (shares, look) = (&model.shares, &model.look);
        Some(vec![
            ("input", Column::Names(shares.iter().map(|share| look.input_name(share.input)).collect())),
            ("total", Column::Numbers(shares.iter().map(|share| share.total).collect())),
            ("total_sd", Column::Numbers(shares.iter().map(|share| share.total_sd).collect())),
            ("first", Column::Numbers(shares.iter().map(|share| share.first).collect())),
            ("first_sd", Column::Numbers(shares.iter().map(|share| share.first_sd).collect())),
        ])
    }

    fn left_out(&self) -> Option<Columns> {
        let results = &self.model.as_ref()?.validation.as_ref()?.results;
        let expected: Vec<Expected> = results.iter().map(|result| result.expected).collect();
        let mut columns = vec![
            ("trial", Column::Whole(results.iter().map(|result| result.trial.0 as i64).collect())),
            ("measured", Column::Numbers(results.iter().map(|result| result.measured).collect())),
        ];
        columns.extend(intervals("expected", &expected));
        Some(columns)
    }

    /// Results with the places of the inputs shown, 0 to 1 between their ends.
    fn places(&self) -> Option<Columns> {
        self.parallel()?;
        let placed: Vec<(u64, &[f64], f64)> = self
            .measured()
            .filter_map(|(outcome, value)| Some((outcome.trial, outcome.places.as_deref()?, value)))
            .collect();
        let places = placed.iter().flat_map(|(_, places, _)| places.iter().copied()).collect();
        Some(vec![
            ("trial", Column::Whole(placed.iter().map(|(trial, _, _)| *trial as i64).collect())),
            ("value", Column::Numbers(placed.iter().map(|(_, _, value)| *value).collect())),
            ("input", Column::Names(self.inputs.iter().map(|input| input.name.clone()).collect())),
            ("place", Column::Rows(self.inputs.len(), places)),
        ])
    }
}

fn slice(along: Along, categories: &[String]) -> Columns {
    let Along { x, expected, near } = along;
    let named = |x: &f64| categories.get(*x as usize).cloned().unwrap_or_default();
    let input = |x: Vec<f64>| match categories.is_empty() {
        true => Column::Numbers(x),
        false => Column::Names(x.iter().map(named).collect()),
    };
    let mut columns = vec![("x", input(x))];
    columns.extend(intervals("mean", &expected));
    columns.push(("near_trial", Column::Whole(near.iter().map(|near| near.trial as i64).collect())));
    columns.push(("near_x", input(near.iter().map(|near| near.x).collect())));
    columns.push(("near_value", Column::Numbers(near.iter().map(|near| near.value).collect())));
    columns
}

fn contour(over: Over) -> Columns {
    let Over { x, y, expected, results } = over;
    let n = x.len();
    let rows = |of: fn(&Expected) -> f64| Column::Rows(n, expected.iter().map(of).collect());
    let of_results = |of: fn(&(u64, f64, f64, f64)) -> f64| Column::Numbers(results.iter().map(of).collect());
    vec![
        ("mean", rows(|expected| expected.mean)),
        ("low", rows(|expected| expected.low)),
        ("high", rows(|expected| expected.high)),
        ("x", Column::Numbers(x)),
        ("y", Column::Numbers(y)),
        ("trial", Column::Whole(results.iter().map(|(trial, ..)| *trial as i64).collect())),
        ("trial_x", of_results(|(_, x, _, _)| *x)),
        ("trial_y", of_results(|(_, _, y, _)| *y)),
        ("trial_value", of_results(|(_, _, _, value)| *value)),
    ]
}

/// What is expected, and the ends of its interval of 95 %.
fn intervals(name: &'static str, expected: &[Expected]) -> Columns {
    vec![
        (name, Column::Numbers(expected.iter().map(|expected| expected.mean).collect())),
        ("low", Column::Numbers(expected.iter().map(|expected| expected.low).collect())),
        ("high", Column::Numbers(expected.iter().map(|expected| expected.high).collect())),
    ]
}
