//! Studies that change their mind half-way: another budget, other bounds, other parameters, another strategy, another
//! version of an engine. Each goes on with all results, and goes on again after it was closed.

use serde_json::{Map, Value};
use std::fs;
use std::path::Path;
use tribo::strategy::Verdict;
use tribo::surrogate::watch::Unwatched;
use tribo::trial::{Purpose, Recipe};
use tribo_study::Error;
use tribo_study::by_hand::ByHand;
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::outputs::VALUE;
use tribo_study::owned::How;
use tribo_study::reading::Reading;
use tribo_study::report::summary;
use tribo_study::report::table::Table;
use tribo_study::store::ledger::Source;

const ANYWAY: How = How { take_over: false, new_chapter: true };

struct Folder {
    folder: tempfile::TempDir,
    file: String,
}

impl Folder {
    fn new(file: &str) -> Folder {
        let folder = Folder { folder: tempfile::tempdir().expect("a folder"), file: file.to_owned() };
        folder.write();
        folder
    }

    fn layout(&self) -> Layout {
        Layout::of(&self.folder.path().join("study.toml"))
    }

    fn write(&self) {
        fs::write(self.layout().file(), &self.file).expect("written");
    }

    fn change(&mut self, from: &str, to: &str) {
        assert!(self.file.contains(from), "no {from} in {}", self.file);
        self.file = self.file.replacen(from, to, 1);
        self.write();
    }

    /// Evaluates `n` points, one after the other, and leaves the study.
    fn run(&self, how: How, n: usize, f: impl Fn(&Map<String, Value>) -> f64) {
        let mut study = ByHand::take_as(&self.layout(), how).expect("the study");
        for _ in 0..n {
            let asked = study.ask(1, &Unwatched).expect("a point");
            let params = tribo_study::point::to_json(&study.config().space, &asked[0].point);
            study.tell(asked[0].id.0, &Finding::answered(VALUE, f(&params))).expect("told");
        }
        study.close("test").expect("closed");
    }

    /// The next points are the same whether the study was left or not.
    fn goes_on_the_same(&self, f: impl Fn(&Map<String, Value>) -> f64) {
        let next = |reopen: bool| {
            let copy = tempfile::tempdir().expect("a folder");
            copy_folder(self.folder.path(), copy.path());
            let layout = Layout::of(&copy.path().join("study.toml"));
            let mut study = ByHand::take_new(&layout).expect("the study");
            let mut points = vec![];
            for _ in 0..4 {
                if reopen {
                    study.close("test").expect("closed");
                    study = ByHand::take_new(&layout).expect("the study");
                }
                let asked = study.ask(1, &Unwatched).expect("a point");
                let params = tribo_study::point::to_json(&study.config().space, &asked[0].point);
                study.tell(asked[0].id.0, &Finding::answered(VALUE, f(&params))).expect("told");
                points.push(params);
            }
            points
        };
        assert_eq!(next(true), next(false));
    }

    fn reading(&self) -> Reading {
        Reading::open(&self.layout()).expect("the study")
    }

    /// Trials, of which measured, and the best value in the present chapter.
    fn state(&self) -> (usize, usize, f64) {
        let reading = self.reading();
        let rebuilt = reading.rebuilt().expect("rebuilt");
        let best = summary::best(&reading.config, reading.ledger(), rebuilt.points(), 1).expect("points");
        (reading.ledger().trials().len(), reading.ledger().told().len(), best[0].value)
    }

    fn csv(&self) -> String {
        let reading = self.reading();
        let rebuilt = reading.rebuilt().expect("rebuilt");
        let begun = reading.begun();
        let mut out = vec![];
        let table = Table::new(&reading.config, reading.ledger(), rebuilt.points(), &begun);
        table.write_csv(&mut out, Path::new("table")).expect("a table");
        String::from_utf8(out).expect("text")
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("a folder");
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a copy");
        }
    }
}

fn number(params: &Map<String, Value>, name: &str) -> f64 {
    params[name].as_f64().unwrap_or_else(|| panic!("{name} in {params:?}"))
}

