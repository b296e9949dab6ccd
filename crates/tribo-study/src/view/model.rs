//! What the model expects: along single inputs and pairs of them through the best point, of each result from the others,
//! and how much each input matters.

use super::{InputAxis, Model, SHOWN_RESULTS, View, thinned};
use crate::Result;
use tribo::analysis::{LeftOutResult, Share};
use tribo::strategy::Expected;
use tribo_chart::{Axis, Bars, Dots, HeatMap, LineChart, Mark, Measure, Rule, Scale, Series, plain};

/// Places along a slice, and along each side of a contour map.
const SLICE: usize = 61;
const GRID: usize = 36;

/// A place in the model that slices go through.
#[derive(Debug, Clone, PartialEq)]
pub struct Through {
    /// Its coordinates.
    pub place: Vec<f64>,
    /// The value that is marked there.
    pub value: f64,
    /// What it is, such as `the best trial`.
    pub name: String,
}

/// Values of an input, each with its place in the model.
type Places = Vec<(f64, Vec<f64>)>;

/// What the model expects along one input.
pub(super) struct Along {
    /// Values of the input; a category as its index.
    pub(super) x: Vec<f64>,
    /// What is expected there.
    pub(super) expected: Vec<Expected>,
    /// The results to show beside it.
    pub(super) near: Vec<Near>,
}

/// A result that differs little from the place of a slice in all inputs but one.
pub(super) struct Near {
    pub(super) trial: u64,
    pub(super) x: f64,
    pub(super) value: f64,
}

/// What the model expects over two inputs.
pub(super) struct Over {
    /// Values of the inputs along the sides of the grid.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// What is expected: rows from the bottom, each from the left.
    pub(super) expected: Vec<Expected>,
    /// Results of the model: trial, both inputs, value.
    pub(super) results: Vec<(u64, f64, f64, f64)>,
}

impl View {
    /// The best point of the model with some inputs set: each by its number, to a place between its ends, or to the number of
    /// a category. None without a model, or if it does not see one of them.
    pub fn set(&self, set: &[(usize, f64)]) -> Result<Option<Through>> {
        let Some(model) = &self.model else { return Ok(None) };
        let mut place = model.look.best_point();
        for &(number, value) in set {
            if !value.is_finite() || number >= self.config.space.n_inputs() {
                return Ok(None);
            }
            let input = InputAxis::of(&self.config.space, number);
            let Some((_, range)) = self.coordinates_of(&input) else { return Ok(None) };
            if input.is_categorical() {
                let last = input.categories().len() - 1;
                in_category(&mut place, &range, value.clamp(0.0, last as f64) as usize);
            } else {
                place[range.start] = value.clamp(0.0, 1.0);
            }
        }
        model.look.snap(&mut place);
        let value = model.look.expected(std::slice::from_ref(&place))?[0].mean;
        Ok(Some(Through { place, value, name: "the point that is set".to_owned() }))
    }

    /// An input at a place of the model: its coordinate, or the number of its category, and its value as people read it.
    pub fn setting(&self, input: &InputAxis, place: &[f64]) -> Result<Option<(f64, String)>> {
        let Some((model, range)) = self.coordinates_of(input) else { return Ok(None) };
        let number = input.number(&self.config.space.decode(&model.look.whole(place)?)?);
        Ok(Some(match input.categories().get(number as usize) {
            Some(category) => (number, category.clone()),
            None => (place[range.start], plain(number)),
        }))
    }

    /// The model along one input, through the best point; None without a model, or if it does not see the input.
    pub fn slice(&self, input: &InputAxis) -> Result<Option<LineChart>> {
        let Some(through) = self.through_best() else { return Ok(None) };
        self.slice_through(input, &through)
    }

    /// The best point of the model.
    pub(super) fn through_best(&self) -> Option<Through> {
        let place = self.model.as_ref()?.look.best_point();
        Some(Through { place, value: self.best_value(), name: "the best trial".to_owned() })
    }

