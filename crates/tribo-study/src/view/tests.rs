//! A study of every kind of input, looked at from all sides.

use super::why::{Reason, why};
use super::*;
use crate::by_hand::ByHand;
use crate::job::Finding;
use crate::outputs::VALUE;
use crate::report::summary::Phase;
use std::fs;
use tribo::surrogate::watch::Unwatched;
use tribo_chart::Chart;

const FILE: &str = "study_version = 1\nname = \"a <b> & c\"\ndirection = \"minimize\"\nseed = 5\n\
    [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0\nhigh = 1\n\
    [[parameter]]\nname = \"rate\"\ntype = \"float\"\nlow = 0.001\nhigh = 10\nlog = true\n\
    [[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 6\n\
    [[parameter]]\nname = \"mode\"\ntype = \"categorical\"\nchoices = [\"one\", \"two\", \"three\"]\n\
    [strategy]\nname = \"bo\"\n";

/// A study with `n` results of a smooth function of x and rate; every tenth trial fails.
pub(crate) fn study(file: &str, n: usize) -> (tempfile::TempDir, Reading) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(&folder.path().join("study.toml"));
    fs::write(layout.file(), file).unwrap();
    let mut study = ByHand::take_new(&layout).unwrap();
    told(&mut study, n);
    study.close("test").unwrap();
    let reading = Reading::open(&layout).unwrap();
    (folder, reading)
}

/// Asks and tells `n` trials.
fn told(study: &mut ByHand, n: usize) {
    for trial in 0..n as u64 {
        let asked = study.ask(1, &Unwatched).unwrap();
        let x = asked[0].point.numbers();
        let value = (3.0 * x[0]).sin() + 0.3 * (x[1].log10() + 1.0).powi(2) + 0.01 * x[2];
        let finding = match trial % 10 {
            7 => Finding::failed("failed: \u{1b}[31m<script>alert(1)</script> at 0x7ffe12"),
            _ => Finding::answered(VALUE, value),
        };
        study.tell(trial, &finding).unwrap();
    }
}

#[test]
fn every_picture_of_a_study_can_be_drawn() {
    let (_folder, reading) = study(FILE, 40);
    let view = View::of(&reading).unwrap();
    let model = view.model.as_ref().unwrap();
    assert_eq!(model.trust(), Trust::Good, "{}", model.verdict().1);
    // What matters comes first, what does not comes last.
    let names: Vec<&str> = view.inputs.iter().map(|input| input.name.as_str()).collect();
    assert!(names[..2].contains(&"x") && names[..2].contains(&"rate"), "{names:?}");
    let mut charts: Vec<Box<dyn Chart>> = vec![
        Box::new(view.convergence().unwrap()),
        Box::new(view.importance(9).unwrap()),
        Box::new(view.validation().unwrap()),
        Box::new(view.parallel().unwrap()),
        Box::new(view.matrix().unwrap()),
    ];
    for input in &view.inputs {
        let slice = view.slice(input).unwrap().unwrap();
        let (low, high) = slice.x.limits.unwrap();
        assert!(
            slice.series[0].points.iter().all(|(x, _)| x.is_nan() || (low..=high).contains(x)),
            "{}",
            input.name
        );
        charts.push(Box::new(slice));
    }
    let by_name = |name: &str| InputAxis::named(&view.config.space, name).unwrap();
    charts.push(Box::new(view.contours(&by_name("x"), &by_name("rate")).unwrap().unwrap()));
    assert!(view.contours(&by_name("x"), &by_name("mode")).unwrap().is_none());
    assert!(view.contours(&by_name("x"), &by_name("x")).unwrap().is_none());
    assert!(InputAxis::named(&view.config.space, "nope").is_none());
    for chart in charts {
        assert!(chart.to_svg().ends_with("</svg>\n"));
    }
    // Nobody ran it: it was told by hand.
    assert!(view.timeline().is_none());
}

/// Every picture that has a model or results only.
const DRAWN: [PictureKind; 7] = [
    PictureKind::Convergence,
    PictureKind::Slice,
    PictureKind::Contour,
    PictureKind::Importance,
    PictureKind::Validation,
    PictureKind::Parallel,
    PictureKind::Matrix,
];

