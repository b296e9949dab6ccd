//! An ask that is cancelled leaves no trace, wherever it was.

use super::{numbers, ten_floats};
use std::sync::atomic::{AtomicUsize, Ordering};
use tribo::Error;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Settings, Strategy, Study};
use tribo::surrogate::watch::Watch;

/// Cancels at the question with this number.
pub(super) struct CancelAt {
    left: AtomicUsize,
}

impl CancelAt {
    /// The first question has number 0.
    pub(super) fn question(number: usize) -> CancelAt {
        CancelAt { left: number.into() }
    }
}

impl Watch for CancelAt {
    fn cancelled(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_cancelled_ask_changes_nothing() {
    // A line of few points: one that was marked as proposed without a trial would be missing in the end.
    let line = Space::new(vec![Parameter::int("n", 1, 40)]).unwrap();
    let plane = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(2)]).unwrap();
    for (name, space, trials) in [("line", line, 40), ("plane", plane, 30)] {
        let make =
            || Study::new(space.clone(), Direction::Minimize, Strategy::Bo(Settings::bo()), None, 3).unwrap();
        let (mut calm, mut disturbed) = (make(), make());
        let mut n_cancelled = 0;
        for turn in 0..trials {
            // Cancelled at the first question, at the second, and so on: in the fit, and in the search after it.
            for question in 0..1 + turn % 5 {
                let watch = CancelAt::question(question);
                let before = disturbed.history().clone();
                if let Err(error) = disturbed.ask_watched(1, &watch) {
                    assert!(matches!(error, Error::Stopped { .. }), "{error}");
                    assert_eq!(disturbed.history(), &before);
                    n_cancelled += 1;
                } else {
                    break;
                }
            }
            let known = disturbed.history().len();
            if known == turn {
                disturbed.ask(1).unwrap();
            }
            let suggestion = calm.ask(1).unwrap().remove(0);
            let (trial, _) = disturbed.history().get(suggestion.id).expect("the same trial");
            assert_eq!(Some((trial, None)), calm.history().get(suggestion.id), "{name}, turn {turn}");
            let value = numbers(&suggestion.point).iter().map(|x| (x - 0.3).powi(2)).sum();
            calm.tell(suggestion.id, value).unwrap();
            disturbed.tell(suggestion.id, value).unwrap();
        }
        assert!(n_cancelled > trials, "{name}: {n_cancelled} asks were cancelled");
    }
}

#[test]
fn points_made_before_an_ask_is_cancelled_reach_the_caller() {
    let mut study = ten_floats();
    for trial in study.ask(20).unwrap() {
        study.tell(trial.id, numbers(&trial.point).iter().map(|x| x * x).sum()).unwrap();
    }
    let known = study.history().len();
    let made = study.ask_watched(50, &CancelAt::question(60)).unwrap();
    assert!(!made.is_empty() && made.len() < 50, "{} made", made.len());
    assert_eq!(study.history().len(), known + made.len());
}
