//! Fits beside the asks: proposals go on meanwhile, and the records tell which model made which of them.
//!
//! A study with many results is asked and told, and each fit that falls due is brought back after some more events. From the
//! records of that a study is made again at many places, and must propose the same to the last bit, whenever fits arrived;
//! also where one was under way that never arrives.

use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space, Values};
use tribo::strategy::{Process, Refitted, Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;
use tribo::trial::{Outcome, Purpose, Trial, TrialId};

/// Results before the first ask: as many as fits are made beside with.
const KNOWN: usize = 4_000;
const SEED: u64 = 5;

enum Event {
    Asked(Trial),
    Told(TrialId, Outcome),
}

fn settings() -> Settings {
    let mut settings = Settings::bo();
    if let Process::Sparse { n_inducing, .. } = &mut settings.surrogate.process {
        *n_inducing = 20;
    }
    // A fit for every nine results or so.
    settings.refit_growth = 1.002;
    settings
}

fn study() -> Study {
    let space = Space::new(vec![Parameter::float("x", -1.0, 2.0).with_size(2)]).expect("a space");
    Study::new(space, Direction::Minimize, Strategy::Bo(settings()), None, SEED).expect("a study")
}

fn value(point: &Point) -> f64 {
    let x = point.numbers();
    (x[0] - 0.3).powi(2) + (1.0 - (3.0 * x[1]).cos()) + 0.1 * x[0] * x[1]
}

/// A study that knows many results, and their events.
fn known() -> (Study, Vec<Event>) {
    let (mut study, mut events) = (study(), vec![]);
    let mut stream = Stream::new(SEED, "beside tests", 0);
    for _ in 0..KNOWN {
        let x = vec![3.0 * stream.uniform() - 1.0, 3.0 * stream.uniform() - 1.0];
        let point = study.space().point(vec![Values::Float(x)]).expect("a point");
        let id = study.add(&point, value(&point)).expect("added");
        let (trial, outcome) = study.history().get(id).expect("a trial");
        events.push(Event::Asked(trial.clone()));
        events.push(Event::Told(id, outcome.cloned().expect("told")));
    }
    (study, events)
}

/// A fit under way: since when, and of how many results.
struct Running {
    since: usize,
    made_of: usize,
    refitted: Refitted,
}

/// Makes a fit that is due, unless one is under way.
fn begin(study: &Study, running: &mut Option<Running>, since: usize) {
    if running.is_none()
        && let Some(refit) = study.refit()
    {
        let made_of = refit.n_results();
        *running = Some(Running { since, made_of, refitted: refit.run(&Unwatched).expect("a fit") });
    }
}

/// Sixty asks by three workers; every fit arrives `delay` events after it fell due.
fn traffic(delay: usize) -> Vec<Event> {
    let (mut study, mut events) = known();
    study.refit_beside(true);
    let mut stream = Stream::new(SEED, "beside traffic", 0);
    let (mut open, mut running) = (vec![], None);
    for now in 0..120 {
        begin(&study, &mut running, now);
        if let Some(done) = running.take_if(|running| now >= running.since + delay) {
            assert!(study.take_refit(done.refitted), "it is taken");
        }
        if open.len() < 3 && (open.is_empty() || stream.uniform() < 0.5) {
            let suggestion = study.ask(1).expect("a proposal").remove(0);
            let (trial, _) = study.history().get(suggestion.id).expect("a trial");
            events.push(Event::Asked(trial.clone()));
            open.push(suggestion);
        } else {
            let done = open.swap_remove(stream.below(open.len()));
            study.tell(done.id, value(&done.point)).expect("taken");
            let outcome = study.history().get(done.id).and_then(|(_, outcome)| outcome.cloned());
            events.push(Event::Told(done.id, outcome.expect("told")));
        }
    }
    events
}

/// The results that the fit of a trial was made of, and those it was asked with.
fn fit_of(trial: &Trial) -> Option<(usize, usize)> {
    let decision = trial.decision.as_ref()?;
    let fit = decision.fit.as_ref()?;
    Some((fit.results.unwrap_or(decision.results), decision.results))
}

/// Makes the study of the first `cut` events again and goes on to the end; fits arrive with the trials that carry them.
/// Returns how many trials it proposed: the first that carries a fit which was under way at the cut ends it.
fn check_cut(events: &[Event], cut: usize) -> usize {
    let mut study = study();
    study.refit_beside(true);
    let (mut running, mut n_proposed) = (None, 0);
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Asked(trial) if place < cut || trial.purpose == Purpose::Added => {
                study.restore_asked(trial.clone()).expect("restored");
            }
            Event::Asked(trial) => {
                begin(&study, &mut running, place);
                if let Some((made_of, _)) = fit_of(trial) {
                    match running.take() {
                        Some(done) if done.made_of == made_of => assert!(study.take_refit(done.refitted)),
                        _ => return n_proposed,
                    }
                }
                let asked = study.ask(1).expect("a proposal").remove(0);
                let (made, _) = study.history().get(asked.id).expect("a trial");
                assert_eq!(made, trial, "cut at {cut}, event {place}");
                n_proposed += 1;
            }
            Event::Told(id, outcome) => {
                study.tell_outcome(*id, outcome.clone()).expect("taken");
                if place >= cut {
                    begin(&study, &mut running, place);
                }
            }
        }
    }
    n_proposed
}

