//! Who is compared: the strategies of a study, and two that are no strategies of ours, all asked and told alike.
//!
//! *sobol* takes the points of one scrambled sequence in turn. *cma-es* starts at the centre of the unit cube with steps of
//! a quarter of its sides; integers are what the space makes of a coordinate. Generations are as large as usual for the
//! number of inputs, but no smaller than the number of workers. A worker that is free while a generation is out is given
//! one more point of the same law; the first results to come back, as many as a generation has, move the law, and those
//! of an older law that come later only count as values found. A run that has converged starts anew at a random point.

use crate::seeds::Failure;
use std::collections::BTreeMap;
use tribo::design::Sobol;
use tribo::embed;
use tribo::opt::Status;
use tribo::opt::cmaes::{Cmaes, CmaesOptions};
use tribo::rng::Stream;
use tribo::space::{Direction, Point, Space, UnitPoint};
use tribo::strategy::{Insight, Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo::trial::TrialId;

/// The names, and what is behind them. `N` is a number of coordinates, 12 if left out.
pub const KNOWN: [(&str, &str); 8] = [
    ("auto", "what tribo chooses by itself; with many inputs it first finds those that matter"),
    ("bo", "tribo's Bayesian optimisation over all inputs"),
    (
        "hashing-N",
        "tribo's Bayesian optimisation over N coordinates, each of which moves a random set of inputs",
    ),
    (
        "gaussian-N",
        "tribo's Bayesian optimisation over N coordinates, mapped to the inputs by a random matrix",
    ),
    ("paper-N", "the paper's strategy in N coordinates"),
    (
        "cma-es",
        "CMA-ES from the centre, steps of a quarter of the sides; above 100 coordinates the separable one",
    ),
    ("sobol", "points of a scrambled Sobol sequence"),
    ("random", "uniform points"),
];

/// Coordinates of an embedding whose name has no number.
const COORDINATES: usize = 12;
/// With more coordinates than this the covariance of CMA-ES is a diagonal: a whole one takes some 10 d² evaluations to
/// learn, and there are hundreds.
const MOST_WHOLE: usize = 100;
/// Steps of CMA-ES, as a part of the sides.
const SIGMA: f64 = 0.25;

/// Which rival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What tribo chooses.
    Auto,
    /// Over all inputs.
    Bo,
    /// In a hashing embedding of so many coordinates.
    Hashing(usize),
    /// In a gaussian embedding of so many coordinates.
    Gaussian(usize),
    /// The paper's, of so many coordinates.
    Paper(usize),
    /// CMA-ES.
    CmaEs,
    /// Scrambled Sobol points.
    Sobol,
    /// Uniform points.
    Random,
}

impl Kind {
    /// The kind of a name in [`KNOWN`].
    pub fn parse(name: &str) -> Result<Kind, Failure> {
        let unknown = || {
            let known = KNOWN.map(|(name, _)| name).join(", ");
            format!("no strategy is called {name}; known are {known}, where N is a number from 1 on")
        };
        let (word, size) = match name.split_once('-') {
            Some((word, size)) if name != "cma-es" => (word, Some(size)),
            _ => (name, None),
        };
        let n = match size {
            Some(size) => size.parse().ok().filter(|&n: &usize| n > 0).ok_or_else(unknown)?,
            None => COORDINATES,
        };
        Ok(match (word, size) {
            ("hashing", _) => Kind::Hashing(n),
            ("gaussian", _) => Kind::Gaussian(n),
            ("paper", _) => Kind::Paper(n),
            ("auto", None) => Kind::Auto,
            ("bo", None) => Kind::Bo,
            ("cma-es", None) => Kind::CmaEs,
            ("sobol", None) => Kind::Sobol,
            ("random", None) => Kind::Random,
            _ => return Err(unknown().into()),
        })
    }

    /// The strategy of a study; none for those that are not ours.
    fn strategy(self, dim: usize) -> Option<Strategy> {
        let with = |embedding| Strategy::Bo(Settings { embedding, ..Settings::bo() });
        Some(match self {
            Kind::Auto => Strategy::auto(),
            Kind::Bo => Strategy::Bo(Settings::bo()),
            Kind::Hashing(n) => with(embed::Kind::Hashing { dim: n.min(dim), signs: true }),
            Kind::Gaussian(n) => with(embed::Kind::Gaussian { dim: n.min(dim), half_width: 1.0 }),
            Kind::Paper(n) => Strategy::Paper(Settings::paper(n.min(dim))),
            Kind::Random => Strategy::Random,
            Kind::CmaEs | Kind::Sobol => return None,
        })
    }
}

