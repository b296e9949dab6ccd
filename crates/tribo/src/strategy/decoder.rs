//! Points from records alone: for whoever reads a study and does not optimise.
//!
//! A [`Study`](super::Study) makes points too, but has to be restored for that, event by event, by the very version of its
//! strategy. A decoder takes trials in the order they were asked, whatever version of the strategy did, and needs no outcome
//! but for one thing: trials of 0.1.0 that moved a group of inputs do not say where their round of screening began
//! (`auto::early_rounds`). Those of later rounds it cannot make.

use super::auto::{self, EarlyRounds, Recipes};
use super::bo::embedded;
use super::engine::is_given;
use super::random;
use super::settings::Strategy;
use crate::embed::Embedding;
use crate::error::{Error, Result};
use crate::space::{Point, Space, UnitPoint};
use crate::trial::{Recipe, Trial, TrialId};

/// Makes the points of a study's trials.
pub struct Decoder {
    space: Space,
    kind: Kind,
    rounds: EarlyRounds,
}

enum Kind {
    Random { seed: u64 },
    Embedded(Vec<Embedding>),
    Recipes(Box<Recipes>),
}

impl Decoder {
    /// For the study of the same arguments.
    pub fn new(space: Space, strategy: Strategy, evaluations: Option<usize>, seed: u64) -> Result<Decoder> {
        let strategy = match strategy {
            Strategy::Auto(settings) => auto::choose(&space, settings, evaluations)?.0,
            other => other,
        };
        let kind = match strategy {
            Strategy::Random => Kind::Random { seed },
            Strategy::Bo(settings) | Strategy::Paper(settings) => {
                let embedding = |index| Embedding::new(settings.embedding, space.dim(), seed, index);
                Kind::Embedded((0..settings.n_embeddings as u64).map(embedding).collect::<Result<_>>()?)
            }
            Strategy::Auto(_) => Kind::Recipes(Box::new(Recipes::new(&space, seed))),
        };
        Ok(Decoder { space, kind, rounds: EarlyRounds::default() })
    }

    /// Takes a point that someone else chose, as [`Study::adopt_as`](super::Study::adopt_as) does.
    pub fn adopt(&mut self, id: TrialId, point: &Point) -> Result<()> {
        if let Kind::Recipes(points) = &mut self.kind {
            points.learn(id, Recipe::Given, self.space.encode(point)?.into_vec())?;
        }
        Ok(())
    }

    /// Takes a result, smaller is better, in its place among the trials asked; needed for trials of 0.1.0 only.
    pub fn told(&mut self, id: TrialId, value: f64) {
        self.rounds.told(id, value);
    }

    /// Takes a trial, in the order asked, and makes its point.
    pub fn point(&mut self, trial: &Trial) -> Result<Point> {
        let unit = match &mut self.kind {
            // A search of all inputs under limits: z is all of the point, whatever there would be without limits.
            Kind::Recipes(_) if trial.recipe.is_none() && trial.z.len() == self.space.dim() => {
                trial.z.clone()
            }
            Kind::Embedded(embeddings)
                if trial.z.len() == self.space.dim()
                    && embeddings.iter().any(|embedding| embedding.model_dim() < trial.z.len()) =>
            {
                trial.z.clone()
            }
            Kind::Recipes(recipes) => {
                let recipe = trial.recipe.as_deref().cloned().ok_or(Error::NoRecipe { id: trial.id.0 })?;
                recipes.learn(trial.id, self.rounds.complete(recipe), trial.z.clone())?;
                self.rounds.asked(trial);
                recipes.of(trial.id, &(0..self.space.n_inputs()).collect::<Vec<usize>>())
            }
            _ if is_given(trial) => trial.z.clone(),
            Kind::Random { seed } => {
                random::unit(*seed, self.space.dim(), self.space.region().as_ref(), trial)
            }
            Kind::Embedded(embeddings) => {
                let mut unit = vec![0.0; self.space.dim()];
                let embedding = embeddings.get(trial.embedding).ok_or(Error::NoRecipe { id: trial.id.0 })?;
                embedding.to_unit(&trial.z, &mut unit)?;
                embedded(unit, embedding, self.space.region().as_ref())
            }
        };
        self.space.decode(&UnitPoint::new(unit)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::space::{Direction, Parameter};
    use crate::strategy::{AutoSettings, Settings, Study};

    #[test]
    fn a_search_of_all_inputs_under_limits_has_its_points_in_z() {
        let wide = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(50)]).unwrap();
        // Too few evaluations to look for inputs that matter.
        for budget in [None, Some(30)] {
            let (auto, limits) = (Strategy::auto(), vec![crate::limit::Limit::parse("c <= 1").unwrap()]);
            let mut study =
                Study::limited(wide.clone(), Direction::Minimize, limits, auto.clone(), budget, 0, 3)
                    .unwrap();
            let mut decoder = Decoder::new(wide.clone(), auto, budget, 3).unwrap();
            for one in study.ask(2).unwrap() {
                assert_eq!(decoder.point(study.history().get(one.id).unwrap().0).unwrap(), one.point);
            }
        }
    }

