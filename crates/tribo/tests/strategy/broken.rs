//! A strategy that breaks inside does not end a study: a makeshift point is asked, its trial says why, and the study is
//! restored through it. What broke before stands here too, and breaks no more.

use super::{numbers, space_of};
use std::sync::atomic::{AtomicUsize, Ordering};
use tribo::problems::{Problem, Walk, by_name, embed_active, rotate};
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Fact, Settings, Strategy, Study};
use tribo::surrogate::watch::Watch;
use tribo::trial::{Outcome, Recipe, Trial, TrialId};

/// Something in a strategy that breaks at the question with this number.
struct BreakAt(AtomicUsize);

impl Watch for BreakAt {
    fn cancelled(&self) -> bool {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "a row is gone");
        false
    }
}

fn why(trial: &Trial) -> Option<&str> {
    trial.decision.as_ref()?.fell_back.as_deref()
}

enum Event {
    Asked(Trial),
    Told(TrialId, Outcome),
}

/// Every fifth ask breaks, early or late in the proposal.
fn disturbed(make: &dyn Fn() -> Study, f: &dyn Fn(&[f64]) -> f64, trials: usize, seed: u64) -> Vec<Event> {
    let (mut study, mut stream) = (make(), Stream::new(seed, "broken", 0));
    let (mut events, mut open) = (vec![], vec![]);
    while study.history().len() < trials {
        let question = if stream.below(5) == 0 { stream.below(4) } else { usize::MAX };
        let asked = study.ask_watched(1, &BreakAt(question.into())).expect("a point all the same").remove(0);
        events.push(Event::Asked(study.history().get(asked.id).expect("a trial").0.clone()));
        open.push(asked);
        while open.len() > 2 {
            let done = open.swap_remove(stream.below(open.len()));
            study.tell(done.id, f(&numbers(&done.point))).expect("taken");
            let outcome = study.history().get(done.id).and_then(|(_, outcome)| outcome.cloned());
            events.push(Event::Told(done.id, outcome.expect("told")));
        }
    }
    let made_do = |event: &&Event| matches!(event, Event::Asked(trial) if why(trial).is_some());
    let n_makeshifts = events.iter().filter(made_do).count();
    assert!(n_makeshifts >= 3, "seed {seed}: {n_makeshifts}");
    let findings = study.insight().findings;
    let told = findings.iter().find_map(|finding| match &finding.fact {
        Fact::FellBack { why, trials } => Some((why.as_str(), *trials)),
        _ => None,
    });
    assert_eq!(told, Some(("a defect of the strategy: a row is gone", n_makeshifts)), "seed {seed}");
    events
}

