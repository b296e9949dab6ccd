//! The part of the unit cube where all formulas are met.

use super::nearest::Nearest;
use super::{Axis, Formula};
use crate::error::{Error, Result};
use crate::rng::Stream;
use crate::space::Codec;
use std::sync::Arc;

/// Random points that are looked at for some inside: so many numbers are drawn at most.
const DRAWN: usize = 400_000;
/// And so many points.
const LOOKED_AT: (usize, usize) = (200, 5_000);
/// Points inside that are kept, to go back to.
const ANCHORS: usize = 8;
/// Starts of the search for a point inside, where random ones miss it.
const STARTS: u64 = 200;
/// Draws before a random point inside is looked for by a walk, and steps of the walk.
const DRAWS: usize = 100;
const WALK: usize = 40;

/// All formulas of a space.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::space) struct Formulas {
    pub(super) formulas: Vec<Formula>,
    /// The coordinates they look at, in increasing order.
    pub(super) axes: Vec<Axis>,
    /// The axis of every input, for each formula.
    pub(super) places: Vec<Vec<usize>>,
    /// Points inside, by axis: the first ones found.
    pub(super) anchors: Vec<Vec<f64>>,
    /// The part of random points that are inside.
    share: f64,
}

impl Formulas {
    /// Formulas over coordinates given by (parameter, element); refused if no point meets them all.
    pub(in crate::space) fn new(
        formulas: Vec<Formula>,
        locate: impl Fn(usize, usize) -> (usize, Codec),
    ) -> Result<Formulas> {
        let mut axes: Vec<Axis> = vec![];
        for &(parameter, element) in formulas.iter().flat_map(|formula| &formula.inputs) {
            let (coordinate, codec) = locate(parameter, element);
            axes.push(Axis { coordinate, codec });
        }
        axes.sort_by_key(|axis| axis.coordinate);
        axes.dedup_by_key(|axis| axis.coordinate);
        let place = |&(parameter, element): &(usize, usize)| {
            let (coordinate, _) = locate(parameter, element);
            axes.partition_point(|axis| axis.coordinate < coordinate)
        };
        let places = formulas.iter().map(|formula| formula.inputs.iter().map(place).collect()).collect();
        let mut all = Formulas { formulas, axes, places, anchors: vec![], share: 0.0 };
        all.find_anchors()?;
        Ok(all)
    }

    fn find_anchors(&mut self) -> Result<()> {
        let d = self.axes.len();
        let mut stream = Stream::new(0, "points that meet formulas", 0);
        let most = (DRAWN / d).clamp(LOOKED_AT.0, LOOKED_AT.1);
        let (mut looked_at, mut least) = (0, (f64::INFINITY, vec![0.5; d]));
        while looked_at < most && self.anchors.len() < ANCHORS {
            let u: Vec<f64> = (0..d).map(|_| stream.uniform()).collect();
            looked_at += 1;
            if self.admit(&u) {
                self.anchors.push(u);
            } else {
                let violation = self.violation(&u);
                if violation < least.0 {
                    least = (violation, u);
                }
            }
        }
        self.share = self.anchors.len() as f64 / looked_at as f64;
        for start in 0..STARTS {
            if self.anchors.len() >= ANCHORS || (start >= STARTS / 8 && !self.anchors.is_empty()) {
                break;
            }
            // The least violated point first, then others.
            let u: Vec<f64> = match start {
                0 => least.1.clone(),
                _ => (0..d).map(|_| stream.uniform()).collect(),
            };
            let nearest = Nearest { formulas: self, free: vec![true; d] };
            match nearest.from(&u) {
                Some(u) if !self.anchors.contains(&u) => self.anchors.push(u),
                Some(_) => {}
                None => {
                    let u = nearest.reached(&u);
                    let violation = self.violation(&u);
                    if violation < least.0 {
                        least = (violation, u);
                    }
                }
            }
        }
        if self.anchors.is_empty() { Err(self.nothing(&least.1)) } else { Ok(()) }
    }

    /// No point meets all: the formula that is missed most at the point that misses least.
    fn nothing(&self, u: &[f64]) -> Error {
        let numbers = self.numbers(u);
        let excess = |number: usize| {
            let values = self.formulas[number].tape.values(&self.of(number, &numbers));
            let comparisons = self.formulas[number].comparisons.iter();
            comparisons.map(|comparison| comparison.excess(&values)).fold(0.0, f64::max)
        };
        let worst = (0..self.formulas.len()).max_by(|&a, &b| excess(a).total_cmp(&excess(b))).unwrap_or(0);
        let by = excess(worst);
        Error::NothingAdmissible { n: self.formulas.len(), text: self.formulas[worst].to_string(), by }
    }

    pub(in crate::space) fn all(&self) -> &[Formula] {
        &self.formulas
    }

