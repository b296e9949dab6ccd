//! Random problems as real ones are: steps, kinks, ripples, plateaus, walks among discs, constants, sums of them, of any
//! size, with noise, integers and categories, and with evaluations that give nothing.
//!
//! Smooth functions flatter an optimiser. These are for finding out where one breaks, not for measuring how good it is:
//! nobody knows their optima. The seed decides everything, and [`Rough::describe`] says what it was.

use super::walk::Walk;
use crate::error::Result;
use crate::rng::Stream;
use crate::space::{Parameter, Point, Space};
use std::fmt::Write;

/// Points that a failing region is measured by.
const SAMPLE: usize = 200;

/// A random problem.
#[derive(Debug)]
pub struct Rough {
    space: Space,
    terms: Vec<(Term, Vec<Part>)>,
    /// Values are scale · (terms + offset), or scale · exp(steepness · terms) where that is not zero.
    scale: f64,
    offset: f64,
    steepness: f64,
    noise: f64,
    failing: Failing,
    seed: u64,
}

/// A coordinate of the cube as a term sees it.
#[derive(Debug, Clone, Copy)]
struct Part {
    at: usize,
    centre: f64,
    weight: f64,
}

/// A function of some coordinates.
#[derive(Debug)]
enum Term {
    /// Σ w (u - c)²
    Bowl,
    /// Σ w |u - c|
    Kinks,
    /// max w |u - c|
    Edge,
    /// Σ w ⌊k u⌋/k
    Steps(f64),
    /// Σ w sin(k (u - c))
    Ripples(f64),
    /// (Σ w (u - c))²
    Direction,
    /// Flat within, or beyond, some distance of c.
    Plateau {
        level: f64,
        within: bool,
    },
    /// Pairs of coordinates that lie in a disc around their centres.
    Discs(f64),
    Walk(Walk),
    Constant,
}

/// Which evaluations give nothing.
#[derive(Debug)]
enum Failing {
    None,
    /// A share of them, wherever they are.
    Accidents(f64),
    /// Where the sum of some coordinates is above a limit.
    Beyond {
        at: Vec<usize>,
        limit: f64,
        share: f64,
    },
    /// All.
    Always,
}

impl Rough {
    /// Problem number `seed`, with `n_inputs` inputs.
    pub fn new(n_inputs: usize, seed: u64) -> Result<Rough> {
        let mut stream = Stream::new(seed, "rough problem", n_inputs as u64);
        let space = space(n_inputs, &mut stream)?;
        let n_terms = 1 + stream.below(3);
        let terms = (0..n_terms).map(|_| term(space.dim(), &mut stream)).collect();
        let scale = 10_f64.powf(12.0 * stream.uniform() - 6.0);
        let offset = if stream.below(3) == 0 { 1e3 * stream.normal() } else { 0.0 };
        let steepness = if stream.below(8) == 0 { 20.0 * stream.uniform() } else { 0.0 };
        let noise = if stream.below(3) == 0 { scale * 10_f64.powf(-5.0 * stream.uniform()) } else { 0.0 };
        let failing = failing(space.dim(), &mut stream);
        Ok(Rough { space, terms, scale, offset, steepness, noise, failing, seed })
    }

    /// The space it is a function on.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The value at a point, or none, in evaluation number `evaluation`.
    pub fn evaluate(&self, point: &Point, evaluation: u64) -> Result<Option<f64>> {
        let u = self.space.encode(point)?.into_vec();
        let mut stream = Stream::new(self.seed, "evaluation", evaluation);
        let is_failing = match &self.failing {
            Failing::None => false,
            Failing::Accidents(share) => stream.uniform() < *share,
            Failing::Beyond { at, limit, .. } => sum(at, &u) > *limit,
            Failing::Always => true,
        };
        let total: f64 = self.terms.iter().map(|(term, parts)| value(term, parts, &u)).sum();
        let value = match self.steepness {
            0.0 => self.scale * (total + self.offset),
            steepness => self.scale * (steepness * total).exp(),
        };
        Ok((!is_failing).then(|| value + self.noise * stream.normal()))
    }

    /// What it is, for whoever has to find out what went wrong.
    pub fn describe(&self) -> String {
        let mut text = format!("{} inputs:", self.space.n_inputs());
        for (term, parts) in &self.terms {
            let name = match term {
                Term::Walk(_) => "Walk".to_owned(),
                term => format!("{term:?}"),
            };
            // Writing to a string does not fail.
            let _ = write!(text, " {name} of {},", parts.len());
        }
        let share = match &self.failing {
            Failing::None => "none".to_owned(),
            Failing::Accidents(share) => format!("{share:.2} by accident"),
            Failing::Beyond { share, .. } => format!("{share:.2} in a region"),
            Failing::Always => "all".to_owned(),
        };
        let Rough { scale, offset, steepness, noise, .. } = self;
        let _ = write!(
            text,
            " scale {scale:.1e}, offset {offset:.1e}, steepness {steepness:.1}, noise {noise:.1e}, failing {share}"
        );
        text
    }
}