#[test]
fn a_study_goes_on_after_a_break_and_is_restored_through_it() {
    let hidden = embed_active(&by_name("hartmann6", 6).unwrap(), 120, 3).unwrap();
    let dense = rotate(&by_name("hartmann4", 4).unwrap(), 150, 3).unwrap();
    let cases: [(&str, Problem, Strategy, usize); 4] = [
        ("bo", by_name("branin", 2).unwrap(), Strategy::Bo(Settings::bo()), 40),
        ("paper", by_name("ackley", 9).unwrap(), Strategy::Paper(Settings::paper(3)), 40),
        ("few of many inputs matter", hidden, Strategy::auto(), 90),
        ("all inputs matter", dense, Strategy::auto(), 90),
    ];
    for (name, problem, strategy, trials) in cases {
        for seed in [1, 2] {
            let make =
                || Study::new(space_of(&problem), Direction::Minimize, strategy.clone(), None, seed).unwrap();
            let events = disturbed(&make, &|x| problem.evaluate(x), trials, seed);
            let mut stream = Stream::new(seed, "cuts", 0);
            for _ in 0..6 {
                let cut = stream.below(events.len());
                let mut study = make();
                for (number, event) in events.iter().enumerate() {
                    match event {
                        // A break cannot be repeated, so makeshifts are restored after the cut too.
                        Event::Asked(trial) if number < cut || why(trial).is_some() => {
                            study.restore_asked(trial.clone()).expect("restored");
                        }
                        Event::Asked(trial) => {
                            let asked = study.ask(1).expect("a point").remove(0);
                            let made = study.history().get(asked.id).expect("a trial").0;
                            assert_eq!(made, trial, "{name}, seed {seed}, cut {cut}, event {number}");
                        }
                        Event::Told(id, outcome) => {
                            study.tell_outcome(*id, outcome.clone()).expect("taken");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_makeshift_of_another_study_is_refused() {
    let problem = embed_active(&by_name("hartmann6", 6).unwrap(), 120, 3).unwrap();
    let make = || Study::new(space_of(&problem), Direction::Minimize, Strategy::auto(), None, 1).unwrap();
    let events = disturbed(&make, &|x| problem.evaluate(x), 90, 1);
    let is_makeshift = |event: &Event| matches!(event, Event::Asked(trial) if why(trial).is_some());
    let at = events.iter().position(is_makeshift).unwrap();
    let Event::Asked(trial) = &events[at] else { return };
    let mut longer = trial.clone();
    longer.z.push(0.5);
    let mut later = trial.clone();
    later.decision.iter_mut().for_each(|decision| decision.results += 1);
    for wrong in [longer, later] {
        let mut study = make();
        for event in &events[..at] {
            match event {
                Event::Asked(trial) => study.restore_asked(trial.clone()).unwrap(),
                Event::Told(id, outcome) => drop(study.tell_outcome(*id, outcome.clone()).unwrap()),
            }
        }
        assert!(study.restore_asked(wrong).is_err());
        assert!(study.restore_asked(trial.clone()).is_ok());
    }
}

/// A walk among discs: all inputs act alike, but moving them together explains nothing, and too many of them matter. When they
/// were moved together all the same, the model was empty afterwards and the ask failed. The inputs are pairs, beside each other or in
/// two blocks, and the search finds that out. The records lead to the same next point.
#[test]
fn a_walk_among_discs_is_searched_to_the_end() {
    for (seed, budget, in_blocks) in [(1, 110, false), (2, 110, true), (3, 200, false), (4, 200, true)] {
        let walk = Walk::new(30, seed);
        let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(walk.dim())]).unwrap();
        let make =
            || Study::new(space.clone(), Direction::Minimize, Strategy::auto(), Some(budget), seed).unwrap();
        let (mut study, mut again) = (make(), make());
        let mut costs = vec![];
        for _ in 0..110 {
            let asked = study.ask(1).unwrap_or_else(|error| panic!("seed {seed}: {error}")).remove(0);
            let trial = study.history().get(asked.id).unwrap().0;
            assert_eq!(why(trial), None, "seed {seed}");
            again.restore_asked(trial.clone()).unwrap();
            let x = numbers(&asked.point);
            let paired = |k: usize| if in_blocks { x[k / 2 + 30 * (k % 2)] } else { x[k] };
            costs.push(walk.cost(&(0..60).map(paired).collect::<Vec<f64>>()));
            study.tell(asked.id, costs[costs.len() - 1]).unwrap();
            again.tell(asked.id, costs[costs.len() - 1]).unwrap();
        }
        assert_eq!(study.ask(1).unwrap()[0].point, again.ask(1).unwrap()[0].point, "seed {seed}");
        let findings = study.insight().findings;
        assert!(findings.iter().any(|finding| finding.fact == Fact::Pairs), "seed {seed}");
        assert!(!findings.iter().any(|finding| matches!(finding.fact, Fact::Line { .. })), "seed {seed}");
        let lowest = |costs: &[f64]| costs.iter().copied().fold(f64::INFINITY, f64::min);
        // The corner of a walk along two sides is 1.9, and those of the start are far above.
        let (start, best) = (lowest(&costs[..14]), lowest(&costs));
        assert!(best < 1.85 && best < start, "seed {seed}: {best} after {start}");
    }
}

/// One category of many inputs matters. When all its values had been tried the study was over.
#[test]
fn inputs_of_few_values_do_not_end_the_study() {
    let mut parameters = vec![Parameter::categorical("solver", ["a", "b", "c"])];
    parameters.push(Parameter::float("x", 0.0, 1.0).with_size(60));
    let space = Space::new(parameters).unwrap();
    let mut study = Study::new(space, Direction::Minimize, Strategy::auto(), Some(80), 1).unwrap();
    for turn in 0..80 {
        let asked = study.ask(1).unwrap();
        assert_eq!(asked.len(), 1, "at trial {turn}");
        let value = numbers(&asked[0].point)[0];
        study.tell(asked[0].id, [3.0, 1.0, 2.0][value as usize]).unwrap();
    }
    let findings = study.insight().findings;
    assert!(findings.iter().any(|finding| finding.fact == Fact::AllTried), "{findings:?}");
    assert!(findings.iter().all(|finding| !matches!(finding.fact, Fact::FellBack { .. })), "{findings:?}");
}

/// Bins whose first points all give nothing have nothing to model.
#[test]
fn a_space_without_a_single_value_is_searched_by_design() {
    let problem = rotate(&by_name("hartmann6", 6).unwrap(), 300, 3).unwrap();
    let mut study =
        Study::new(space_of(&problem), Direction::Minimize, Strategy::auto(), Some(150), 1).unwrap();
    let mut n_in_bins = 0;
    for _ in 0..110 {
        let asked = study.ask(1).unwrap().remove(0);
        let trial = study.history().get(asked.id).unwrap().0.clone();
        assert_eq!(why(&trial), None);
        let bins = matches!(trial.recipe.as_deref(), Some(Recipe::Bins { .. }));
        n_in_bins += usize::from(bins);
        // These lie in the space of any bins.
        let alike = matches!(
            trial.recipe.as_deref(),
            Some(Recipe::Centre | Recipe::Low | Recipe::High | Recipe::Line { .. })
        );
        match alike || (bins && n_in_bins <= 25) {
            true => study.tell_failed(asked.id, "diverged").unwrap(),
            false => study.tell(asked.id, problem.evaluate(&numbers(&asked.point))).unwrap(),
        };
    }
    assert!(n_in_bins > 30, "{n_in_bins}");
}
