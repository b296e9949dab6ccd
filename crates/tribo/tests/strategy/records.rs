//! Records of trials and outcomes: how they are written, how fast they are taken, which ones are refused.

use super::ten_floats;
use serde::Deserialize;
use std::time::Instant;
use tribo::Error;
use tribo::error::RestoreFault;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Strategy, Study};
use tribo::trial::{Decision, Ended, Fit, Outcome, Purpose, Trial, TrialId};

#[test]
fn a_hundred_thousand_trials_are_restored_at_once() {
    let (finished, pending) = (100_000, 1_000);
    let mut study = ten_floats();
    let mut stream = Stream::new(5, "many trials", 0);
    let trials: Vec<Trial> = (0..finished + pending)
        .map(|id| {
            let purpose = if id < 20 { Purpose::Initial } else { Purpose::Exploit };
            let z = (0..10).map(|_| stream.uniform()).collect();
            Trial { id: TrialId(id), embedding: 0, z, purpose, recipe: None, decision: None }
        })
        .collect();
    let outcomes: Vec<Outcome> = (0..finished).map(|_| Outcome::measured(stream.normal())).collect();
    let started = Instant::now();
    for (trial, outcome) in
        trials.into_iter().zip(outcomes.into_iter().map(Some).chain(std::iter::repeat(None)))
    {
        let id = trial.id;
        study.restore_asked(trial).expect("restored");
        if let Some(outcome) = outcome {
            study.tell_outcome(id, outcome).expect("taken");
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!((study.history().len(), study.history().pending().len()), (101_000, 1_000));
    // It takes 0.12 s; a machine that is busy may take longer, but not by a factor of 40.
    assert!(seconds < 5.0, "{seconds} s");
}

#[test]
fn records_that_do_not_fit_are_refused_and_change_nothing() {
    let decided = |change: &dyn Fn(&mut Decision)| {
        let fit = Fit {
            hyper: vec![0.5; 12],
            noisy: false,
            shift: 0.0,
            scale: 1.0,
            log: None,
            middle: 0.0,
            spacing: 0.0,
            chosen_at: None,
            metric: None,
            results: None,
        };
        let mut decision =
            Decision { results: 1, fit: Some(fit), ended: None, fell_back: None, nominees: None };
        change(&mut decision);
        Some(decision)
    };
    let fitted = |change: &dyn Fn(&mut Fit)| decided(&|decision| decision.fit.iter_mut().for_each(change));
    let mut study = ten_floats();
    let initial = Purpose::Initial;
    let good = |id| Trial {
        id: TrialId(id),
        embedding: 0,
        z: vec![0.5; 10],
        purpose: initial,
        recipe: None,
        decision: None,
    };
    study.restore_asked(good(3)).unwrap();
    study.tell(TrialId(3), 1.0).unwrap();
    let before = study.history().clone();
    let exploit = |decision: Option<Decision>| Trial {
        purpose: Purpose::Exploit,
        recipe: None,
        decision: decision.map(Box::new),
        ..good(7)
    };
    let number = |what, value| RestoreFault::Number { what, value };
    let cases = [
        (Trial { id: TrialId(2), ..good(7) }, RestoreFault::Order { last: 3 }),
        (Trial { embedding: 1, ..good(7) }, RestoreFault::Embedding { found: 1, count: 1 }),
        (Trial { z: vec![0.5; 9], ..good(7) }, RestoreFault::Length { what: "z", expected: 10, found: 9 }),
        (Trial { z: vec![f64::INFINITY; 10], ..good(7) }, number("z", f64::INFINITY)),
        (exploit(decided(&|d| d.results = 2)), RestoreFault::Results { recorded: 2, known: 1 }),
        (exploit(fitted(&|f| f.results = Some(2))), RestoreFault::Results { recorded: 2, known: 1 }),
        (exploit(fitted(&|f| f.results = Some(0))), RestoreFault::Results { recorded: 0, known: 1 }),
        (exploit(fitted(&|f| f.hyper[4] = -1.0)), number("length scale", -1.0)),
        (exploit(fitted(&|f| f.hyper[11] = 0.0)), number("noise variance", 0.0)),
        (exploit(fitted(&|f| f.scale = f64::INFINITY)), number("scale of the values", f64::INFINITY)),
        (exploit(fitted(&|f| f.spacing = -0.1)), number("spacing of the points", -0.1)),
        (
            exploit(fitted(&|f| f.chosen_at = Some(vec![1.0; 3]))),
            RestoreFault::Length { what: "fit", expected: 12, found: 3 },
        ),
        (
            exploit(fitted(&|f| f.metric = Some(vec![1.0; 3]))),
            RestoreFault::Length { what: "metric", expected: 101, found: 3 },
        ),
        (exploit(fitted(&|f| f.metric = Some(vec![f64::INFINITY; 101]))), number("metric", f64::INFINITY)),
        (exploit(fitted(&|f| f.metric = Some(vec![-1.0; 101]))), number("signal variance", -1.0)),
    ];
    for (trial, fault) in cases {
        let id = trial.id.0;
        let error = study.restore_asked(trial).unwrap_err();
        assert!(error.to_string().contains(&format!("trial {id} ")), "{error}");
        assert_eq!(error, Error::Restore { id, fault });
    }
    assert_eq!(study.restore_asked(good(3)), Err(Error::DuplicateTrial { id: 3 }));
    assert_eq!(study.history(), &before);
    study.restore_asked(exploit(fitted(&|_| ()))).unwrap();
}

#[test]
fn records_of_random_say_how_often_was_drawn() {
    let space = Space::new(vec![Parameter::int("n", 1, 3)]).unwrap();
    let make = || Study::new(space.clone(), Direction::Minimize, Strategy::Random, None, 1).unwrap();
    let mut study = make();
    let asked = study.ask(3).unwrap();
    let mut again = make();
    for (trial, _) in study.history().iter() {
        again.restore_asked(trial.clone()).unwrap();
    }
    for suggestion in &asked {
        assert_eq!(again.point(suggestion.id).unwrap(), suggestion.point);
    }
    // All three points were proposed, by the earlier process.
    assert!(again.ask(1).unwrap().is_empty());
    let bad = |z: &[f64]| Trial {
        id: TrialId(9),
        embedding: 0,
        z: z.to_vec(),
        purpose: Purpose::Initial,
        recipe: None,
        decision: None,
    };
    for z in [[0.5].as_slice(), &[-1.0], &[1e18], &[1.0, 1.0]] {
        assert!(matches!(again.restore_asked(bad(z)), Err(Error::Restore { id: 9, .. })), "{z:?}");
    }
}

#[test]
fn records_read_well_and_keep_every_bit() {
    let decision = Decision {
        results: 31,
        fit: Some(Fit {
            hyper: vec![0.1 + 0.2, 5e-324, 1e-8],
            noisy: true,
            shift: -0.0,
            scale: 2.0,
            log: Some([1.0 / 3.0, 2.5]),
            middle: 4.0,
            spacing: 2e-3,
            chosen_at: Some(vec![1.5, 2.5, 3.5]),
            metric: Some(vec![-0.1, 4.0]),
            results: None,
        }),
        ended: Some(Ended::AtKnownOptimum),
        fell_back: Some("a matrix".to_owned()),
        nominees: Some(vec![vec![0.1, 0.5], vec![1.0, 0.0]]),
    };
    let plain = Trial {
        id: TrialId(8),
        embedding: 1,
        z: vec![0.25],
        purpose: Purpose::Explore,
        recipe: None,
        decision: None,
    };
    let full = Trial {
        purpose: Purpose::Exploit,
        recipe: None,
        decision: Some(Box::new(decision)),
        ..plain.clone()
    };
    let write = |trial: &Trial| serde_json::to_string(trial).unwrap();
    assert_eq!(write(&plain), r#"{"id":8,"embedding":1,"z":[0.25],"purpose":"explore"}"#);
    let text = concat!(
        r#"{"id":8,"embedding":1,"z":[0.25],"purpose":"exploit","decision":{"results":31,"fit":{"#,
        r#""hyper":[0.30000000000000004,5e-324,1e-8],"noisy":true,"shift":-0.0,"#,
        r#""scale":2.0,"log":[0.3333333333333333,2.5],"middle":4.0,"spacing":0.002,"#,
        r#""chosen_at":[1.5,2.5,3.5],"metric":[-0.1,4.0]},"ended":"at_known_optimum","fell_back":"a matrix","#,
        r#""nominees":[[0.1,0.5],[1.0,0.0]]}}"#
    );
    assert_eq!(write(&full), text);
    for trial in [plain, full] {
        assert_eq!(serde_json::from_str::<Trial>(&write(&trial)).unwrap(), trial);
    }
    for (outcome, text) in [
        (Outcome::measured(-0.1), r#"{"measured":-0.1}"#),
        (Outcome::Failed { reason: "killed".into() }, r#"{"failed":{"reason":"killed"}}"#),
        (Outcome::Infeasible, r#""infeasible""#),
        (Outcome::measured(f64::NAN), r#"{"invalid":{"answer":"NaN"}}"#),
    ] {
        assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
        assert_eq!(serde_json::from_str::<Outcome>(text).unwrap(), outcome);
    }
    for infinite in [r#"{"measured":1e999}"#, r#"{"measured":null}"#] {
        assert!(serde_json::from_str::<Outcome>(infinite).is_err());
    }
    // A format that can write infinities does not get past the type either.
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as ValueError, F64Deserializer};
    let infinite: F64Deserializer<ValueError> = f64::INFINITY.into_deserializer();
    assert!(tribo::trial::Finite::deserialize(infinite).unwrap_err().to_string().contains("inf"));
    let mut stream = Stream::new(77, "numbers of any size", 0);
    for _ in 0..10_000 {
        let value = f64::from_bits(stream.bits());
        if value.is_finite() {
            let text = serde_json::to_string(&Outcome::measured(value)).unwrap();
            let back = serde_json::from_str::<Outcome>(&text).unwrap().value().unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "seed 77: {text}");
        }
    }
}
