//! Inputs that take whole numbers or categories: proposals are worth what the model says of points that can be evaluated.
//!
//! A point between two categories is far from all data, so that an acquisition over the whole cube is highest there, and the
//! point it is rounded to may be worth nothing, or be known already `[@garridomerchan2020]`. So, in three steps:
//! the cube is searched with all switches, inputs of two values or categories, where they can be, and whole numbers
//! anywhere between; the best point is rounded and climbs from value to value, one input at a time; and what is left,
//! the inputs that take any value, is searched once more with all others held.
//!
//! A trust region that holds one value of such an input is no region: it reaches to the next values, and to all categories.
//!
//! Five such inputs of six, after 60 evaluations, mean of 20 seeds: 0.0007 above the lowest value, 0.09 when proposals were
//! rounded afterwards.

use crate::acquisition::Acquisition;
use crate::acquisition::maximize::Maximum;
use crate::error::Result;
use crate::space::{Input, Space};
use crate::surrogate::Posterior;
use faer::{Mat, MatRef};

/// How far whole numbers are moved at a time.
const STEPS: [f64; 4] = [-1.0, 1.0, -2.0, 2.0];
/// Points that a climb looks at, at most: about as many as a search has candidates.
const LOOKED_AT: usize = 512;

/// The inputs of a space that do not take any value between their bounds.
pub(super) struct Grid {
    space: Space,
    inputs: Vec<Input>,
}

/// Whether an input has no values between which anything could be read off.
fn is_switch(input: &Input) -> bool {
    input.coordinates.len() > 1 || input.n_values == Some(2)
}

impl Grid {
    /// None if all inputs take any value.
    pub(super) fn of(space: &Space) -> Option<Grid> {
        let inputs: Vec<Input> = space.inputs().filter(|input| input.n_values.is_some()).collect();
        (!inputs.is_empty()).then(|| Grid { space: space.clone(), inputs })
    }

    /// Whether some inputs take any value.
    fn leaves_some(&self, d: usize) -> bool {
        self.inputs.iter().map(|input| input.coordinates.len()).sum::<usize>() < d
    }

    /// Moves a point to the nearest that can be evaluated.
    pub(super) fn snap(&self, point: &mut [f64]) {
        for Input { coordinates, .. } in &self.inputs {
            self.space.snap_input(coordinates.start, &mut point[coordinates.clone()]);
        }
    }

    /// The same for each row.
    pub(super) fn snap_all(&self, points: &mut Mat<f64>) {
        for Input { coordinates, .. } in &self.inputs {
            let mut value = vec![0.0; coordinates.len()];
            for i in 0..points.nrows() {
                coordinates.clone().zip(&mut value).for_each(|(k, value)| *value = points[(i, k)]);
                self.space.snap_input(coordinates.start, &mut value);
                coordinates.clone().zip(&value).for_each(|(k, value)| points[(i, k)] = *value);
            }
        }
    }

    /// Widens a box around `centre` so that it holds the next values, and all categories.
    pub(super) fn widen(&self, centre: &[f64], low: &mut [f64], high: &mut [f64]) {
        for input in &self.inputs {
            let range = input.coordinates.clone();
            if is_switch(input) {
                low[range.clone()].fill(0.0);
                high[range].fill(1.0);
                continue;
            }
            for value in self.moves(input, centre).into_iter().take(2) {
                low[range.start] = low[range.start].min(value[0]);
                high[range.start] = high[range.start].max(value[0]);
            }
        }
    }

    /// The coordinates of other values of an input, those next to that of `point` first.
    fn moves(&self, input: &Input, point: &[f64]) -> Vec<Vec<f64>> {
        let first = input.coordinates.start;
        let Some(value) = self.space.decode_input(first, &point[input.coordinates.clone()]) else {
            return vec![];
        };
        let others: Vec<f64> = match is_switch(input) && input.coordinates.len() > 1 {
            true => (0..input.coordinates.len())
                .map(|other| other as f64)
                .filter(|&other| other != value)
                .collect(),
            false => STEPS.iter().map(|step| value + step).collect(),
        };
        let coordinates = |other: f64| {
            let mut found = Vec::with_capacity(input.coordinates.len());
            self.space.encode_input(first, other, &mut found).ok().map(|()| found)
        };
        others.into_iter().filter_map(coordinates).collect()
    }

