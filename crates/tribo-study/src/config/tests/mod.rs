//! Study files, good and bad.

mod agreement;
mod errors;
mod identity;
mod mutations;
mod schema_validator;

use super::*;
use crate::scheduler::pbs::PbsSettings;
use crate::scheduler::slurm::SlurmSettings;
use std::path::Path;
use tribo::acquisition::maximize::{CmaesSearch, Search};
use tribo::embed;
use tribo::space::{Kind, Scale};
use tribo::strategy::{Acquisition, Design, InducingPoints, Initial, Maximizer, Process, Quota, Settings};
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::sparse::{Approximation, Objective};

/// A file with every section.
const COMPLETE: &str = include_str!("complete.toml");

/// The smallest file: a study for `tribo ask` and `tribo tell`.
const SMALLEST: &str = "study_version = 1
direction = \"maximize\"
[[parameter]]
name = \"x\"
type = \"float\"
low = 0
high = 1
[budget]
evaluations = 10
";

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("folder/wing.toml"), text)
}

fn good(text: &str) -> Config {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The smallest file with further lines at its end.
fn with(lines: &str) -> String {
    format!("{SMALLEST}{lines}")
}

fn run_of(lines: &str) -> Run {
    good(&with(&format!("[run]\n{lines}"))).run.unwrap()
}

#[test]
fn the_smallest_file_has_the_defaults() {
    let config = good(SMALLEST);
    assert_eq!((config.name.as_str(), config.direction, config.seed), ("wing", Direction::Maximize, 0));
    assert_eq!(config.strategy, Strategy::auto());
    assert_eq!(config.budget, Budget { evaluations: Some(10), wall_time: None, target: None });
    assert_eq!(config.run, None);
    let run = run_of("command = [\"./f\"]");
    let evaluation = Evaluation::of(Command::Argv(vec!["./f".into()]));
    let expected = Run {
        on: On::Local,
        workers: 1,
        evaluation,
        retries: Retries::default(),
        keep: Keep::All,
        warning: None,
        pilots: None,
        ahead: 0,
    };
    assert_eq!(run, expected);
}

#[test]
fn the_complete_file_has_its_values() {
    let config = good(COMPLETE);
    assert_eq!((config.name.as_str(), config.direction, config.seed), ("wing", Direction::Minimize, 7));
    let kinds: Vec<&Kind> = config.space.parameters().iter().map(|parameter| parameter.kind()).collect();
    assert_eq!(kinds[0], &Kind::Float { low: -5.0, high: 15.0, scale: Scale::Linear });
    assert_eq!(kinds[1], &Kind::Float { low: 1e4, high: 1e7, scale: Scale::Log });
    assert_eq!(kinds[2], &Kind::Int { low: 4, high: 24, scale: Scale::Linear });
    assert_eq!(config.space.n_inputs(), 24);
    let Strategy::Bo(settings) = &config.strategy else { panic!("{:?}", config.strategy) };
    assert_eq!(settings.embedding, embed::Kind::Hashing { dim: 8, signs: false });
    assert_eq!(settings.acquisition, Acquisition::Ucb { delta: 0.1 });
    assert_eq!(settings.quota, Quota { exploit: 12, explore: 4, border: 0 });
    let wall_time = Some(Duration::from_secs(60 * 3600));
    assert_eq!(config.budget, Budget { evaluations: Some(400), wall_time, target: Some(0.02) });
    let run = config.run.unwrap();
    assert_eq!((run.workers, run.keep), (16, Keep::Failed));
    let delay = Duration::from_secs(30);
    let retries = Retries { transient: 4, infrastructure: 5, failed: 0, timeout: 1, memory: 0, delay };
    assert_eq!(run.retries, retries);
    let On::Batch(settings) = &run.on else { panic!("{:?}", run.on) };
    let slurm: &SlurmSettings = settings.of().unwrap();
    assert_eq!(slurm.partition.as_deref(), Some("batch"));
    assert_eq!((slurm.time, slurm.poll), (Some(Duration::from_secs(3600)), Duration::from_secs(30)));
    assert_eq!((slurm.cpus, slurm.requeue, slurm.setup.len()), (Some(4), true, 2));
    let evaluation = run.evaluation;
    let (file, pattern) = (Some("solver.log".into()), r"drag\s*=\s*(\S+)".into());
    assert_eq!(evaluation.result, ResultSource::Regex { file, pattern, occurrence: Occurrence::Last });
    assert_eq!(evaluation.capture, 4_000_000);
    assert_eq!(evaluation.timeout, Some(Duration::from_secs(45 * 60)));
    assert_eq!(evaluation.env, BTreeMap::from([("OMP_NUM_THREADS".to_owned(), "4".to_owned())]));
    let decks: Vec<(&Path, &str, &str)> = evaluation
        .decks
        .iter()
        .map(|deck| (deck.to.as_path(), deck.open.as_str(), deck.close.as_str()))
        .collect();
    assert_eq!(decks, [(Path::new("wing.in"), "{{", "}}"), (Path::new("mesh.in"), "<<", ">>")]);
}

#[test]
fn one_file_can_switch_between_runners() {
    let pbs = good(&COMPLETE.replace("on = \"slurm\"", "on = \"pbs\"")).run.unwrap().on;
    let On::Batch(settings) = &pbs else { panic!("{pbs:?}") };
    let pbs: &PbsSettings = settings.of().unwrap();
    assert_eq!((pbs.queue.as_deref(), pbs.poll), (Some("workq"), Duration::from_secs(45)));
    assert_eq!(pbs.options, ["-p", "10"]);
    let On::Batch(settings) = run_of("command = \"./f\"\non = \"slurm\"").on else { panic!() };
    let slurm = SlurmSettings { poll: Duration::from_secs(60), ..SlurmSettings::default() };
    assert_eq!(settings.of(), Some(&slurm));
    let run = run_of("on = \"simulated\"\n[run.simulated]\nproblem = \"levy\"\nduration = \"1h\"");
    let hour = Duration::from_secs(3600);
    assert_eq!(
        run.on,
        On::Simulated(Simulated { problem: "levy".into(), objective: VALUE.into(), duration: (hour, hour) })
    );
    assert_eq!(run.evaluation.command, Command::Argv(vec![]));
}

#[test]
fn results_and_retries_in_short_and_in_long() {
    let result = |lines: &str| run_of(&format!("command = \"./f\"\n{lines}")).evaluation.result;
    let dakota = ResultSource::Dakota { file: "results.out".into(), response: Response::Only };
    assert_eq!(result("params = \"aprepro\""), dakota);
    assert_eq!(result("result = \"dakota\""), dakota);
    assert_eq!(result("result = \"stdout\"\nparams = \"dakota\""), ResultSource::Stdout);
    let json = ResultSource::Json { file: "out.json".into(), key: "drag".into() };
    assert_eq!(result("result = { from = \"json\", file = \"out.json\", key = \"drag\" }"), json);
    let csv = ResultSource::Csv { file: "t.csv".into(), column: "drag".into(), row: Occurrence::Nth(3) };
    assert_eq!(result("[run.result]\nfrom = \"csv\"\nfile = \"t.csv\"\ncolumn = \"drag\"\nrow = 3"), csv);
    let (file, pattern, occurrence) = (None, "(x)".into(), Occurrence::Only);
    let regex = ResultSource::Regex { file, pattern, occurrence };
    assert_eq!(result("[run.result]\nfrom = \"regex\"\npattern = \"(x)\""), regex);
    let retries = run_of("command = \"./f\"\nretries = 5").retries;
    assert_eq!(retries, Retries { transient: 5, ..Retries::default() });
}

#[test]
fn strategies_without_keys_are_those_of_the_library() {
    let of = |lines: &str| good(&with(&format!("[strategy]\n{lines}"))).strategy;
    assert_eq!(of("name = \"random\""), Strategy::Random);
    assert_eq!(of("name = \"auto\""), Strategy::auto());
    assert_eq!(of(""), Strategy::auto());
    assert_eq!(of("name = \"bo\""), Strategy::Bo(Settings::bo()));
    // One input: the model cannot have more coordinates.
    assert_eq!(of("name = \"paper\""), Strategy::Paper(Settings::paper(1)));
    let many = |lines: &str| good(&with(lines).replace("high = 1\n", "high = 1\nsize = 100\n")).strategy;
    assert_eq!(many("[strategy]\nname = \"paper\""), Strategy::Paper(Settings::paper(10)));
    assert_eq!(many("[strategy]\nname = \"paper\"\nmodel_dim = 25"), Strategy::Paper(Settings::paper(25)));
}

#[test]
fn every_setting_can_be_reached() {
    let lines = "[strategy]
name = \"paper\"
embedding = \"hashing\"\nmodel_dim = 3\nsigns = false\nembeddings = 4
initial = 9\ndesign = \"sobol\"\nkernel = \"se\"\nard = true\npriors = true
exact_until = 7\ninducing = 50\ninducing_points = \"subset\"\napproximation = \"pitc\"\ngroup = 16\nobjective = \"marginal\"
acquisition = \"kg\"\nmaximizer = \"gradient\"\nmaximizer_evaluations = 11\ncandidates = 12\nstarts = 13\nrounds = 14\nspread = 0.2
exploit = 3\nexplore = 2\nborder = 1\nrefit_always_until = 5\nrefit_growth = 2\ntrust_region = true\nwarp = false
";
    let expected = Settings {
        embedding: embed::Kind::Hashing { dim: 3, signs: false },
        n_embeddings: 4,
        initial: Initial { count: Some(9), design: Design::Sobol },
        surrogate: tribo::strategy::SurrogateSettings {
            shape: Shape::SquaredExponential,
            ard: true,
            priors: true,
            process: Process::Sparse {
                exact_until: 7,
                n_inducing: 50,
                inducing: InducingPoints::Subset,
                approximation: Approximation::Pitc { group: 16 },
                objective: Objective::Marginal,
            },
        },
        acquisition: Acquisition::Kg,
        maximizer: Maximizer::Gradient(Search {
            candidates: 12,
            starts: 13,
            rounds: 14,
            evaluations: 11,
            spread: 0.2,
        }),
        quota: Quota { exploit: 3, explore: 2, border: 1 },
        refit_always_until: 5,
        refit_growth: 2.0,
        trust_region: true,
        warp: false,
    };
    let file = with(lines).replace("high = 1\n", "high = 1\nsize = 100\n");
    assert_eq!(good(&file).strategy, Strategy::Paper(expected));
    let cmaes = "name = \"bo\"\nmaximizer = \"cmaes\"\nmaximizer_evaluations = 9\nsigma = 0.5\npopulation = 6\nprocess = \"exact\"";
    let Strategy::Bo(settings) = good(&with(&format!("[strategy]\n{cmaes}"))).strategy else { panic!() };
    let search = CmaesSearch { evaluations: 9, sigma: 0.5, population: Some(6) };
    assert_eq!((settings.maximizer, settings.surrogate.process), (Maximizer::Cmaes(search), Process::Exact));
}

#[test]
fn toml_can_be_written_in_other_ways() {
    let inline = "study_version = 1\ndirection = 'maximize'\nbudget.evaluations = 0xA\nparameter = [{ name = 'x', \
                  type = 'float', low = 0.0, high = 1.0 }]\nrun = { command = ['./f'], env = { A = '' } }\n";
    let config = good(inline);
    assert_eq!(config.identity, good(SMALLEST).identity);
    assert_eq!(config.run.unwrap().evaluation.env["A"], "");
    good(&SMALLEST.replace('\n', "\r\n"));
    good(&format!("\u{feff}{SMALLEST}"));
}

#[test]
fn outputs_are_found_under_their_names() {
    let head = SMALLEST.replace("direction = \"maximize\"\n", "");
    let file = |run: &str| {
        good(&format!(
            "{head}[[output]]\nname = \"mass\"\ngoal = \"record\"\n[[output]]\nname = \"drag\"\ngoal = \"maximize\"\n\
             [run]\ncommand = \"./f\"\n{run}"
        ))
    };
    let config = file("");
    assert_eq!((config.objective(), config.direction), ("drag", Direction::Maximize));
    let named: Vec<(&str, Goal)> =
        config.outputs.iter().map(|output| (output.name.as_str(), output.goal)).collect();
    assert_eq!(named, [("mass", Goal::Record), ("drag", Goal::Maximize)]);
    let sources = |run: &str| {
        let evaluation = file(run).run.unwrap().evaluation;
        assert_eq!(evaluation.result, evaluation.outputs[1].source);
        assert!(evaluation.outputs[1].objective && !evaluation.outputs[0].objective);
        evaluation.outputs.into_iter().map(|sought| sought.source).collect::<Vec<_>>()
    };
    let json = |key: &str| ResultSource::Json { file: "result.json".into(), key: key.into() };
    assert_eq!(sources(""), [json("mass"), json("drag")]);
    assert_eq!(sources("result = { from = \"json\", key = \"d\" }"), [json("mass"), json("d")]);
    let csv =
        |column: &str| ResultSource::Csv { file: "t".into(), column: column.into(), row: Occurrence::Last };
    let table = "result = { from = \"csv\", file = \"t\", row = \"last\" }";
    assert_eq!(sources(table), [csv("mass"), csv("drag")]);
    let response = |number, descriptor: &str| ResultSource::Dakota {
        file: "results.out".into(),
        response: Response::Usual {
            descriptor: descriptor.into(),
            number,
            of: vec!["mass".into(), "drag".into()],
        },
    };
    assert_eq!(sources("result = \"dakota\""), [response(1, "mass"), response(2, "drag")]);
    let short = good(&SMALLEST.replace("maximize", "minimize"));
    assert_eq!((short.objective(), short.outputs.len()), (VALUE, 1));
    let long = "[[output]]\nname = \"value\"\ngoal = \"minimize\"\n[[parameter]]";
    assert_eq!(good(&head.replace("[[parameter]]", long)).identity, short.identity);
}

#[test]
fn the_reference_in_the_documents_is_the_one_of_this_code() {
    let kept = include_str!("../../../../../docs/reference/study-file.md");
    let advice = "run `cargo run -p tribo-study --example study_file > docs/reference/study-file.md`";
    assert!(
        kept == reference::markdown(),
        "docs/reference/study-file.md is not what the code says: {advice}"
    );
    assert_eq!(good(reference::EXAMPLE).space.parameters().len(), 1);
}

#[test]
fn the_reference_names_every_section_and_key() {
    let page = reference::markdown();
    for section in keys::ROOT.all() {
        for key in section.keys {
            assert!(page.contains(&format!("| `{}` |", key.name)), "{}.{}", section.path, key.name);
            assert!(
                key.doc.ends_with('.') && !key.doc.contains(". ") || key.name == "command",
                "{}: one sentence",
                key.name
            );
        }
    }
    assert!(page.contains("## `[[parameter]]`") && page.contains("## `[run.slurm]`"));
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(page.lines().filter(|line| line.starts_with('|')).all(|line| cells(line) == 5));
}