fn n_results(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Told(..))).count()
}

#[test]
fn whenever_a_fit_arrives_the_records_make_the_same_model() {
    let mut journals = vec![];
    for delay in [0, 7, 16] {
        let events = traffic(delay);
        let asked = |event: &Event| match event {
            Event::Asked(trial) => fit_of(trial),
            Event::Told(..) => None,
        };
        let fits: Vec<(usize, usize)> = events.iter().filter_map(asked).collect();
        // The first is made in front; the others are late by what was told meanwhile.
        assert_eq!(fits[0], (KNOWN, KNOWN));
        assert!(fits.len() >= 3, "{fits:?}");
        let late = fits[1..].iter().all(|(made_of, known)| made_of < known);
        assert_eq!(late, delay > 0, "delay {delay}: {fits:?}");
        let first = 2 * KNOWN;
        let n_proposed: usize = (0..8).map(|step| check_cut(&events, first + 1 + 14 * step)).sum();
        assert!(n_proposed >= 40, "delay {delay}: {n_proposed}");
        journals.push(events);
    }
    // Fits that arrive at other moments make other proposals.
    let last = |events: &[Event]| match events.iter().rev().find(|event| matches!(event, Event::Asked(_))) {
        Some(Event::Asked(trial)) => trial.z.clone(),
        _ => vec![],
    };
    assert_ne!(last(&journals[0]), last(&journals[2]));
}

#[test]
fn asks_make_the_fits_themselves_where_nobody_does() {
    let events = traffic(7);
    // The first trial after a fit fell due: a study that is not beside fits there, in front.
    let is_late = |event: &Event| matches!(event, Event::Asked(trial) if fit_of(trial).is_some_and(|(of, known)| of < known));
    let late = events.iter().position(is_late).expect("a late fit");
    let mut study = study();
    for event in &events[..late] {
        match event {
            Event::Asked(trial) => study.restore_asked(trial.clone()).expect("restored"),
            Event::Told(id, outcome) => drop(study.tell_outcome(*id, outcome.clone()).expect("taken")),
        }
    }
    assert!(study.refit().is_none(), "nothing is due beside");
    let known = n_results(&events[..late]);
    // The results so far were all accepted; the next one asks for the fit.
    let open = study.history().pending().next().map(|trial| trial.id);
    if let Some(id) = open {
        study.tell(id, 1.0).expect("taken");
    }
    let known = known + usize::from(open.is_some());
    let asked = study.ask(1).expect("a proposal").remove(0);
    let (trial, _) = study.history().get(asked.id).expect("a trial");
    assert_eq!(fit_of(trial), Some((known, known)));
}

#[test]
fn a_fit_of_another_study_is_refused() {
    let (mut one, _) = known();
    let (mut other, _) = known();
    for study in [&mut one, &mut other] {
        study.refit_beside(true);
        assert!(study.refit().is_none(), "the first fit is made in front");
        for _ in 0..10 {
            let asked = study.ask(1).expect("a proposal").remove(0);
            study.tell(asked.id, value(&asked.point)).expect("taken");
        }
    }
    let (first, again) = (one.refit().expect("it is due"), one.refit().expect("until it is taken"));
    assert_eq!((first.n_results(), again.n_results()), (KNOWN + 10, KNOWN + 10));
    assert!(!other.take_refit(first.run(&Unwatched).expect("a fit")));
    assert!(one.take_refit(again.run(&Unwatched).expect("a fit")));
    assert!(one.refit().is_none(), "it is taken");
}