    /// The best point that can be evaluated near `x`, by single moves, and what it is worth.
    fn climb(&self, function: &dyn Acquisition, posterior: &dyn Posterior, x: Vec<f64>) -> Result<Maximum> {
        let (mut x, d) = (x, posterior.dim());
        self.snap(&mut x);
        let value = function.evaluate(posterior, Mat::from_fn(1, d, |_, k| x[k]).as_ref())?[0];
        let mut found = Maximum { x, value, evaluations: 1, rounds: 0 };
        loop {
            let mut points: Vec<Vec<f64>> = vec![];
            for input in &self.inputs {
                for coordinates in self.moves(input, &found.x) {
                    let mut moved = found.x.clone();
                    moved[input.coordinates.clone()].copy_from_slice(&coordinates);
                    points.push(moved);
                }
            }
            if points.is_empty() || found.evaluations + points.len() > LOOKED_AT {
                return Ok(found);
            }
            let values =
                function.evaluate(posterior, Mat::from_fn(points.len(), d, |i, k| points[i][k]).as_ref())?;
            found.evaluations += points.len();
            let best = (0..points.len()).reduce(|a, b| if values[b] > values[a] { b } else { a });
            match best.filter(|&i| values[i] > found.value) {
                Some(i) => (found.x, found.value) = (points.swap_remove(i), values[i]),
                None => return Ok(found),
            }
        }
    }

    /// The point that can be evaluated and is worth most, where `search` finds the highest value of a function; what it is
    /// told as its second argument is where to look again, if anywhere.
    pub(super) fn maximise(
        &self,
        function: &dyn Acquisition,
        posterior: &dyn Posterior,
        mut search: impl FnMut(&dyn Acquisition, Option<&[f64]>) -> Result<Maximum>,
    ) -> Result<Maximum> {
        let relaxed = search(&OnGrid { function, grid: self, held: None }, None)?;
        let mut best = self.climb(function, posterior, relaxed.x)?;
        if self.leaves_some(best.x.len()) {
            let held = OnGrid { function, grid: self, held: Some(&best.x) };
            let mut again = search(&held, Some(&best.x))?;
            if again.value > best.value {
                held.put(&mut again.x);
                best = again;
            }
        }
        Ok(best)
    }
}

/// A function of points whose switches, or all of whose inputs on the grid, are where they can be.
struct OnGrid<'a> {
    function: &'a dyn Acquisition,
    grid: &'a Grid,
    /// Where all inputs on the grid are; without it switches are rounded, and whole numbers are not.
    held: Option<&'a [f64]>,
}

impl OnGrid<'_> {
    fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.grid.inputs.iter().filter(|input| self.held.is_some() || is_switch(input))
    }

    fn put(&self, point: &mut [f64]) {
        for Input { coordinates, .. } in self.inputs() {
            let range = coordinates.clone();
            match self.held {
                Some(held) => point[range.clone()].copy_from_slice(&held[range]),
                None => self.grid.space.snap_input(range.start, &mut point[range]),
            }
        }
    }

    fn put_all(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut put = x.to_owned();
        let mut point = vec![0.0; x.ncols()];
        for i in 0..x.nrows() {
            (0..x.ncols()).for_each(|k| point[k] = x[(i, k)]);
            self.put(&mut point);
            (0..x.ncols()).for_each(|k| put[(i, k)] = point[k]);
        }
        put
    }
}

