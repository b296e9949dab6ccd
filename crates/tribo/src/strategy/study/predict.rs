//! What a study's model expects at points of the user's, in the user's units and direction.
//!
//! The model sees values through a warp w, so its law of a value is that of w⁻¹(N(m, s²)). Where w is linear this is
//! normal, and mean and standard deviation are exact. Where it is logarithmic, the law is skewed and its moments are
//! ruled by its far tail; what is given instead is its median w⁻¹(m), and s times the slope of w⁻¹ there.
//!
//! Looking changes nothing that later proposals depend on. The first look after new results costs a fit where the next
//! ask would, which then does not repeat it.
//!
//! Only for one model of all coordinates: a random embedding has no way back from a point to model coordinates.

use super::Study;
use crate::error::{Error, Result};
use crate::space::Point;
use crate::surrogate::watch::Watch;
use faer::Mat;

/// Points predicted at once: cancelling is looked for in between.
const BLOCK: usize = 1_000;

/// The latent function at some points, without the noise of an evaluation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Predicted {
    /// The mean, one for each point; the median where values are modelled by their logarithm.
    pub mean: Vec<f64>,
    /// The standard deviation, one for each point.
    pub sd: Vec<f64>,
}

impl Study {
    /// What the model expects at these points, pending trials left aside. Needs a measured value, and a strategy that models
    /// every coordinate.
    pub fn posterior(&mut self, points: &[Point], watch: &dyn Watch) -> Result<Predicted> {
        let z = points
            .iter()
            .map(|point| Ok(self.space().encode(point)?.into_vec()))
            .collect::<Result<Vec<Vec<f64>>>>()?;
        let direction = self.direction;
        let Some(optimiser) = self.engine.model_of_all() else { return Err(Error::NoPosterior) };
        if optimiser.best().is_none() {
            return Err(Error::Empty { what: "the list of measured values" });
        }
        let u: Vec<Vec<f64>> = z.iter().map(|z| optimiser.to_unit(z)).collect();
        let model = optimiser.model(watch)?;
        let mut predicted = Predicted::default();
        for block in u.chunks(BLOCK) {
            if watch.cancelled() {
                return Err(Error::Stopped { what: "the posterior" });
            }
            let x = Mat::from_fn(block.len(), block[0].len(), |i, k| block[i][k]);
            let prediction = model.posterior.predict(x.as_ref())?;
            for (mean, var) in prediction.mean.iter().zip(&prediction.var) {
                let (value, slope) = model.unwarp(*mean);
                predicted.mean.push(direction.to_user(value));
                predicted.sd.push(slope * var.sqrt());
            }
        }
        Ok(predicted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed;
    use crate::space::{Direction, Parameter, Space, Values};
    use crate::strategy::{Settings, Strategy};
    use crate::surrogate::watch::Unwatched;
    use crate::trial::TrialId;
    use std::slice::from_ref;

    fn space() -> Space {
        Space::new(vec![Parameter::float("x", -2.0, 3.0), Parameter::int("n", 0, 9)]).unwrap()
    }

    fn study(direction: Direction) -> Study {
        Study::new(space(), direction, Strategy::Bo(Settings::bo()), None, 3).unwrap()
    }

    fn bowl(point: &Point) -> f64 {
        let x = point.numbers();
        (x[0] - 1.0).powi(2) + (x[1] - 4.0).powi(2)
    }

    /// Asks and tells `n` trials, two at a time, the second one later; returns the bits of all points.
    fn run(study: &mut Study, n: usize, sign: f64, look: bool) -> Vec<u64> {
        let (mut bits, mut late) = (vec![], None);
        for _ in 0..n / 2 {
            let asked = study.ask(2).unwrap();
            for each in &asked {
                bits.extend(each.point.numbers().iter().map(|x| x.to_bits()));
            }
            if look && study.best().unwrap().is_some() {
                study.posterior(from_ref(&asked[0].point), &Unwatched).unwrap();
            }
            study.tell(asked[0].id, sign * bowl(&asked[0].point)).unwrap();
            if let Some((id, value)) = late.replace((asked[1].id, sign * bowl(&asked[1].point))) {
                study.tell(id, value).unwrap();
            }
        }
        bits
    }

    #[test]
    fn it_knows_what_was_measured_in_either_direction() {
        for (direction, sign) in [(Direction::Minimize, 1.0), (Direction::Maximize, -1.0)] {
            let mut study = study(direction);
            run(&mut study, 24, sign, false);
            let ids: Vec<TrialId> = study.history().measured().map(|(trial, _)| trial.id).collect();
            let mut points: Vec<Point> = ids.iter().map(|&id| study.point(id).unwrap()).collect();
            let far = study.space().point(vec![Values::Float(vec![-2.0]), Values::Int(vec![9])]).unwrap();
            points.push(far);
            let Predicted { mean, sd } = study.posterior(&points, &Unwatched).unwrap();
            let farthest = sd[ids.len()];
            for (i, point) in points[..ids.len()].iter().enumerate() {
                // A model without noise goes through what it has seen, but for points it was spared, which are close to
                // others.
                let value = sign * bowl(point);
                assert!((mean[i] - value).abs() < 0.02 * (1.0 + value.abs()), "{} for {value}", mean[i]);
                assert!(sd[i] < farthest, "{} beside {farthest}", sd[i]);
            }
        }
    }

    #[test]
    fn looking_changes_no_proposal() {
        let (mut looking, mut other) = (study(Direction::Minimize), study(Direction::Minimize));
        assert_eq!(run(&mut looking, 40, 1.0, true), run(&mut other, 40, 1.0, false));
    }

    #[test]
    fn without_a_model_of_every_coordinate_there_is_none() {
        let point = space().point(vec![Values::Float(vec![0.0]), Values::Int(vec![1])]).unwrap();
        let embedding = embed::Kind::Hashing { dim: 1, signs: true };
        let embedded = Strategy::Bo(Settings { embedding, ..Settings::bo() });
        for strategy in [Strategy::Random, embedded] {
            let mut study = Study::new(space(), Direction::Minimize, strategy, None, 3).unwrap();
            let id = study.ask(1).unwrap()[0].id;
            study.tell(id, 1.0).unwrap();
            assert_eq!(study.posterior(from_ref(&point), &Unwatched), Err(Error::NoPosterior));
        }
        let mut empty = study(Direction::Minimize);
        assert!(matches!(empty.posterior(&[point], &Unwatched), Err(Error::Empty { .. })));
    }

    #[test]
    fn one_result_is_enough_and_a_point_outside_is_refused() {
        let mut study = study(Direction::Minimize);
        let asked = study.ask(1).unwrap();
        study.tell(asked[0].id, 7.0).unwrap();
        let predicted = study.posterior(from_ref(&asked[0].point), &Unwatched).unwrap();
        assert!((predicted.mean[0] - 7.0).abs() < 1e-3, "{predicted:?}");
        let wide = Space::new(vec![Parameter::float("x", -9.0, 9.0), Parameter::int("n", 0, 9)]).unwrap();
        let outside = wide.point(vec![Values::Float(vec![8.0]), Values::Int(vec![1])]).unwrap();
        assert!(matches!(study.posterior(&[outside], &Unwatched), Err(Error::Parameter { .. })));
    }
}