    /// The model along one input, through any place.
    pub fn slice_through(&self, input: &InputAxis, through: &Through) -> Result<Option<LineChart>> {
        let Some(Along { x, expected, near }) = self.along(input, &through.place)? else { return Ok(None) };
        let mut series = Series::default();
        for (&x, &Expected { mean, low, high }) in x.iter().zip(&expected) {
            if input.is_categorical() {
                // A short piece for each name, parted from the next by a gap.
                for x in [x - 0.25, x + 0.25] {
                    series.points.push((x, mean));
                    series.band.push((x, low, high));
                }
                series.points.push((f64::NAN, f64::NAN));
                series.band.push((f64::NAN, low, high));
            } else {
                series.points.push((x, mean));
                series.band.push((x, low, high));
            }
        }
        let mark = |Near { trial, x, value }: Near| Mark {
            x,
            y: value,
            title: format!("trial {trial}: {} = {}, {}", input.name, plain(x), plain(value)),
            level: None,
        };
        let marks = thinned(near.into_iter().map(mark).collect(), SHOWN_RESULTS);
        let (x, y, title) = (self.at(input, &through.place)?, through.value, through.name.clone());
        let strong = Mark { x, y, title, level: None };
        Ok(Some(LineChart {
            title: format!("Along {}", input.name),
            description: format!(
                "What the model expects of {} along {}, all other inputs as in {}.",
                self.objective(),
                input.name,
                through.name
            ),
            x: input.axis(),
            y: self.slice_axis(&series),
            series: vec![series],
            dots: vec![
                Dots { kind: 7, marks, ..Dots::default() },
                Dots { kind: 3, strong: true, marks: vec![strong], ..Dots::default() },
            ],
            size: Some((330.0, 230.0)),
            ..LineChart::default()
        }))
    }

    /// What is drawn in a slice through a place.
    pub(super) fn along(&self, input: &InputAxis, best: &[f64]) -> Result<Option<Along>> {
        let (Some((model, range)), Some(places)) =
            (self.coordinates_of(input), self.places_along(input, best)?)
        else {
            return Ok(None);
        };
        let (x, points): (Vec<f64>, Vec<Vec<f64>>) = places.into_iter().unzip();
        let expected = model.look.expected(&points)?;
        Ok(Some(Along { x, expected, near: self.near(model, best, &range, input)? }))
    }

    /// Values of an input all along its range, and the places of the model there, through one of them; None if it is not seen.
    pub(super) fn places_along(&self, input: &InputAxis, best: &[f64]) -> Result<Option<Places>> {
        let Some((model, range)) = self.coordinates_of(input) else { return Ok(None) };
        let mut points = Vec::new();
        if input.is_categorical() {
            for category in 0..input.categories().len() {
                let mut place = best.to_vec();
                in_category(&mut place, &range, category);
                model.look.snap(&mut place);
                points.push(place);
            }
        } else {
            for i in 0..SLICE {
                let mut place = best.to_vec();
                place[range.start] = i as f64 / (SLICE - 1) as f64;
                model.look.snap(&mut place);
                points.push(place);
            }
            points.dedup();
        }
        let number =
            |place: &Vec<f64>| Ok(input.number(&self.config.space.decode(&model.look.whole(place)?)?));
        let x = points.iter().map(number).collect::<Result<Vec<f64>>>()?;
        Ok(Some(x.into_iter().zip(points).collect()))
    }

    /// The value of an input at a place of the model.
    pub(super) fn at(&self, input: &InputAxis, place: &[f64]) -> Result<f64> {
        let Some(model) = &self.model else { return Ok(f64::NAN) };
        Ok(input.number(&self.config.space.decode(&model.look.whole(place)?)?))
    }

    /// The values of a slice: the line and the best, with bands that are far wider cut off.
    fn slice_axis(&self, series: &Series) -> Axis {
        let finite =
            || series.points.iter().map(|(_, y)| *y).filter(|y| y.is_finite()).chain([self.best_value()]);
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let is_log = self.model.as_ref().is_some_and(|model| model.look.is_logarithmic());
        if is_log && low > 0.0 && high > low {
            return Axis::log(self.objective())
                .within(low * (low / high).powf(0.2), high * (high / low).powf(0.2));
        }
        let room = 0.35 * (high - low);
        let axis = Axis::linear(self.objective());
        if room > 0.0 { axis.within(low - room, high + room) } else { axis }
    }