#[test]
fn a_study_in_memory_looks_like_the_same_on_disk() {
    let (folder, reading) = study(FILE, 30);
    let config = Config::parse(&folder.path().join("study.toml"), FILE).unwrap();
    let mut memory = ByHand::in_memory(config, FILE).unwrap();
    told(&mut memory, 30);
    let before = memory.ask(1, &Unwatched).unwrap().remove(0).point.numbers();
    let mut again = ByHand::in_memory(memory.config().clone(), FILE).unwrap();
    told(&mut again, 30);
    let here = View::new(&Source::own(&mut again).unwrap(), Depth::Model).unwrap();
    let disk = View::of(&reading).unwrap();
    for kind in DRAWN {
        assert_eq!(
            here.picture(kind, &[]).unwrap().to_svg(),
            disk.picture(kind, &[]).unwrap().to_svg(),
            "{kind:?}"
        );
        // By their text, since a NaN is not equal to itself.
        let numbers = |view: &View| format!("{:?}", view.numbers(kind, &[]).unwrap());
        assert_eq!(numbers(&here), numbers(&disk), "{kind:?}");
    }
    let why = here.picture(PictureKind::Timeline, &[]).err().unwrap().to_string();
    assert!(why.contains("no workers to draw: a study in memory"), "{why}");
    assert_eq!((here.summary.created.as_str(), &here.summary.phase), ("", &Phase::ByHand));
    // Looking has not changed what is proposed.
    assert_eq!(again.ask(1, &Unwatched).unwrap()[0].point.numbers(), before);
    let glance = View::new(&Source::own(&mut again).unwrap(), Depth::Results).unwrap();
    assert!(glance.model.is_none() && glance.convergence().is_some());
}

#[test]
fn numbers_are_those_of_the_results() {
    let (_folder, reading) = study(FILE, 30);
    let view = View::of(&reading).unwrap();
    let columns = view.numbers(PictureKind::Convergence, &[]).unwrap();
    let [
        ("trial", Column::Whole(trials)),
        ("value", Column::Numbers(values)),
        ("best", Column::Numbers(best)),
    ] = &columns[..]
    else {
        panic!("{columns:?}")
    };
    assert_eq!(*trials, (0..30).collect::<Vec<i64>>());
    assert!(values[7].is_nan() && values[17].is_nan() && best[7] == best[6]);
    assert_eq!(best[29], values.iter().copied().fold(f64::INFINITY, f64::min));
    let contour = view.numbers(PictureKind::Contour, &["x".to_owned(), "rate".to_owned()]).unwrap();
    let named = |name: &str| &contour.iter().find(|(known, _)| *known == name).unwrap().1;
    let (Column::Numbers(x), Column::Numbers(y), Column::Rows(width, mean)) =
        (named("x"), named("y"), named("mean"))
    else {
        panic!("{contour:?}")
    };
    assert_eq!((x.len(), mean.len()), (*width, x.len() * y.len()));
    assert!((y[0] - 0.001).abs() < 1e-12 && (y[y.len() - 1] - 10.0).abs() < 1e-9, "{y:?}");
    let slice = view.numbers(PictureKind::Slice, &["mode".to_owned()]).unwrap();
    assert_eq!(slice[0], ("x", Column::Names(["one", "two", "three"].map(str::to_owned).to_vec())));
    let said = |kind, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        view.numbers(kind, &names).unwrap_err().to_string()
    };
    assert!(said(PictureKind::Contour, &["x"]).contains("takes 2 inputs, not 1"));
    assert!(said(PictureKind::Slice, &["nope"]).contains("no input `nope`; there is"));
    assert!(said(PictureKind::Convergence, &["x"]).contains("takes no name of an input"));
}

#[test]
fn the_slice_through_the_best_point_meets_it() {
    let (_folder, reading) = study(FILE, 40);
    let view = View::of(&reading).unwrap();
    let best = view.summary.best.as_ref().unwrap();
    let slice = view.slice(&InputAxis::named(&view.config.space, "x").unwrap()).unwrap().unwrap();
    let at = best.params["x"].as_f64().unwrap();
    let nearest =
        slice.series[0].points.iter().min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs())).unwrap();
    // A sixtieth of the range away at most, where the slope is at most 3.
    assert!((nearest.1 - best.value).abs() < 0.05, "{nearest:?} and {}", best.value);
}