fn element(params: &Map<String, Value>, j: usize) -> f64 {
    params["x"][j].as_f64().unwrap_or_else(|| panic!("x[{j}]"))
}

const FEW: &str = "study_version = 1\ndirection = \"minimize\"\nseed = 4\n[[parameter]]\nname = \"x\"\ntype = \"float\"\n\
                   low = -2.0\nhigh = 2.0\n[[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 0\nhigh = 9\n\
                   [strategy]\nname = \"bo\"\n";

fn bowl(params: &Map<String, Value>) -> f64 {
    (number(params, "x") - 0.3).powi(2) + 0.1 * (number(params, "n") - 4.0).powi(2)
}

#[test]
fn bounds_are_narrowed_and_widened() {
    let mut folder = Folder::new(FEW);
    folder.run(How::default(), 25, bowl);
    folder.change("low = -2.0\nhigh = 2.0", "low = -1.0\nhigh = 1.0");
    let refused = ByHand::take_new(&folder.layout()).err();
    assert!(
        matches!(&refused, Some(Error::Changed { what, .. }) if what.contains("low -2 -> -1")),
        "{refused:?}"
    );
    folder.run(ANYWAY, 10, bowl);
    let (trials, told, narrow) = folder.state();
    assert_eq!((trials, told), (35, 35));
    folder.change("low = -1.0\nhigh = 1.0", "low = -4.0\nhigh = 4.0");
    folder.run(ANYWAY, 10, bowl);
    let (trials, told, wide) = folder.state();
    assert_eq!((trials, told), (45, 45));
    assert!(wide <= narrow && wide < 0.05, "{narrow} {wide}");
    // Every result of the first chapter is in the third one, and those outside the second were not in it.
    let reading = folder.reading();
    assert_eq!(reading.optimiser().expect("rebuilt").history().measured().count(), 45);
    assert_eq!(reading.ledger().chapters().len(), 3);
    folder.goes_on_the_same(bowl);
    let rows: Vec<String> = folder.csv().lines().map(str::to_owned).collect();
    assert_eq!(rows.len(), 46);
    assert!(rows[0].starts_with("trial,state,value,x,n,"), "{}", rows[0]);
}

#[test]
fn parameters_come_and_go() {
    let mut folder = Folder::new(FEW);
    folder.run(How::default(), 20, bowl);
    folder.change(
        "[strategy]",
        "[[parameter]]\nname = \"solver\"\ntype = \"categorical\"\nchoices = [\"cg\", \"lu\"]\n[strategy]",
    );
    let refused = ByHand::take_as(&folder.layout(), ANYWAY).err().map(|error| error.to_string());
    assert!(refused.as_ref().is_some_and(|text| text.contains("earlier")), "{refused:?}");
    folder.change("choices = [\"cg\", \"lu\"]\n", "choices = [\"cg\", \"lu\"]\nearlier = \"lu\"\n");
    let with_solver = |params: &Map<String, Value>| {
        let solver = params["solver"].as_str().unwrap_or_else(|| panic!("a solver in {params:?}"));
        bowl(params) + if solver == "lu" { 0.0 } else { -0.5 }
    };
    folder.run(ANYWAY, 12, with_solver);
    let (trials, _, best) = folder.state();
    assert_eq!(trials, 32);
    assert!(best < -0.3, "{best}");
    folder.change("choices = [\"cg\", \"lu\"]", "choices = [\"qr\", \"cg\", \"lu\"]");
    folder.run(ANYWAY, 5, with_solver);
    assert_eq!(folder.reading().optimiser().expect("rebuilt").history().measured().count(), 37);
    folder.goes_on_the_same(with_solver);
    // And gone again: results stay as they are in what is left.
    folder.change("[[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 0\nhigh = 9\n", "");
    let without_n = |params: &Map<String, Value>| {
        let mut whole = params.clone();
        whole.insert("n".to_owned(), 4.into());
        with_solver(&whole)
    };
    folder.run(ANYWAY, 5, without_n);
    let csv = folder.csv();
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 43);
    assert_eq!(rows[0][3..6], ["x", "solver", "n"]);
    // The first trials had a solver that nobody had named, and the last ones have no n.
    assert_eq!(rows[1][4], "lu");
    assert_eq!((rows[42][5], rows[1][5].parse::<i64>().is_ok()), ("", true));
}

