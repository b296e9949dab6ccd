//! What the models say about limits: how probable it is along an input that all are met, and what would be expected of the best
//! point if they were others.

use super::{InputAxis, Through, View};
use crate::Result;
use std::time::Instant;
use tribo::limit::Limit;
use tribo::strategy::{BestExpected, LimitsLook};
use tribo_chart::{Axis, Dots, LineChart, Mark, Series};

/// A limit can be moved by the distance that half of the measured values are within, and at least by this part of its size.
const LEAST_MOVE: f64 = 0.05;

/// An end of a limit, which can be moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The limit, by its number.
    pub limit: usize,
    /// Whether it is the upper end, or both where they are the same.
    pub is_upper: bool,
    /// What it limits, such as `stress at most`.
    pub name: String,
    /// Where it is.
    pub value: f64,
    /// How far it can be moved to either side.
    pub room: f64,
}

impl Bound {
    /// Its value at a place between 0 and 1; in the middle it is where it is.
    pub fn at(&self, place: f64) -> f64 {
        self.value + (2.0 * place.clamp(0.0, 1.0) - 1.0) * self.room
    }
}

impl View {
    fn limits_look(&self) -> Option<&LimitsLook> {
        self.model.as_ref()?.limits.as_ref()
    }

    /// The ends of all limits; none without models of them.
    pub fn bounds(&self) -> Vec<Bound> {
        let Some(look) = self.limits_look() else { return vec![] };
        let mut bounds = vec![];
        for (number, limit) in look.limits().iter().enumerate() {
            let mut add = |is_upper: bool, words: &str, value: f64| {
                let room = look.spread(number, value).max(LEAST_MOVE * limit.size());
                let name = format!("{} {words}", limit.name());
                bounds.push(Bound { limit: number, is_upper, name, value, room });
            };
            match (limit.low(), limit.high()) {
                (Some(low), Some(high)) if low == high => add(true, "equals", high),
                (low, high) => {
                    low.into_iter().for_each(|low| add(false, "at least", low));
                    high.into_iter().for_each(|high| add(true, "at most", high));
                }
            }
        }
        bounds
    }

    /// What is expected of the best point if these ends of limits were moved to these values; None without models. Ends that
    /// pass each other are put together.
    pub fn best_with(&self, moved: &[(&Bound, f64)]) -> Result<Option<BestExpected>> {
        let Some(look) = self.limits_look() else { return Ok(None) };
        let mut limits = look.limits().to_vec();
        for (bound, value) in moved {
            let old = &limits[bound.limit];
            let ends = match (bound.is_upper, old.is_equality()) {
                (_, true) => (Some(*value), Some(*value)),
                (true, _) => (old.low().map(|low| low.min(*value)), Some(*value)),
                (false, _) => (Some(*value), old.high().map(|high| high.max(*value))),
            };
            limits[bound.limit] = Limit::new(old.name(), ends.0, ends.1)?.with_tolerance(old.tolerance())?;
        }
        Ok(look.best_with(&limits, &super::Until(Instant::now() + super::FIT))?)
    }

    /// The probability that all limits are met at a place of the model; None without models of them.
    pub fn chance_within(&self, place: &[f64]) -> Result<Option<f64>> {
        let Some(look) = self.limits_look() else { return Ok(None) };
        Ok(look.chances(&[place.to_vec()])?.first().copied())
    }

    /// The probability along one input, through the best point, that all limits are met; None without models of them.
    pub fn chance(&self, input: &InputAxis) -> Result<Option<LineChart>> {
        let Some(through) = self.through_best() else { return Ok(None) };
        self.chance_through(input, &through)
    }

    /// The same through any place.
    pub fn chance_through(&self, input: &InputAxis, through: &Through) -> Result<Option<LineChart>> {
        let (Some(look), Some(places)) = (self.limits_look(), self.places_along(input, &through.place)?)
        else {
            return Ok(None);
        };
        let (x, places): (Vec<f64>, Vec<Vec<f64>>) = places.into_iter().unzip();
        let mut series = Series::default();
        for (x, chance) in x.into_iter().zip(look.chances(&places)?) {
            let chance = 100.0 * chance;
            if input.is_categorical() {
                // A short piece for each name, parted from the next by a gap.
                series.points.extend([(x - 0.25, chance), (x + 0.25, chance), (f64::NAN, f64::NAN)]);
            } else {
                series.points.push((x, chance));
            }
        }
        let y = 100.0 * look.chances(std::slice::from_ref(&through.place))?[0];
        let strong = Mark { x: self.at(input, &through.place)?, y, title: through.name.clone(), level: None };
        Ok(Some(LineChart {
            title: format!("Within the limits, along {}", input.name),
            description: format!(
                "How probable the models hold it that all limits are met along {}, all other inputs as in {}.",
                input.name, through.name
            ),
            x: input.axis(),
            y: Axis::linear("chance [%]").within(0.0, 100.0),
            series: vec![series],
            dots: vec![Dots { kind: 3, strong: true, marks: vec![strong], ..Dots::default() }],
            size: Some((330.0, 120.0)),
            ..LineChart::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::ByHand;
    use crate::job::{Finding, Kind};
    use crate::layout::Layout;
    use crate::reading::Reading;
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\nname = \"beam\"\nseed = 5\n\
        [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0\nhigh = 2\n\
        [[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0\nhigh = 2\n\
        [[output]]\nname = \"mass\"\ngoal = \"minimize\"\n[[output]]\nname = \"stiffness\"\nat_least = 1\n";

    /// Mass x + y with x y at least 1: the best is 2 sqrt(limit).
    #[test]
    fn a_limit_that_is_moved_moves_the_best_point_that_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("study.toml"));
        std::fs::write(layout.file(), FILE).unwrap();
        let mut study = ByHand::take_new(&layout).unwrap();
        for trial in 0..25 {
            let x = study.ask(1, &Unwatched).unwrap()[0].point.numbers();
            let numbers = [("mass".to_owned(), x[0] + x[1]), ("stiffness".to_owned(), x[0] * x[1])];
            let outputs = numbers.into_iter().collect();
            study.tell(trial, &Finding { kind: Kind::Ok, outputs, reason: String::new() }).unwrap();
        }
        study.close("test").unwrap();
        let view = View::of(&Reading::open(&layout).unwrap()).unwrap();
        let bounds = view.bounds();
        assert_eq!(
            (bounds.len(), bounds[0].name.as_str(), bounds[0].at(0.5)),
            (1, "stiffness at least", 1.0)
        );
        assert!(bounds[0].at(0.0) < 1.0 && bounds[0].at(1.0) > 1.0);
        for limit in [0.8_f64, 1.3] {
            let best = view.best_with(&[(&bounds[0], limit)]).unwrap().unwrap();
            let expected = 2.0 * limit.sqrt();
            assert!(best.is_met && (best.objective.mean - expected).abs() < 0.02, "{best:?} for {expected}");
            let stiffness = best.outputs[0].unwrap().mean;
            assert!((stiffness - limit).abs() < 0.02, "{stiffness} for {limit}");
        }
        let impossible = view.best_with(&[(&bounds[0], 5.0)]).unwrap().unwrap();
        assert!(!impossible.is_met, "{impossible:?}");
        let chart = view.chance(&view.inputs[0]).unwrap().unwrap();
        let points = &chart.series[0].points;
        assert!(points[0].1 < 5.0 && points[points.len() - 1].1 > 95.0, "{points:?}");
    }
}