#[test]
fn slices_along_names_meet_the_best_point_too() {
    for choices in ["\"one\", \"two\"", "\"one\", \"two\", \"three\""] {
        let file = FILE.replace("\"one\", \"two\", \"three\"", choices);
        let (_folder, reading) = study(&file, 30);
        let view = View::of(&reading).unwrap();
        let (model, mode) =
            (view.model.as_ref().unwrap(), InputAxis::named(&view.config.space, "mode").unwrap());
        let slice = view.slice(&mode).unwrap().unwrap();
        let best = model.look.best_point();
        let expected = model.look.expected(std::slice::from_ref(&best)).unwrap()[0].mean;
        let (at, shown) = view.setting(&mode, &best).unwrap().unwrap();
        assert_eq!(mode.categories()[at as usize], shown);
        let there = slice.series[0].points.iter().find(|(x, _)| (x - at).abs() < 0.4).unwrap();
        assert!((there.1 - expected).abs() < 1e-9, "{choices}: {there:?} and {expected}");
        // Set to where it is, the best point stays where it is.
        assert_eq!(view.set(&[(mode.input, at)]).unwrap().unwrap().place, best);
    }
}

#[test]
fn inputs_can_be_set_one_by_one() {
    let (_folder, reading) = study(FILE, 30);
    let view = View::of(&reading).unwrap();
    let axis = |name: &str| InputAxis::named(&view.config.space, name).unwrap();
    let set = view.set(&[(0, 0.25), (1, 0.5), (2, 7.0), (3, 2.0)]).unwrap().unwrap();
    let shown = |name: &str| view.setting(&axis(name), &set.place).unwrap().unwrap().1;
    assert_eq!(["x", "rate", "n", "mode"].map(shown), ["0.25", "0.1", "6", "three"]);
    assert_eq!((axis("n").n_steps(), axis("x").n_steps()), (Some(6), None));
    for nonsense in [(9, 0.5), (0, f64::NAN), (usize::MAX, 0.5)] {
        assert!(view.set(&[nonsense]).unwrap().is_none(), "{nonsense:?}");
    }
}

#[test]
fn a_glance_shows_what_is_new_with_the_model_of_before() {
    let (_folder, mut reading) = study(FILE, 30);
    let whole = View::of(&reading).unwrap();
    let glance = View::at_a_glance(&mut reading, Some(&whole)).unwrap();
    assert_eq!(glance.summary.best, whole.summary.best);
    assert_eq!((glance.outcomes.len(), &glance.inputs), (whole.outcomes.len(), &whole.inputs));
    assert_eq!(glance.convergence(), whole.convergence());
    assert!(Arc::ptr_eq(glance.model.as_ref().unwrap(), whole.model.as_ref().unwrap()));
    // A model of another chapter would name other inputs.
    let other = View { config_text: "another".to_owned(), ..whole };
    assert!(View::at_a_glance(&mut reading, Some(&other)).unwrap().model.is_none());
}

#[test]
fn reasons_are_told_of_every_trial() {
    let (_folder, reading) = study(FILE, 24);
    let first = why(&reading, 0).unwrap();
    assert_eq!((first.reason, first.expected), (Reason::Design, None));
    let last = why(&reading, 23).unwrap();
    assert_eq!(last.reason, Reason::Search);
    let expected = last.expected.unwrap();
    assert!(expected.low <= expected.mean && expected.mean <= expected.high);
    assert!((0.0..=1.0).contains(&expected.chance) && expected.results >= 19, "{expected:?}");
    assert!(last.words.last().unwrap().starts_with("measured "), "{:?}", last.words);
    assert!(why(&reading, 17).unwrap().words.last().unwrap().starts_with("no value came: failed"));
    assert!(why(&reading, 99).unwrap_err().to_string().contains("there is no trial 99"));
}

#[test]
fn a_study_without_results_or_without_a_model_has_no_wrong_pictures() {
    let (_folder, reading) = study(FILE, 0);
    let view = View::of(&reading).unwrap();
    assert!(view.convergence().is_none() && view.model.is_none() && view.parallel().is_none());
    let random = FILE.replace("\"bo\"", "\"random\"");
    let (_folder, reading) = study(&random, 12);
    let view = View::of(&reading).unwrap();
    assert!(view.model.is_none() && view.importance(5).is_none() && view.validation().is_none());
    assert!(view.slice(&view.inputs[0]).unwrap().is_none() && view.convergence().is_some());
}

#[test]
fn a_choice_of_items_is_even_and_keeps_the_last() {
    let chosen = thinned((0..1_000).collect::<Vec<_>>(), 10);
    assert!((10..=11).contains(&chosen.len()) && chosen[0] == 0 && chosen.last() == Some(&999), "{chosen:?}");
    assert_eq!(thinned(vec![1, 2, 3], 3), [1, 2, 3]);
}