fn wide(strategy: &str, evaluations: usize) -> String {
    format!(
        "study_version = 1\ndirection = \"minimize\"\nseed = 4\n[[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0.0\n\
         high = 1.0\nsize = 10000\n[budget]\nevaluations = {evaluations}\n[strategy]\nname = \"{strategy}\"\n"
    )
}

/// Four of ten thousand inputs matter.
fn sparse(params: &Map<String, Value>) -> f64 {
    [(17, 0.3), (4_711, 0.6), (8_000, 0.5), (9_999, 0.2)]
        .iter()
        .map(|&(j, at)| (element(params, j) - at).powi(2) * (1.0 + j as f64 / 5e3))
        .sum()
}

#[test]
fn a_search_among_ten_thousand_inputs_gets_a_larger_budget() {
    let mut folder = Folder::new(&wide("auto", 60));
    folder.run(How::default(), 60, sparse);
    let named = |folder: &Folder| {
        let insight = folder.reading().optimiser().expect("rebuilt").insight();
        assert_eq!(insight.verdict, Verdict::Sparse);
        let mut named: Vec<usize> = insight.active.iter().map(|input| input.input).collect();
        named.sort_unstable();
        named
    };
    assert_eq!(named(&folder), [17, 4_711, 8_000, 9_999]);
    let (_, _, before) = folder.state();
    folder.change("evaluations = 60", "evaluations = 200");
    folder.run(ANYWAY, 60, sparse);
    let (trials, told, after) = folder.state();
    assert_eq!((trials, told), (120, 120));
    assert!(after <= before && after < 1e-4, "{before} -> {after}");
    assert_eq!(named(&folder), [17, 4_711, 8_000, 9_999]);
    // Nothing was screened again.
    let reading = folder.reading();
    let tests = reading.ledger().trials().filter(|(id, state)| {
        let Source::Asked { trial, .. } = &state.source else { return false };
        *id >= 60 && matches!(trial.recipe.as_deref(), Some(Recipe::Move { .. }))
    });
    assert_eq!(tests.count(), 0);
    folder.goes_on_the_same(sparse);
}

#[test]
fn strategies_take_turns() {
    let file = wide("bo", 500).replace("size = 10000", "size = 60");
    let few = |params: &Map<String, Value>| (0..3).map(|j| (element(params, j) - 0.3).powi(2)).sum::<f64>();
    let mut folder = Folder::new(&file);
    folder.run(How::default(), 30, few);
    folder.change("name = \"bo\"", "name = \"auto\"");
    folder.run(ANYWAY, 30, few);
    folder.goes_on_the_same(few);
    folder.change("name = \"auto\"", "name = \"bo\"");
    folder.run(ANYWAY, 10, few);
    folder.goes_on_the_same(few);
    folder.change("name = \"bo\"", "name = \"random\"");
    folder.run(ANYWAY, 3, few);
    let (trials, told, best) = folder.state();
    assert_eq!((trials, told), (73, 73));
    assert!(best < 0.05, "{best}");
    let engines: Vec<String> = folder
        .reading()
        .ledger()
        .chapters()
        .iter()
        .map(|chapter| chapter.engine.as_ref().map_or("none", |engine| &engine.name).to_owned())
        .collect();
    assert_eq!(engines, ["bo", "auto", "bo", "random"]);
    assert_eq!(folder.csv().lines().count(), 74);
}