/// Floats alone in most spaces; else integers and categories among them.
fn space(n_inputs: usize, stream: &mut Stream) -> Result<Space> {
    if stream.below(4) > 0 {
        return Space::new(vec![Parameter::float("x", -2.0, 3.0).with_size(n_inputs)]);
    }
    let kind = |j: usize, stream: &mut Stream| match stream.below(5) {
        0 => Parameter::int(format!("n{j}"), 0, 1 + stream.below(9) as i64),
        1 => Parameter::categorical(format!("c{j}"), ["a", "b", "c"]),
        _ => Parameter::float(format!("x{j}"), 0.0, 1.0),
    };
    Space::new((0..n_inputs).map(|j| kind(j, stream)).collect())
}

/// A term over all coordinates, half of them, or a few.
fn term(dim: usize, stream: &mut Stream) -> (Term, Vec<Part>) {
    let count = match stream.below(3) {
        0 => dim,
        1 => dim.div_ceil(2),
        _ => (1 + stream.below(10)).min(dim),
    };
    let alike = stream.below(2) == 0;
    let part = |at: usize, stream: &mut Stream| {
        let weight = if alike { 1.0 } else { stream.normal().exp() };
        Part { at, centre: stream.uniform(), weight }
    };
    let parts: Vec<Part> = stream.choose(dim, count).into_iter().map(|at| part(at, stream)).collect();
    let term = match stream.below(10) {
        0 => Term::Bowl,
        1 => Term::Kinks,
        2 => Term::Edge,
        3 => Term::Steps((2 + stream.below(9)) as f64),
        4 => Term::Ripples(5.0 + 200.0 * stream.uniform()),
        5 => Term::Direction,
        6 => Term::Plateau { level: 0.25 * stream.uniform(), within: stream.below(2) == 0 },
        7 => Term::Discs(0.1 + 0.4 * stream.uniform()),
        8 if count >= 4 => Term::Walk(Walk::new(count / 2, stream.bits())),
        _ => Term::Constant,
    };
    (term, parts)
}

fn failing(dim: usize, stream: &mut Stream) -> Failing {
    let share = 0.6 * stream.uniform();
    match stream.below(20) {
        0..=8 => Failing::None,
        9..=13 => Failing::Accidents(share),
        14..=18 => {
            let at = stream.choose(dim, 1 + dim / 4);
            let mut draw = || (0..at.len()).map(|_| stream.uniform()).sum::<f64>();
            let mut sums: Vec<f64> = (0..SAMPLE).map(|_| draw()).collect();
            sums.sort_by(f64::total_cmp);
            let limit = sums[((1.0 - share) * (SAMPLE - 1) as f64) as usize];
            Failing::Beyond { at, limit, share }
        }
        _ => Failing::Always,
    }
}

fn sum(at: &[usize], u: &[f64]) -> f64 {
    at.iter().map(|&at| u[at]).sum()
}

fn value(term: &Term, parts: &[Part], u: &[f64]) -> f64 {
    let n = parts.len() as f64;
    let of_all = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        parts.iter().map(|part| part.weight * f(u[part.at], part.centre)).sum()
    };
    match term {
        Term::Bowl => of_all(&|u, c| (u - c).powi(2)),
        Term::Kinks => of_all(&|u, c| (u - c).abs()),
        Term::Edge => parts.iter().map(|p| p.weight * (u[p.at] - p.centre).abs()).fold(0.0, f64::max),
        Term::Steps(k) => of_all(&|u, _| (k * u).floor() / k),
        Term::Ripples(k) => of_all(&|u, c| (k * (u - c)).sin()),
        Term::Direction => of_all(&|u, c| u - c).powi(2),
        Term::Plateau { level, within } => {
            let square = of_all(&|u, c| (u - c).powi(2)) / n;
            if *within { square.max(*level) } else { square.min(*level) }
        }
        Term::Discs(radius) => {
            let inside = |pair: &&[Part]| {
                pair.iter().map(|p| (u[p.at] - p.centre).powi(2)).sum::<f64>() < radius * radius
            };
            parts.chunks(2).filter(inside).count() as f64
        }
        Term::Walk(walk) => {
            let x: Vec<f64> = parts.iter().take(walk.dim()).map(|part| u[part.at]).collect();
            walk.cost(&x)
        }
        Term::Constant => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::UnitPoint;

    #[test]
    fn the_seed_decides_and_every_kind_comes_up() {
        let mut seen = String::new();
        let mut n_failed = 0;
        for seed in 0..200 {
            let (rough, again) = (Rough::new(45, seed).unwrap(), Rough::new(45, seed).unwrap());
            assert_eq!(rough.describe(), again.describe());
            let u = UnitPoint::new(vec![0.3; rough.space().dim()]).unwrap();
            let point = rough.space().decode(&u).unwrap();
            let value = rough.evaluate(&point, 7).unwrap();
            assert_eq!(value, again.evaluate(&point, 7).unwrap());
            assert!(value.is_none_or(|value| !value.is_nan()), "seed {seed}: {value:?}");
            n_failed += usize::from(value.is_none());
            seen.push_str(&rough.describe());
        }
        let kinds = [
            "Bowl",
            "Kinks",
            "Edge",
            "Steps",
            "Ripples",
            "Direction",
            "Plateau",
            "Discs",
            "Walk",
            "Constant",
        ];
        for kind in kinds.iter().chain(&["failing none", "by accident", "in a region", "failing all"]) {
            assert!(seen.contains(kind), "{kind}");
        }
        assert!((20..120).contains(&n_failed), "{n_failed}");
    }
}