    /// The numbers that the evaluation is given, by axis.
    pub(super) fn numbers(&self, u: &[f64]) -> Vec<f64> {
        self.axes.iter().zip(u).map(|(axis, u)| axis.number(*u)).collect()
    }

    /// The inputs of one formula.
    pub(super) fn of(&self, number: usize, numbers: &[f64]) -> Vec<f64> {
        self.places[number].iter().map(|&place| numbers[place]).collect()
    }

    /// Whether all formulas are met.
    pub(super) fn admit(&self, u: &[f64]) -> bool {
        let numbers = self.numbers(u);
        self.formulas.iter().enumerate().all(|(number, formula)| formula.is_met(&self.of(number, &numbers)))
    }

    /// How far beyond all formulas are together, in the units of each over the size of its slopes.
    pub(super) fn violation(&self, u: &[f64]) -> f64 {
        let numbers = self.numbers(u);
        let mut sum = 0.0;
        for (number, formula) in self.formulas.iter().enumerate() {
            let values = formula.tape.values(&self.of(number, &numbers));
            for comparison in &formula.comparisons {
                if !comparison.is_met(&values) {
                    // Smallest numbers count too: what must be below has an excess of zero at its border.
                    sum += comparison.excess(&values).max(f64::MIN_POSITIVE);
                }
            }
        }
        sum
    }

    /// Excess of every comparison, integers taken as any number between, and its slopes by axis.
    pub(super) fn excesses(&self, u: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let (numbers, rates): (Vec<f64>, Vec<f64>) =
            self.axes.iter().zip(u).map(|(axis, u)| axis.relaxed(*u)).unzip();
        let mut all = vec![];
        for (number, formula) in self.formulas.iter().enumerate() {
            let values = formula.tape.values(&self.of(number, &numbers));
            for comparison in &formula.comparisons {
                let mut of_inputs = vec![0.0; formula.inputs.len()];
                let sign = match comparison.sign.way() {
                    -1 => 1.0,
                    1 => -1.0,
                    _ if values[comparison.left] >= values[comparison.right] => 1.0,
                    _ => -1.0,
                };
                formula.tape.add_slopes(&values, comparison.left, sign, &mut of_inputs);
                formula.tape.add_slopes(&values, comparison.right, -sign, &mut of_inputs);
                let mut slopes = vec![0.0; u.len()];
                for (&place, slope) in self.places[number].iter().zip(of_inputs) {
                    slopes[place] = slope * rates[place];
                }
                all.push((comparison.excess(&values), slopes));
            }
        }
        all
    }

    /// The nearest point inside that is found.
    pub(super) fn nearest(&self, u: &[f64]) -> Vec<f64> {
        if self.admit(u) {
            return u.to_vec();
        }
        let nearest = Nearest { formulas: self, free: vec![true; u.len()] };
        nearest.from(u).unwrap_or_else(|| nearest.along_anchors(u))
    }
}

/// Where a coordinate of formulas is among those of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// This coordinate of the search.
    At(usize),
    /// None of them: it stays as it is.
    Fixed(f64),
}

/// The points of a search that meet all formulas.
#[derive(Debug, Clone)]
pub struct Region {
    formulas: Arc<Formulas>,
    places: Vec<Place>,
    /// Whether the search moves all that formulas look at.
    is_whole: bool,
}

impl Region {
    /// For a search that moves all coordinates of the cube.
    pub(in crate::space) fn whole(formulas: &Arc<Formulas>) -> Region {
        let places = formulas.axes.iter().map(|axis| Place::At(axis.coordinate)).collect();
        Region { formulas: formulas.clone(), places, is_whole: true }
    }

    /// The coordinates of the cube that formulas look at.
    pub fn coordinates(&self) -> Vec<usize> {
        self.formulas.axes.iter().map(|axis| axis.coordinate).collect()
    }

    /// For a search that moves some coordinates of the cube, in its own order, while the others stay as in `base`: their values
    /// at [`Region::coordinates`].
    pub fn slice(&self, moved: &[usize], base: &[f64]) -> Region {
        let place = |(axis, base): (&Axis, &f64)| match moved.iter().position(|&k| k == axis.coordinate) {
            Some(at) => Place::At(at),
            None => Place::Fixed(*base),
        };
        let places: Vec<Place> = self.formulas.axes.iter().zip(base).map(place).collect();
        let is_whole = places.iter().all(|place| matches!(place, Place::At(_)));
        Region { formulas: self.formulas.clone(), places, is_whole }
    }

    /// What formulas see of a point of the search.
    fn seen(&self, x: &[f64]) -> Vec<f64> {
        let see = |place: &Place| match *place {
            Place::At(k) => x[k],
            Place::Fixed(u) => u,
        };
        self.places.iter().map(see).collect()
    }

