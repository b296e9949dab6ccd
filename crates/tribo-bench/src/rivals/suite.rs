//! The problems that strategies are compared on. A seed makes an instance: where the active inputs are, where the optimum
//! was moved to, which noise is drawn.

use std::sync::Arc;
use tribo::Result;
use tribo::problems::{self, Problem};
use tribo::rng::Stream;
use tribo::space::{Kind, Parameter, Point, Space, Values};

/// Names of the problems, and what they are.
pub const PROBLEMS: [(&str, &str); 21] = [
    ("hartmann6", "Hartmann's function of six inputs, at random places among idle ones."),
    ("branin", "Branin's function of two inputs, at random places among idle ones."),
    ("levy4", "Levy's function of four inputs, its optimum moved, at random places among idle ones."),
    (
        "levy4-off-centre",
        "levy4 with its optimum a tenth of the range or more from the centre, in each of the four inputs.",
    ),
    ("ackley10", "Ackley's function of ten inputs, its optimum moved, at random places among idle ones."),
    ("hartmann6-rotated", "Hartmann's function of six random directions; every input matters a little."),
    ("direction", "The squared distance from a random plane; every input matters, along one direction."),
    (
        "sphere-shifted",
        "The paper's \"sphere\", the square of the sum of all inputs, each moved by its own amount.",
    ),
    ("sphere-offset", "sphere-shifted with all inputs moved together as well."),
    (
        "zdt2-shifted",
        "The paper's ZDT2, each input moved by its own amount, its special input at a random place.",
    ),
    ("zdt2-offset", "zdt2-shifted with all inputs moved together as well."),
    (
        "zdt3-shifted",
        "The paper's ZDT3, each input moved by its own amount, its special input at a random place.",
    ),
    ("zdt3-offset", "zdt3-shifted with all inputs moved together as well."),
    (
        "hartmann6-jitter",
        "hartmann6 with normal noise of 1e-4 of its depth, as of a solver that stops early.",
    ),
    ("hartmann6-noise1", "hartmann6 with normal noise of 1 % of its depth."),
    ("hartmann6-noise10", "hartmann6 with normal noise of 10 % of its depth."),
    ("integers", "A bowl of three integers from 0 to 20, at random places among idle ones."),
    ("ackley-dense", "Ackley's function of all inputs, its optimum moved."),
    ("rosenbrock-dense", "Rosenbrock's function of all inputs, its optimum moved."),
    ("levy-dense", "Levy's function of all inputs, its optimum moved."),
    ("walk", "A smooth curve among discs, two inputs for each way point; nobody knows the shortest one."),
];

/// What a problem is, in a sentence; nothing for a name that is not in [`PROBLEMS`].
pub fn description(name: &str) -> &'static str {
    PROBLEMS.iter().find(|(known, _)| *known == name).map_or("", |(_, what)| what)
}

type Value = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A problem with everything drawn.
#[derive(Clone)]
pub struct Instance {
    /// What a study is told of it.
    pub space: Space,
    /// The lowest value.
    pub optimum: f64,
    /// The inputs that matter, if they are few; in increasing order.
    pub active: Option<Vec<usize>>,
    value: Arc<Value>,
    noise_sd: f64,
    seed: u64,
}

impl Instance {
    /// Whether a value differs from one evaluation to the next.
    pub fn is_noisy(&self) -> bool {
        self.noise_sd > 0.0
    }

    /// The value without noise.
    pub fn truth(&self, point: &Point) -> f64 {
        let mut x = Vec::new();
        for column in point.columns() {
            match column {
                Values::Float(values) => x.extend_from_slice(values),
                Values::Int(values) => x.extend(values.iter().map(|&i| i as f64)),
                Values::Category(values) => x.extend(values.iter().map(|&i| i as f64)),
            }
        }
        (self.value)(&x)
    }

    /// The value without noise at numbers, one for each input.
    pub fn value_at(&self, x: &[f64]) -> f64 {
        (self.value)(x)
    }

    /// The same function with every input of it reflected: its optimum is elsewhere.
    pub fn reflected(&self) -> Option<Instance> {
        let [parameter] = self.space.parameters() else { return None };
        let Kind::Float { low, high, .. } = *parameter.kind() else { return None };
        let value = Arc::clone(&self.value);
        let value = Arc::new(move |x: &[f64]| value(&x.iter().map(|x| low + high - x).collect::<Vec<f64>>()));
        Some(Instance { value, ..self.clone() })
    }