impl Acquisition for OnGrid<'_> {
    fn evaluate(&self, posterior: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        self.function.evaluate(posterior, self.put_all(x).as_ref())
    }

    fn evaluate_gradient(
        &self,
        posterior: &dyn Posterior,
        x: MatRef<'_, f64>,
    ) -> Result<(Vec<f64>, Mat<f64>)> {
        let (values, mut gradient) = self.function.evaluate_gradient(posterior, self.put_all(x).as_ref())?;
        for k in self.inputs().flat_map(|input| input.coordinates.clone()) {
            gradient.col_as_slice_mut(k).fill(0.0);
        }
        Ok((values, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::maximize::{Search, maximise};
    use crate::rng::Stream;
    use crate::space::{Direction, Parameter};
    use crate::strategy::{Settings, Strategy, Study};
    use crate::surrogate::data::Data;
    use crate::surrogate::exact::ExactPosterior;
    use crate::surrogate::hyper::{Hyperparameters, Mean};
    use crate::surrogate::kernel::Shape;
    use crate::surrogate::watch::Unwatched;

    /// A category of three, a whole number of ten, one of few on a logarithmic scale, a switch, and a number.
    fn space() -> Space {
        let parameters = vec![
            Parameter::categorical("kind", ["a", "b", "c"]),
            Parameter::int("depth", 0, 9),
            Parameter::log_int("count", 1, 40),
            Parameter::categorical("on", ["yes", "no"]),
            Parameter::float("rate", 0.0, 1.0),
        ];
        Space::new(parameters).unwrap()
    }

    fn posterior(d: usize) -> ExactPosterior {
        let x = Mat::from_fn(2, d, |i, _| i as f64);
        let log: Vec<f64> = vec![0.0; d].into_iter().chain([0.0, 1e-2_f64.ln()]).collect();
        let hyper = Hyperparameters::from_log(Shape::Matern52, &log);
        ExactPosterior::new(&Data::new(x.as_ref(), &[0.0, 1.0]).unwrap(), &hyper, Mean::Estimated).unwrap()
    }

    /// Highest at a point that may be between values.
    struct Peak(Vec<f64>);

    impl Acquisition for Peak {
        fn evaluate(&self, _: &dyn Posterior, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
            let away = |i: usize| (0..x.ncols()).map(|k| (x[(i, k)] - self.0[k]).powi(2)).sum::<f64>();
            Ok((0..x.nrows()).map(|i| -away(i)).collect())
        }

        fn evaluate_gradient(
            &self,
            posterior: &dyn Posterior,
            x: MatRef<'_, f64>,
        ) -> Result<(Vec<f64>, Mat<f64>)> {
            let slope = |i: usize, k: usize| -2.0 * (x[(i, k)] - self.0[k]);
            Ok((self.evaluate(posterior, x)?, Mat::from_fn(x.nrows(), x.ncols(), slope)))
        }
    }

    #[test]
    fn what_is_found_can_be_evaluated_and_no_single_move_is_better() {
        let space = space();
        let (grid, d) = (Grid::of(&space).unwrap(), space.dim());
        let posterior = posterior(d);
        for seed in 0..50 {
            let mut stream = Stream::new(seed, "grid test", 0);
            let peak = Peak((0..d).map(|_| stream.uniform()).collect());
            let none = Mat::zeros(0, d);
            let (low, high, search) = (vec![0.0; d], vec![1.0; d], Search::default());
            let found = grid.maximise(&peak, &posterior, |function, near| {
                let near = near.map(|near| Mat::from_fn(1, d, |_, k| near[k]));
                let best = near.as_ref().unwrap_or(&none).as_ref();
                maximise(function, &posterior, &low, &high, best, &search, &mut stream, &Unwatched)
            });
            let found = found.unwrap();
            let mut snapped = found.x.clone();
            grid.snap(&mut snapped);
            assert_eq!(snapped, found.x, "seed {seed}");
            let value =
                |x: &[f64]| peak.evaluate(&posterior, Mat::from_fn(1, d, |_, k| x[k]).as_ref()).unwrap()[0];
            assert_eq!(value(&found.x), found.value, "seed {seed}");
            for input in &grid.inputs {
                for coordinates in grid.moves(input, &found.x) {
                    let mut moved = found.x.clone();
                    moved[input.coordinates.clone()].copy_from_slice(&coordinates);
                    assert!(value(&moved) <= found.value, "seed {seed}: {moved:?}");
                }
            }
            assert!((found.x[d - 1] - peak.0[d - 1]).abs() < 1e-3, "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn a_box_reaches_the_next_values_and_all_categories() {
        let space = space();
        let grid = Grid::of(&space).unwrap();
        let mut centre = vec![0.9, 0.1, 0.2, 0.42, 0.3, 0.9, 0.5];
        grid.snap(&mut centre);
        let (mut low, mut high) = (centre.clone(), centre.clone());
        grid.widen(&centre, &mut low, &mut high);
        assert_eq!((&low[..3], &high[..3]), (&[0.0; 3][..], &[1.0; 3][..]));
        assert!(
            (centre[3] - 0.45).abs() < 1e-12
                && (low[3] - 0.35).abs() < 1e-12
                && (high[3] - 0.55).abs() < 1e-12
        );
        let count = space.decode_input(4, &centre[4..5]).unwrap();
        assert_eq!(space.decode_input(4, &low[4..5]), Some(count - 1.0));
        assert_eq!(space.decode_input(4, &high[4..5]), Some(count + 1.0));
        assert_eq!((low[5], high[5]), (0.0, 1.0));
        assert_eq!((low[6], high[6]), (0.5, 0.5), "it takes any value");
        assert!(Grid::of(&Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap()).is_none());
    }

    #[test]
    fn whole_numbers_and_categories_are_found() {
        let mut n_found = 0;
        for seed in 1..=6 {
            let mut stream = Stream::new(seed, "mixed problem", 0);
            let best: Vec<f64> = (0..4).map(|_| 0.2 + 0.6 * stream.uniform()).collect();
            let mix: Vec<f64> = (0..16).map(|_| stream.normal()).collect();
            let f = |x: &[f64]| {
                let z: Vec<f64> = (0..4).map(|k| x[k] - best[k]).collect();
                let rows = (0..4).map(|i| (0..4).map(|k| mix[4 * i + k] * z[k]).sum::<f64>().powi(2));
                rows.sum::<f64>() + 0.3 * z.iter().map(|z| z * z).sum::<f64>()
            };
            let offsets = [0.5, 0.0, 0.2, 1.0];
            // The lowest value, over all whole numbers, with the number that takes any value on a fine net.
            let mut lowest = f64::INFINITY;
            for whole in 0..1000 {
                let [a, b, c] =
                    [whole / 100, whole / 10 % 10, whole % 10].map(|value| f64::from(value) / 9.0);
                (0..=200).for_each(|i| lowest = lowest.min(f(&[a, b, c, f64::from(i) / 200.0])));
            }
            let parameters = vec![
                Parameter::int("whole", 0, 9).with_size(3),
                Parameter::categorical("kind", ["a", "b", "c", "d"]),
                Parameter::float("rate", 0.0, 1.0),
            ];
            let space = Space::new(parameters).unwrap();
            let strategy = Strategy::Bo(Settings::bo());
            let mut study = Study::new(space.clone(), Direction::Minimize, strategy, Some(60), seed).unwrap();
            for _ in 0..60 {
                for suggestion in study.ask(1).unwrap() {
                    let unit = space.encode(&suggestion.point).unwrap();
                    let at = |k: usize| space.decode_input(k, &unit.as_slice()[k..=k]).unwrap();
                    let kind = space.decode_input(3, &unit.as_slice()[3..7]).unwrap() as usize;
                    let x = [at(0) / 9.0, at(1) / 9.0, at(2) / 9.0, at(7)];
                    study.tell(suggestion.id, f(&x) + offsets[kind]).unwrap();
                }
            }
            let reached = study.best().unwrap().unwrap().value;
            assert!(reached >= lowest - 1e-3, "seed {seed}: {reached} is below {lowest}");
            n_found += usize::from(reached < lowest + 0.01);
        }
        assert!(n_found >= 5, "{n_found} of 6");
    }
}