    /// The results to show in a slice: those that differ little from its place in all other coordinates, or all where only one
    /// is modelled.
    fn near(
        &self,
        model: &Model,
        best: &[f64],
        range: &std::ops::Range<usize>,
        input: &InputAxis,
    ) -> Result<Vec<Near>> {
        let look = &model.look;
        let scales = look.length_scales();
        let mut near = vec![];
        for (trial, place, value) in look.results() {
            let distance: f64 = (0..look.dim())
                .filter(|k| !range.contains(k))
                .map(|k| ((place[k] - best[k]) / scales[k].min(0.5)).powi(2))
                .sum::<f64>()
                .sqrt();
            if distance <= 0.25 {
                let x = input.number(&self.config.space.decode(&look.whole(place)?)?);
                near.push(Near { trial: trial.0, x, value });
            }
        }
        Ok(near)
    }

    /// The model over two inputs, through the best point; None without a model, or if it does not see both as numbers.
    pub fn contours(&self, x: &InputAxis, y: &InputAxis) -> Result<Option<HeatMap>> {
        let Some(Over { expected, results, .. }) = self.over(x, y)? else { return Ok(None) };
        let mut values: Vec<f64> = expected.iter().map(|expected| expected.mean).collect();
        let is_log = self.model.as_ref().is_some_and(|model| model.look.is_logarithmic());
        let mut value_label = self.objective().to_owned();
        // On the scale that the model has, where it is logarithmic: the valleys are what is looked for.
        if is_log && values.iter().all(|value| *value > 0.0) {
            values.iter_mut().for_each(|value| *value = value.log10());
            value_label = format!("log₁₀ {value_label}");
        }
        let mark = |(trial, x, y, value): (u64, f64, f64, f64)| {
            let title = format!("trial {trial}: {}", plain(value));
            Mark { x, y, title, level: None }
        };
        let marks: Vec<Mark> = results.into_iter().map(mark).collect();
        let best = self.through_best().map(|best| best.place).unwrap_or_default();
        let (best_x, best_y) = (self.at(x, &best)?, self.at(y, &best)?);
        let strong = Mark { x: best_x, y: best_y, title: "the best trial".to_owned(), level: None };
        Ok(Some(HeatMap {
            title: format!("{} and {}", x.name, y.name),
            description: format!(
                "What the model expects of {} over {} and {}, all other inputs as in the best trial.",
                self.objective(),
                x.name,
                y.name
            ),
            x: x.axis(),
            y: y.axis(),
            columns: GRID,
            rows: GRID,
            values,
            value_label,
            maximized: self.is_maximized(),
            dots: vec![
                Dots { kind: 7, marks: thinned(marks, 300), ..Dots::default() },
                Dots { kind: 3, strong: true, marks: vec![strong], ..Dots::default() },
            ],
            size: Some((300.0, 250.0)),
        }))
    }

    /// What is drawn as contours.
    pub(super) fn over(&self, x: &InputAxis, y: &InputAxis) -> Result<Option<Over>> {
        let (Some((model, across)), Some((_, up))) = (self.coordinates_of(x), self.coordinates_of(y)) else {
            return Ok(None);
        };
        if x.is_categorical() || y.is_categorical() || x.input == y.input {
            return Ok(None);
        }
        let look = &model.look;
        let place = |i: usize| i as f64 / (GRID - 1) as f64;
        let mut points = Vec::with_capacity(GRID * GRID);
        for row in 0..GRID {
            for column in 0..GRID {
                let mut point = look.best_point();
                (point[across.start], point[up.start]) = (place(column), place(row));
                points.push(point);
            }
        }
        let mut results = vec![];
        for (trial, place, value) in look.results() {
            let point = self.config.space.decode(&look.whole(place)?)?;
            results.push((trial.0, x.number(&point), y.number(&point), value));
        }
        let side = |input: &InputAxis| (0..GRID).map(|i| input.value_at(place(i))).collect();
        Ok(Some(Over { x: side(x), y: side(y), expected: look.expected(&points)?, results }))
    }