    #[test]
    fn a_decoder_makes_the_points_of_the_study() {
        let seed = 11;
        let few = Space::new(vec![Parameter::float("x", -1.0, 2.0).with_size(3), Parameter::int("n", 0, 9)]);
        let mixed = vec![
            Parameter::float("x", 0.0, 1.0).with_size(50),
            Parameter::int("n", 0, 9).with_size(20),
            Parameter::categorical("c", ["a", "b", "c"]),
        ];
        let (few, wide) = (few.unwrap(), Space::new(mixed).unwrap());
        let plain = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(300)]).unwrap();
        let auto = || Strategy::Auto(AutoSettings::default());
        type Case<'a> = (&'a str, &'a Space, Strategy, fn(&[f64]) -> f64);
        let few_matter =
            |x: &[f64]| x[..4].iter().map(|x| (x - 0.3).powi(2)).sum::<f64>() + 0.1 * x[60 % x.len()];
        let many_matter =
            |x: &[f64]| x.iter().enumerate().map(|(j, x)| (x - 0.1 - (j % 7) as f64 / 9.0).powi(2)).sum();
        let cases: [Case<'_>; 6] = [
            ("random", &few, Strategy::Random, |x| x[0]),
            ("bo", &few, Strategy::Bo(Settings::bo()), |x| x[0] * x[0]),
            (
                "paper",
                &plain,
                Strategy::Paper(Settings { n_embeddings: 2, ..Settings::paper(4) }),
                few_matter,
            ),
            ("sparse", &plain, auto(), few_matter),
            ("mixed", &wide, auto(), few_matter),
            ("dense", &plain, auto(), many_matter),
        ];
        for (name, space, strategy, f) in cases {
            let mut study =
                Study::new(space.clone(), Direction::Minimize, strategy.clone(), Some(120), seed).unwrap();
            let mut decoder = Decoder::new(space.clone(), strategy, Some(120), seed).unwrap();
            let mut stream = Stream::new(seed, name, 0);
            let mut open = vec![];
            for turn in 0..110 {
                open.extend(study.ask(1).unwrap());
                if turn == 40 {
                    let middle = UnitPoint::new(vec![0.25; space.dim()]).unwrap();
                    study.add(&space.decode(&middle).unwrap(), 9.0).unwrap();
                }
                while open.len() > 3 {
                    let told = open.swap_remove(stream.below(open.len()));
                    study.tell(told.id, f(&told.point.numbers())).unwrap();
                }
            }
            assert!(study.history().len() > 100);
            for (trial, _) in study.history().iter() {
                let made = decoder.point(trial).unwrap();
                assert_eq!(made, study.point(trial.id).unwrap(), "{name}, seed {seed}, trial {}", trial.id);
            }
        }
    }
}