    /// What evaluation number `evaluation` measures.
    pub fn measure(&self, point: &Point, evaluation: u64) -> f64 {
        let truth = self.truth(point);
        match self.noise_sd > 0.0 {
            true => truth + self.noise_sd * Stream::new(self.seed, "noise", evaluation).normal(),
            false => truth,
        }
    }
}

/// The instance of a problem with `dim` inputs.
pub fn instance(name: &str, dim: usize, seed: u64) -> Result<Instance> {
    let among = |problem: &Problem| -> Result<Instance> {
        let mut instance = of(&problems::embed_active(problem, dim, seed)?, seed)?;
        instance.active = Some(problems::active_inputs(dim, problem.dim(), seed));
        Ok(instance)
    };
    let sparse = |name: &str, n: usize| -> Result<Instance> {
        let problem = problems::by_name(name, n)?;
        match name {
            "hartmann6" | "branin" => among(&problem),
            _ => among(&problems::shift(&problem, seed, 0.5)?),
        }
    };
    let noisy =
        |sd: f64| -> Result<Instance> { Ok(Instance { noise_sd: sd * 3.32237, ..sparse("hartmann6", 6)? }) };
    let dense = |name: &str| of(&problems::shift(&problems::by_name(name, dim)?, seed, 0.5)?, seed);
    Ok(match name {
        "hartmann6" => sparse("hartmann6", 6)?,
        "branin" => sparse("branin", 2)?,
        "levy4" => sparse("levy", 4)?,
        "levy4-off-centre" => among(&off_centre(&problems::by_name("levy", 4)?, seed)?)?,
        "ackley10" => sparse("ackley", 10)?,
        "hartmann6-rotated" => of(&problems::rotate(&problems::by_name("hartmann6", 6)?, dim, seed)?, seed)?,
        "direction" => direction(dim, seed)?,
        "sphere-shifted" | "zdt2-shifted" | "zdt3-shifted" => {
            of_sum(&name[..name.len() - 8], dim, seed, 0.0)?
        }
        "sphere-offset" | "zdt2-offset" | "zdt3-offset" => {
            let offset = 0.3 * (2.0 * Stream::new(seed, "offset", 0).uniform() - 1.0);
            of_sum(&name[..name.len() - 7], dim, seed, offset)?
        }
        "hartmann6-jitter" => noisy(1e-4)?,
        "hartmann6-noise1" => noisy(0.01)?,
        "hartmann6-noise10" => noisy(0.1)?,
        "integers" => integers(dim, seed)?,
        "ackley-dense" => dense("ackley")?,
        "rosenbrock-dense" => dense("rosenbrock")?,
        "levy-dense" => dense("levy")?,
        "walk" => walk(dim, seed)?,
        other => {
            let (name, known) = (other.to_owned(), PROBLEMS.map(|(name, _)| name).join(", "));
            return Err(tribo::Error::UnknownProblem { name, known });
        }
    })
}

fn of(problem: &Problem, seed: u64) -> Result<Instance> {
    let (space, optimum) = (crate::objective::space(problem)?, problem.optimum_value());
    let problem = problem.clone();
    let value = Arc::new(move |x: &[f64]| problem.evaluate(x));
    Ok(Instance { space, optimum, active: None, value, noise_sd: 0.0, seed })
}

/// A problem moved until its optimum is a tenth of the range or more from the centre, in every input.
fn off_centre(problem: &Problem, seed: u64) -> Result<Problem> {
    let is_far = |moved: &Problem| {
        let (low, high, optimum) = (moved.low(), moved.high(), &moved.optimisers()[0]);
        (0..moved.dim()).all(|k| ((optimum[k] - low[k]) / (high[k] - low[k]) - 0.5).abs() >= 0.1)
    };
    let mut stream = Stream::new(seed, "off centre", 0);
    loop {
        let moved = problems::shift(problem, stream.bits(), 0.5)?;
        if is_far(&moved) {
            return Ok(moved);
        }
    }
}

/// No walk is shorter than the straight line, which leads through a disc.
fn walk(dim: usize, seed: u64) -> Result<Instance> {
    let walk = problems::Walk::new((dim / 2).max(2), seed);
    let space = cube(walk.dim(), 0.0, 1.0)?;
    let value = Arc::new(move |x: &[f64]| walk.cost(x));
    Ok(Instance { space, optimum: 0.9 * std::f64::consts::SQRT_2, active: None, value, noise_sd: 0.0, seed })
}