    /// A point with what formulas see replaced.
    fn replaced(&self, x: &[f64], seen: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        for (place, u) in self.places.iter().zip(seen) {
            if let Place::At(k) = place {
                x[*k] = *u;
            }
        }
        x
    }

    /// Whether a point of the search meets all formulas.
    pub fn admits(&self, x: &[f64]) -> bool {
        self.formulas.admit(&self.seen(x))
    }

    /// The nearest point of the search inside that is found: itself, bit for bit, if it is. None if none is found, which can
    /// be only where some of what formulas look at is not moved.
    pub fn nearest(&self, x: &[f64]) -> Option<Vec<f64>> {
        let seen = self.seen(x);
        if self.formulas.admit(&seen) {
            return Some(x.to_vec());
        }
        if self.is_whole {
            return Some(self.replaced(x, &self.formulas.nearest(&seen)));
        }
        let free = self.places.iter().map(|place| matches!(place, Place::At(_))).collect();
        let nearest = Nearest { formulas: &self.formulas, free };
        nearest.from(&seen).map(|seen| self.replaced(x, &seen))
    }

    /// About the point nearest to `to` on the line from a point inside that is still inside, to a millionth of the line.
    pub fn towards(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        bisect(|x| self.admits(x), from, to, 20)
    }

    /// How far beyond each comparison is at a point of the search (zero or less where it is met), integers taken as any number
    /// between, over the length of its slopes; and those slopes by coordinate, of length one. So it is about the distance to
    /// the border. None where a side is no number.
    pub fn distances(&self, x: &[f64]) -> Option<Vec<(f64, Vec<f64>)>> {
        let excesses = self.formulas.excesses(&self.seen(x));
        excesses
            .into_iter()
            .map(|(excess, slopes)| {
                let mut moved = vec![0.0; x.len()];
                for (place, slope) in self.places.iter().zip(slopes) {
                    if let Place::At(k) = place {
                        moved[*k] += slope;
                    }
                }
                let length = moved.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
                if !excess.is_finite() || !length.is_finite() {
                    return None;
                }
                let length = length.max(f64::MIN_POSITIVE);
                moved.iter_mut().for_each(|slope| *slope /= length);
                Some((excess / length, moved))
            })
            .collect()
    }

    /// How many comparisons all formulas make.
    pub fn n_borders(&self) -> usize {
        self.formulas.formulas.iter().map(|formula| formula.comparisons.len()).sum()
    }

    /// A random point of the search inside: uniform if it is found by chance, else the end of a walk inside. The other
    /// coordinates are uniform. As [`Region::nearest`], it may not be found.
    pub fn draw(&self, d: usize, stream: &mut Stream) -> Option<Vec<f64>> {
        let mut x: Vec<f64> = vec![];
        for _ in 0..DRAWS {
            x = (0..d).map(|_| stream.uniform()).collect();
            if self.admits(&x) {
                return Some(x);
            }
        }
        x = self.nearest(&x)?;
        // Hit and run `[@smith1984]`: a random line through the point, a random place on it, nearer until it is inside.
        let free: Vec<usize> = self
            .places
            .iter()
            .filter_map(|place| if let Place::At(k) = place { Some(*k) } else { None })
            .collect();
        for _ in 0..WALK {
            let direction: Vec<f64> = free.iter().map(|_| stream.normal()).collect();
            let (mut back, mut ahead) = (f64::NEG_INFINITY, f64::INFINITY);
            for (&k, &slope) in free.iter().zip(&direction) {
                let (a, b) = (-x[k] / slope, (1.0 - x[k]) / slope);
                back = back.max(a.min(b));
                ahead = ahead.min(a.max(b));
            }
            for _ in 0..60 {
                let t = back + stream.uniform() * (ahead - back);
                let mut other = x.clone();
                free.iter()
                    .zip(&direction)
                    .for_each(|(&k, slope)| other[k] = (x[k] + t * slope).clamp(0.0, 1.0));
                if self.admits(&other) {
                    x = other;
                    break;
                }
                if t < 0.0 { back = t } else { ahead = t }
            }
        }
        Some(x)
    }

    /// The part of random points of the whole cube that are inside.
    pub fn share(&self) -> f64 {
        self.formulas.share
    }
}

/// The point nearest to `to` on the line from a point inside that is inside.
pub(super) fn bisect(admits: impl Fn(&[f64]) -> bool, from: &[f64], to: &[f64], halvings: usize) -> Vec<f64> {
    let at = |t: f64| -> Vec<f64> {
        from.iter().zip(to).map(|(a, b)| (a + t * (b - a)).clamp(0.0, 1.0)).collect()
    };
    let (mut inside, mut outside) = (0.0, 1.0);
    let mut best = from.to_vec();
    for _ in 0..halvings {
        let middle = 0.5 * (inside + outside);
        let x = at(middle);
        if admits(&x) {
            (inside, best) = (middle, x);
        } else {
            outside = middle;
        }
    }
    best
}