/// Gives a journal's first record another member, with the right checksum.
fn pretend(layout: &Layout, from: &str, to: &str) {
    let journal = fs::read_to_string(layout.journal()).expect("a journal");
    let (first, rest) = journal.split_once('\n').expect("a first line");
    let json = first.splitn(3, ' ').nth(2).expect("a record");
    assert!(json.contains(from), "{json}");
    let json = json.replace(from, to);
    let line = format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len());
    fs::write(layout.journal(), line + rest).expect("written");
}

#[test]
fn an_engine_of_another_version_goes_on_by_itself() {
    let folder = Folder::new(&wide("auto", 120).replace("10000", "300"));
    let few = |params: &Map<String, Value>| (0..3).map(|j| (element(params, j) - 0.3).powi(2)).sum::<f64>();
    folder.run(How::default(), 50, few);
    pretend(
        &folder.layout(),
        r#""engine":{"name":"auto","version":6}"#,
        r#""engine":{"name":"auto","version":0}"#,
    );
    folder.run(How::default(), 30, few);
    let reading = folder.reading();
    assert_eq!(reading.ledger().chapters().len(), 2);
    let (trials, told, best) = folder.state();
    assert_eq!((trials, told), (80, 80));
    assert!(best < 1e-4, "{best}");
    let own = reading.ledger().trials().skip(50).filter_map(|(_, state)| match &state.source {
        Source::Asked { trial, .. } => Some(trial.purpose),
        Source::Imported(_) => None,
    });
    assert!(own.filter(|purpose| *purpose == Purpose::Exploit).count() > 15);
    folder.goes_on_the_same(few);
}

#[test]
fn evaluations_under_way_are_told_in_the_next_chapter() {
    let mut folder = Folder::new(FEW);
    folder.run(How::default(), 10, bowl);
    let mut study = ByHand::take_new(&folder.layout()).expect("the study");
    let open = study.ask(3, &Unwatched).expect("points");
    let params: Vec<Map<String, Value>> =
        open.iter().map(|one| tribo_study::point::to_json(&study.config().space, &one.point)).collect();
    study.close("test").expect("closed");
    folder.change("high = 2.0", "high = 2.5");
    let mut study = ByHand::take_as(&folder.layout(), ANYWAY).expect("the study");
    let optimiser = study.optimiser().expect("it");
    let pending: Vec<u64> = optimiser.history().pending().map(|trial| trial.id.0).collect();
    assert_eq!(pending, [10, 11, 12]);
    let asked = study.ask(2, &Unwatched).expect("points");
    assert_eq!(asked.iter().map(|one| one.id.0).collect::<Vec<_>>(), [13, 14]);
    for (one, params) in open.iter().zip(&params) {
        study.tell(one.id.0, &Finding::answered(VALUE, bowl(params))).expect("told");
        let shown = study.both().expect("it").1.params(one.id.0).expect("a point");
        assert_eq!(shown, *params);
    }
    study.close("test").expect("closed");
    let reading = folder.reading();
    assert_eq!(reading.optimiser().expect("rebuilt").history().measured().count(), 13);
    assert_eq!(reading.ledger().open().count(), 2);
}

#[test]
fn what_a_parameter_was_is_said_when_it_is_added() {
    let mut folder = Folder::new(FEW);
    folder.run(How::default(), 12, bowl);
    folder.change(
        "[strategy]",
        "[[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0\nhigh = 1\nearlier = 0.5\n[strategy]",
    );
    folder.run(ANYWAY, 2, bowl);
    let next = |file: &str| {
        let copy = tempfile::tempdir().expect("a folder");
        copy_folder(folder.folder.path(), copy.path());
        let layout = Layout::of(&copy.path().join("study.toml"));
        fs::write(layout.file(), file).expect("written");
        let mut study = ByHand::take_new(&layout).expect("the study goes on");
        study.ask(1, &Unwatched).expect("a point").remove(0).point
    };
    // Another value, or none, is too late: the chapter goes on as it began.
    let expected = next(&folder.file);
    assert_eq!(next(&folder.file.replace("earlier = 0.5\n", "")), expected);
    assert_eq!(next(&folder.file.replace("earlier = 0.5", "earlier = 0.9")), expected);
}