fn cube(dim: usize, low: f64, high: f64) -> Result<Space> {
    Space::new(vec![Parameter::float("x", low, high).with_size(dim)])
}

/// (w·(x - s))² with random signs and sizes in w.
fn direction(dim: usize, seed: u64) -> Result<Instance> {
    let mut stream = Stream::new(seed, "direction", 0);
    let w: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
    let s: Vec<f64> = (0..dim).map(|_| 2.0 * stream.uniform() - 1.0).collect();
    let value = Arc::new(move |x: &[f64]| {
        let along: f64 = w.iter().zip(x).zip(&s).map(|((w, x), s)| w * (x - s)).sum();
        along * along
    });
    Ok(Instance { space: cube(dim, -1.0, 1.0)?, optimum: 0.0, active: None, value, noise_sd: 0.0, seed })
}

/// The paper's functions of a sum at x - s, s uniform within a quarter of the half width, plus an offset for all inputs. The
/// special first input of the ZDT functions, at a random place, is clipped to where the formula holds.
fn of_sum(name: &str, dim: usize, seed: u64, offset: f64) -> Result<Instance> {
    let problem = problems::by_name(name, dim)?;
    let mut stream = Stream::new(seed, "shift of the sum", 0);
    let s: Vec<f64> = (0..dim).map(|_| 0.25 * (2.0 * stream.uniform() - 1.0) + offset).collect();
    let special = stream.below(dim);
    let optimum = problem.optimum_value();
    let value = Arc::new(move |x: &[f64]| {
        let mut moved: Vec<f64> = x.iter().zip(&s).map(|(x, s)| x - s).collect();
        moved.swap(0, special);
        moved[0] = moved[0].clamp(-1.0, 1.0);
        problem.evaluate(&moved)
    });
    Ok(Instance { space: cube(dim, -1.0, 1.0)?, optimum, active: None, value, noise_sd: 0.0, seed })
}

/// Integers in 0..=20 of which three matter: a bowl with a twist, lowest at a random point.
fn integers(dim: usize, seed: u64) -> Result<Instance> {
    let mut stream = Stream::new(seed, "integers", 0);
    let active = stream.choose(dim, 3);
    let target: Vec<f64> = (0..3).map(|_| stream.below(21) as f64).collect();
    let (places, at) = (active.clone(), target);
    let value = Arc::new(move |x: &[f64]| {
        let t: Vec<f64> = (0..3).map(|k| (x[places[k]] - at[k]) / 10.0).collect();
        t[0] * t[0] + 2.0 * t[1] * t[1] + 0.5 * t[2] * t[2] + 0.5 * t[0] * t[1]
    });
    let space = Space::new(vec![Parameter::int("n", 0, 20).with_size(dim)])?;
    Ok(Instance { space, optimum: 0.0, active: Some(active), value, noise_sd: 0.0, seed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optimum_off_centre_is_so_in_every_input() {
        let levy = problems::by_name("levy", 4).unwrap();
        for seed in 0..200 {
            let moved = off_centre(&levy, seed).unwrap();
            let optimum = &moved.optimisers()[0];
            assert!(optimum.iter().all(|x| (2.0..=10.0).contains(&x.abs())), "seed {seed}: {optimum:?}");
        }
    }

    #[test]
    fn every_problem_has_an_instance_that_the_seed_decides() {
        for (name, what) in PROBLEMS {
            let (a, b) = (instance(name, 30, 4).unwrap(), instance(name, 30, 5).unwrap());
            let u = tribo::space::UnitPoint::new(vec![0.3; a.space.dim()]).unwrap();
            let point = a.space.decode(&u).unwrap();
            assert_eq!(a.truth(&point), instance(name, 30, 4).unwrap().truth(&point), "{name}");
            // On the diagonal the places of active inputs make no difference.
            assert!(a.truth(&point) != b.truth(&point) || a.active != b.active, "{name}");
            assert!(a.truth(&point) >= a.optimum, "{name}");
            assert_eq!(a.is_noisy(), what.contains("noise"), "{name}");
            assert_eq!(description(name), what);
        }
        let said = instance("best", 30, 4).err().unwrap().to_string();
        assert!(said.contains("hartmann6-noise10"), "{said}");
    }
}