/// Someone who proposes points. Evaluations are numbered from 0 in the order of asking.
pub enum Rival {
    /// A study of ours.
    Study(Box<Study>),
    /// The sequence, the space, and the number of the next point.
    Sobol(Sobol, Space, u64),
    /// CMA-ES.
    CmaEs(Box<Generations>),
}

impl Rival {
    /// A fresh one, for minimisation.
    pub fn new(
        kind: Kind,
        space: &Space,
        budget: usize,
        workers: usize,
        seed: u64,
    ) -> Result<Rival, Failure> {
        let space = space.clone();
        Ok(match (kind.strategy(space.n_inputs()), kind) {
            (Some(strategy), _) => {
                let study = Study::new(space, Direction::Minimize, strategy, Some(budget), seed)?;
                Rival::Study(Box::new(study))
            }
            (None, Kind::Sobol) => {
                let sequence = Sobol::new(space.dim(), &mut Stream::new(seed, "sobol", 0))?;
                Rival::Sobol(sequence, space, 0)
            }
            (None, _) => Rival::CmaEs(Box::new(Generations::new(space, workers, seed)?)),
        })
    }

    /// The number of an evaluation and its point.
    pub fn ask(&mut self) -> Result<(u64, Point), Failure> {
        match self {
            Rival::Study(study) => match study.ask(1)?.pop() {
                Some(suggestion) => Ok((suggestion.id.0, suggestion.point)),
                None => Err("the space has no point left".into()),
            },
            Rival::Sobol(sequence, space, next) => {
                let mut u = vec![0.0; sequence.dim()];
                sequence.point(*next, &mut u)?;
                *next += 1;
                Ok((*next - 1, space.decode(&UnitPoint::new(u)?)?))
            }
            Rival::CmaEs(generations) => generations.ask(),
        }
    }

    /// What evaluation `number` measured.
    pub fn tell(&mut self, number: u64, value: f64) -> Result<(), Failure> {
        match self {
            Rival::Study(study) => study.tell(TrialId(number), value).map(|_| ())?,
            Rival::Sobol(..) => {}
            Rival::CmaEs(generations) => generations.tell(number, value)?,
        }
        Ok(())
    }

    /// The measured point with the best expected value, by the model; none without a model.
    pub fn best_expected(&mut self) -> Result<Option<Point>, Failure> {
        match self {
            Rival::Study(study) => Ok(study.recommended(&Unwatched)?.map(|best| best.point)),
            Rival::Sobol(..) | Rival::CmaEs(_) => Ok(None),
        }
    }

    /// What it knows of the inputs; none if it cannot know anything.
    pub fn insight(&self) -> Option<Insight> {
        match self {
            Rival::Study(study) => Some(study.insight()),
            Rival::Sobol(..) | Rival::CmaEs(_) => None,
        }
    }
}

/// CMA-ES for workers that do not wait for each other.
pub struct Generations {
    space: Space,
    run: Cmaes,
    population: usize,
    seed: u64,
    restarts: u64,
    generation: u64,
    /// Values of the points of the present generation that were handed out; infinite until they are back.
    values: Vec<f64>,
    n_back: usize,
    /// Generation and index of the evaluations that are out, by their numbers.
    out: BTreeMap<u64, (u64, usize)>,
    next: u64,
}

impl Generations {
    fn new(space: Space, workers: usize, seed: u64) -> Result<Generations, Failure> {
        let run = start(&vec![0.5; space.dim()], None, seed, 0)?;
        let usual = run.ask().len();
        let run = match workers > usual {
            true => start(&vec![0.5; space.dim()], Some(workers), seed, 0)?,
            false => run,
        };
        Ok(Generations {
            population: run.ask().len(),
            space,
            run,
            seed,
            restarts: 0,
            generation: 0,
            values: vec![],
            n_back: 0,
            out: BTreeMap::new(),
            next: 0,
        })
    }

    fn ask(&mut self) -> Result<(u64, Point), Failure> {
        let index = self.values.len();
        let u = match self.run.ask().get(index) {
            Some(u) => u.clone(),
            None => self.run.extend().to_vec(),
        };
        self.values.push(f64::INFINITY);
        self.out.insert(self.next, (self.generation, index));
        self.next += 1;
        Ok((self.next - 1, self.space.decode(&UnitPoint::new(u)?)?))
    }

