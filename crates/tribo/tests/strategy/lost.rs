//! Trials lost by an accident: nothing is known about their points, which may be proposed again.

use super::numbers;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{AutoSettings, Settings, Strategy, Study};
use tribo::trial::Outcome;

fn line() -> Space {
    Space::new(vec![Parameter::int("n", 1, 4)]).expect("a space")
}

fn strategies() -> [Strategy; 3] {
    [Strategy::Random, Strategy::Bo(Settings::bo()), Strategy::Auto(AutoSettings::default())]
}

#[test]
fn the_point_of_a_lost_trial_is_proposed_again_and_that_of_a_failed_one_is_not() {
    for strategy in strategies() {
        let new = || Study::new(line(), Direction::Minimize, strategy.clone(), None, 3).unwrap();
        let mut study = new();
        let first = study.ask(4).unwrap();
        assert_eq!(first.len(), 4);
        for asked in &first[1..3] {
            study.tell(asked.id, numbers(&asked.point)[0]).unwrap();
        }
        study.tell_failed(first[3].id, "it diverged").unwrap();
        assert!(study.ask(1).unwrap().is_empty(), "all four are taken");
        study.tell_lost(first[0].id, "no licence").unwrap();
        let outcome = study.history().get(first[0].id).unwrap().1;
        assert_eq!(outcome, Some(&Outcome::Lost { reason: "no licence".into() }));
        // The same from the records.
        let mut again = new();
        for (trial, _) in study.history().iter() {
            again.restore_asked(trial.clone()).unwrap();
        }
        for (trial, outcome) in study.history().finished() {
            again.tell_outcome(trial.id, outcome.clone()).unwrap();
        }
        for mut study in [study, again] {
            let second = study.ask(2).unwrap();
            assert_eq!(second.len(), 1, "{}", study.explanation());
            assert_eq!(second[0].point, first[0].point);
        }
    }
}

#[test]
fn a_point_that_another_trial_has_too_stays_taken() {
    let mut study = Study::new(line(), Direction::Minimize, Strategy::Random, None, 3).unwrap();
    let asked = study.ask(4).unwrap();
    let twin = study.adopt(&asked[2].point).unwrap();
    study.tell_lost(twin, "the disk was full").unwrap();
    assert!(study.ask(1).unwrap().is_empty());
}

#[test]
fn a_search_turns_away_from_a_failed_point_and_not_from_a_lost_one() {
    let space = || Space::new(vec![Parameter::float("x", 0.0, 1.0)]).unwrap();
    let next = |tell: fn(&mut Study, tribo::trial::TrialId)| {
        let mut study =
            Study::new(space(), Direction::Minimize, Strategy::Bo(Settings::bo()), None, 1).unwrap();
        for _ in 0..8 {
            let asked = study.ask(1).unwrap().remove(0);
            let x = numbers(&asked.point)[0];
            study.tell(asked.id, (x - 0.37).powi(2)).unwrap();
        }
        let asked = study.ask(1).unwrap().remove(0);
        tell(&mut study, asked.id);
        let after = study.ask(1).unwrap().remove(0);
        (numbers(&after.point)[0] - numbers(&asked.point)[0]).abs()
    };
    let lost = next(|study, id| {
        study.tell_lost(id, "no licence").unwrap();
    });
    let failed = next(|study, id| {
        study.tell_failed(id, "it diverged").unwrap();
    });
    assert!(lost < 1e-3 && failed > 10.0 * lost, "{lost} and {failed}");
}