    /// Each result against what the model expects of it from the others; None where nothing can be said.
    pub fn validation(&self) -> Option<LineChart> {
        let model = self.model.as_ref()?;
        let validation = model.validation.as_ref()?;
        let mark = |result: &LeftOutResult| {
            let LeftOutResult { trial, measured, expected } = result;
            let title = format!(
                "trial {trial}: expected {} ({} to {}), measured {}",
                plain(expected.mean),
                plain(expected.low),
                plain(expected.high),
                plain(*measured)
            );
            Mark { x: expected.mean, y: *measured, title, level: None }
        };
        let group = |inside: bool, name: &str, kind| {
            let results = validation.results.iter().filter(|result| result.is_inside() == inside);
            Dots { name: name.to_owned(), kind, marks: results.map(mark).collect(), ..Dots::default() }
        };
        let dots = [group(true, "in the interval", 0), group(false, "outside", 1)];
        let positive = validation.results.iter().all(|r| r.measured > 0.0 && r.expected.mean > 0.0);
        let scale = if positive && model.look.is_logarithmic() { Scale::Log } else { Scale::Linear };
        let axis = |label: String| Axis { scale, ..Axis::linear(&label) };
        Some(LineChart {
            title: "Expected and measured, each result left out".to_owned(),
            description: format!(
                "The model explains {:.0} % of the variance of results that it has not seen; {:.0} % of them lie in its \
                 interval of 95 %.",
                100.0 * validation.explained.max(0.0),
                100.0 * validation.inside
            ),
            x: axis(format!("{} expected from the others", self.objective())),
            y: axis(format!("{} measured", self.objective())),
            dots: dots.into_iter().filter(|dots| !dots.marks.is_empty()).collect(),
            rules: vec![Rule::Diagonal],
            size: Some((360.0, 300.0)),
            ..LineChart::default()
        })
    }

    /// How much each input matters, at most so many; None where nothing can be said.
    pub fn importance(&self, most: usize) -> Option<Bars> {
        let model = self.model.as_ref()?;
        if model.shares.is_empty() {
            return None;
        }
        let bar = |share: &Share| {
            let name = model.look.input_name(share.input);
            let title = format!(
                "{name}: {:.0} % of the variance with its interactions, {:.0} % alone",
                100.0 * share.total,
                100.0 * share.first
            );
            Measure {
                name,
                value: share.total,
                interval: Some((
                    (share.total - 2.0 * share.total_sd).max(0.0),
                    (share.total + 2.0 * share.total_sd).min(1.0),
                )),
                part: Some(share.first.min(share.total)),
                label: format!("{:.0} %", 100.0 * share.total),
                title,
            }
        };
        let first = &model.shares[0];
        Some(Bars {
            title: "Which inputs matter".to_owned(),
            description: format!(
                "{} matters most: {:.0} % of the variance of {} over the whole space goes with it.",
                model.look.input_name(first.input),
                100.0 * first.total,
                self.objective()
            ),
            label: "share of the variance: strong colour alone, faint with its interactions".to_owned(),
            bars: model.shares.iter().take(most).map(bar).collect(),
            end: Some(1.0),
        })
    }

    /// The model, and the coordinates of an input in it.
    fn coordinates_of(&self, input: &InputAxis) -> Option<(&Model, std::ops::Range<usize>)> {
        let model = self.model.as_ref()?;
        let at = model.look.inputs().iter().position(|&number| number == input.input)?;
        Some((model, model.look.input_coordinates()[at].clone()))
    }

    fn best_value(&self) -> f64 {
        self.summary.best.as_ref().map_or(f64::NAN, |best| best.value)
    }
}

/// Puts a place into a category of the input with these coordinates.
fn in_category(place: &mut [f64], range: &std::ops::Range<usize>, category: usize) {
    match range.len() {
        1 => place[range.start] = category as f64,
        _ => range.clone().for_each(|k| place[k] = f64::from(u8::from(k - range.start == category))),
    }
}
