//! What every runner must do, whatever it runs on.

use crate::study::{eventually, reference, sighting_of, state_of};
use tribo_study::runner::{Attempt, Runner, State, Submission};

/// Submits `attempt`, which must go on until it is cancelled, and looks for `absent`, which is never submitted.
pub(crate) fn conforms(runner: &mut dyn Runner, attempt: &Attempt, absent: &Attempt) {
    let name = runner.name();
    let outcomes = runner.submit(std::slice::from_ref(attempt));
    let [Submission::Accepted(id)] = outcomes.as_slice() else { panic!("{name}: {outcomes:?}") };

    // As after a crash between submission and record: the tag alone finds the job.
    let by_tag = reference(attempt, None);
    eventually("the job is found by its tag", || sighting_of(runner, &by_tag).is_some());
    let seen = sighting_of(runner, &by_tag).unwrap();
    assert_eq!((seen.id, &seen.job), (attempt.id, id), "{name}");
    assert!(!matches!(seen.state, State::Ended(_)), "{name}: {seen:?}");

    let by_id = reference(attempt, Some(id));
    assert_eq!(sighting_of(runner, &by_id).map(|s| (s.id, s.job)), Some((attempt.id, id.clone())), "{name}");
    let both = runner.poll(&[by_id.clone(), reference(absent, None)]).unwrap();
    assert_eq!(both.len(), 1, "{name}: what was never submitted is not seen");
    assert!(runner.poll(&[]).unwrap().is_empty(), "{name}");

    runner.cancel(std::slice::from_ref(&by_id)).unwrap();
    eventually("a cancelled job ends", || matches!(state_of(runner, &by_id), None | Some(State::Ended(_))));
    // Once more is harmless, and so is nothing at all.
    runner.cancel(std::slice::from_ref(&by_id)).unwrap();
    runner.cancel(&[]).unwrap();

    assert!(runner.submit(&[]).is_empty(), "{name}");
    let patience = runner.patience();
    assert!(
        patience.spool > 0.0 && patience.poll_min > 0.0 && patience.poll_min <= patience.poll_max,
        "{name}"
    );
    runner.check().unwrap();
}