    fn tell(&mut self, number: u64, value: f64) -> Result<(), Failure> {
        let Some((generation, index)) = self.out.remove(&number) else {
            return Err(format!("evaluation {number} is told and was not asked for").into());
        };
        if generation != self.generation {
            return Ok(());
        }
        self.values[index] = value;
        self.n_back += 1;
        if self.n_back == self.population {
            let status = self.run.tell(&self.values);
            (self.values, self.n_back) = (vec![], 0);
            self.generation += 1;
            if status != Status::Continue {
                self.restarts += 1;
                let mut stream = Stream::new(self.seed, "cma-es restart", self.restarts);
                let anywhere: Vec<f64> = (0..self.space.dim()).map(|_| stream.uniform()).collect();
                self.run = start(&anywhere, Some(self.population), self.seed, self.restarts)?;
            }
        }
        Ok(())
    }
}

/// A run in the unit cube.
fn start(from: &[f64], population: Option<usize>, seed: u64, restart: u64) -> Result<Cmaes, Failure> {
    let d = from.len();
    let new = if d > MOST_WHOLE { Cmaes::separable } else { Cmaes::new };
    let options = CmaesOptions { population, max_evaluations: usize::MAX };
    let stream = Stream::new(seed, "cma-es", restart);
    Ok(new(from, SIGMA, &vec![0.0; d], &vec![1.0; d], options, stream)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::space::Parameter;

    #[test]
    fn names_are_read_and_others_refused_with_the_list() {
        for (name, _) in KNOWN {
            assert!(Kind::parse(&name.replace('N', "3")).is_ok(), "{name}");
        }
        assert_eq!(Kind::parse("hashing").unwrap(), Kind::Hashing(COORDINATES));
        assert_eq!(Kind::parse("gaussian-7").unwrap(), Kind::Gaussian(7));
        for name in ["", "best", "auto-3", "hashing-", "hashing-x", "hashing-0", "cma-es-3", "cma"] {
            let said = Kind::parse(name).unwrap_err().to_string();
            assert!(said.contains("hashing-N, gaussian-N") && said.contains("sobol"), "{said}");
        }
    }

    fn bowl(point: &Point) -> f64 {
        point.numbers().iter().map(|x| (x - 0.2).powi(2)).sum()
    }

    /// The lowest value of `budget` evaluations whose results come back in threes, last asked first.
    fn lowest(kind: Kind, dim: usize, budget: usize, workers: usize) -> f64 {
        let space = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(dim)]).unwrap();
        let mut rival = Rival::new(kind, &space, budget, workers, 3).unwrap();
        let (mut lowest, mut out) = (f64::INFINITY, vec![]);
        for n in 0..budget {
            let (number, point) = rival.ask().unwrap();
            assert_eq!(number, n as u64);
            lowest = lowest.min(bowl(&point));
            out.push((number, bowl(&point)));
            if out.len() == workers {
                while let Some((number, value)) = out.pop() {
                    rival.tell(number, value).unwrap();
                }
            }
        }
        lowest
    }

    #[test]
    fn all_rivals_propose_and_cma_es_descends_out_of_order() {
        // A thousand evaluations take CMA-ES to 1e-3 and beyond; uniform points of eight inputs stay above 0.1.
        assert!(lowest(Kind::Random, 8, 1000, 3) > 0.1);
        assert!(lowest(Kind::Sobol, 8, 1000, 3) > 0.1);
        assert!(lowest(Kind::CmaEs, 8, 1000, 1) < 1e-3);
        assert!(lowest(Kind::CmaEs, 8, 1000, 3) < 1e-3);
        // More workers than a usual generation has points; and a diagonal law.
        assert!(lowest(Kind::CmaEs, 8, 2000, 25) < 1e-2);
        assert!(
            lowest(Kind::CmaEs, MOST_WHOLE + 1, 2000, 3)
                < 0.5 * lowest(Kind::Random, MOST_WHOLE + 1, 2000, 3)
        );
        for kind in [Kind::Auto, Kind::Bo, Kind::Hashing(3), Kind::Gaussian(3), Kind::Paper(3)] {
            assert!(lowest(kind, 4, 8, 2).is_finite(), "{kind:?}");
        }
    }

    #[test]
    fn results_of_an_older_law_are_taken_and_a_converged_run_starts_anew() {
        let space = Space::new(vec![Parameter::int("n", 0, 3)]).unwrap();
        let mut rival = Rival::new(Kind::CmaEs, &space, 10, 1, 5).unwrap();
        let (late, _) = rival.ask().unwrap();
        for _ in 0..500 {
            let (number, _) = rival.ask().unwrap();
            rival.tell(number, 1.0).unwrap();
        }
        rival.tell(late, 0.0).unwrap();
        assert!(rival.tell(late, 0.0).is_err(), "twice");
        let Rival::CmaEs(generations) = rival else { unreachable!("cma-es was asked for") };
        assert!(generations.restarts > 0, "a flat function ends a run");
    }
}
