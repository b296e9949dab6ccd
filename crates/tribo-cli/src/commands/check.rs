//! `tribo check`: reads the study file and the templates of its decks, asks the scheduler, and runs one real evaluation at
//! the middle of the space.
//!
//! A study of SLURM or PBS is checked on a login node, where a heavy evaluation is not welcome: there it is only run when
//! `--run` asks for it, and it is said where it runs.
//!
//! The evaluation is made as in a study, by `tribo job` in a folder of its own, but in a store of its own that is removed
//! when all is well. The journal of the study is not touched.

use crate::args::StudyPath;
use crate::failure::{EVALUATOR, Failure, OK, Outcome};
use crate::signals::Signals;
use crate::{output, place, study};
use clap::Args;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tribo::limit::Limit;
use tribo_study::config::{Budget, Config, On, Run};
use tribo_study::driver::{Interrupt, Interrupts};
use tribo_study::job::params::Params;
use tribo_study::job::{Answer, Kind};
use tribo_study::layout::Layout;
use tribo_study::report::text;
use tribo_study::{Error, job};

/// Between two looks whether the evaluation has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Lines of standard error that are shown.
const TAIL: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    study: StudyPath,
    /// Only read the study file and the templates of its input decks.
    #[arg(long, conflicts_with = "run")]
    no_run: bool,
    /// Run one evaluation on this machine, also for a study of SLURM or PBS.
    #[arg(long)]
    run: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layout = options.study.layout();
    let config = study::config(&layout)?;
    output::note(&format!(
        "{}: {}, {}",
        layout.file().display(),
        text::count(config.space.parameters().len(), "parameter"),
        text::count(config.space.n_inputs(), "input")
    ));
    if let Some(region) = config.space.region() {
        let share = match region.share() {
            share if share < 0.01 => "less than 1 % of all points meet".to_owned(),
            share => format!("about {:.0} % of all points meet", 100.0 * share),
        };
        let n = config.space.constraints().len();
        let them = if n == 1 { "it" } else { "them" };
        output::note(&format!("{}; {share} {them}, and all proposals do", text::count(n, "constraint")));
    }
    if let Some(difference) = study::difference(&layout, &config)? {
        output::warning(&difference.to_string());
    }
    let Some(run) = &config.run else {
        output::note("no [run] section: points are evaluated by hand, with `tribo ask` and `tribo tell`");
        return Ok(OK);
    };
    let params = study::middle(&config)?;
    if let Err(wrong) = check_files(&layout, run, &params) {
        output::error(&wrong);
        return Ok(EVALUATOR);
    }
    if let Some(fault) = study::name_fault(&layout, &config)? {
        return Err(Error::Config(fault).into());
    }
    if options.no_run {
        return Ok(OK);
    }
    if let On::Batch(_) | On::Workers = run.on {
        let mut runner = place::runner(&layout, &study::id(&layout)?, run)?;
        output::note(&runner.rehearse()?);
        let name = runner.name();
        let study = output::named(&layout);
        if !options.run {
            output::note(&format!(
                "no evaluation was tried, since this machine is not where jobs run; `tribo check --run{study}` tries one here, `tribo run{study}` starts the study"
            ));
            return Ok(OK);
        }
        output::note(&format!(
            "the evaluation runs on this machine, {}, and not as a job of {name}",
            job::host()
        ));
    }
    if let On::Simulated(simulated) = &run.on {
        output::note(&format!("evaluations are simulated: {}", simulated.problem));
        return Ok(OK);
    }
    evaluate(&layout, &config, run, &params)
}

/// Files to copy and link, and decks, with the same words as an evaluation would have.
fn check_files(layout: &Layout, run: &Run, params: &Map<String, Value>) -> Result<(), String> {
    let json = Value::Object(params.clone()).to_string();
    let params = Params::read(json.as_bytes()).map_err(|error| error.to_string())?;
    job::check_files(&run.evaluation, layout.folder(), &params)?;
    let decks = run.evaluation.decks.len();
    if decks > 0 {
        output::note(&format!("{}: all names are known", text::count(decks, "input deck")));
    }
    Ok(())
}

fn evaluate(layout: &Layout, config: &Config, run: &Run, params: &Map<String, Value>) -> Outcome {
    output::note(&format!(
        "one evaluation at the middle of the space:\n{}",
        output::point(params).trim_end()
    ));
    let trial = study::Scratch::new(layout, run, params)?;
    let program = place::program()?;
    if let Some(code) = perform(&program, &trial.dir)? {
        trial.remove();
        output::note("interrupted; the evaluation was ended");
        return Ok(code);
    }
    let path = trial.dir.join(job::ANSWER_FILE);
    let bytes = fs::read(&path).map_err(|_| Error::Evaluator {
        reason: format!("it left no answer; see {}", trial.dir.display()),
    })?;
    let answer: Answer = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    if answer.finding.kind != Kind::Ok {
        let code = answer.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
        output::error(&format!(
            "the evaluation gave no value ({}{code}): {}",
            answer.finding.kind.name(),
            answer.finding.reason
        ));
        let tail = match answer.stderr_tail.is_empty() {
            true => study::stderr_tail(&trial.dir, TAIL),
            false => answer.stderr_tail.clone(),
        };
        if !tail.trim().is_empty() {
            output::note("the end of its standard error:");
            tail.lines().for_each(|line| output::note(&format!("  {line}")));
        }
        output::note(&format!("its folder is {}", trial.dir.display()));
        return Ok(EVALUATOR);
    }
    let places = job::extract::places(&run.evaluation, &trial.dir, &trial.dir.join(job::STDOUT_FILE));
    trial.remove();
    let outputs = answer.finding.outputs.to_json(&config.outputs);
    let lines: String = outputs.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    output::print(&lines)?;
    for (name, place) in places {
        output::note(&format!("{name} is read from {place}"));
    }
    if !answer.finding.reason.is_empty() {
        output::warning(&answer.finding.reason);
    }
    for limit in &config.limits {
        match answer.finding.outputs.get(limit.name()) {
            Some(value) if limit.is_met(value) => output::note(&format!("{limit} is met here")),
            Some(value) => output::note(&format!("{limit} is not met here: it is {}", text::number(value))),
            None => output::warning(&format!(
                "{limit}: the evaluation did not give it, so its trial would not be feasible"
            )),
        }
    }
    let code = answer.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    output::note(&format!("it took {}{code}", text::duration(answer.wall_s)));
    if let Some(estimate) = estimate(&config.budget, run.workers, answer.wall_s) {
        output::note(&estimate);
    }
    let is_missing = |limit: &&Limit| answer.finding.outputs.get(limit.name()).is_none();
    let missing: Vec<&str> = config.limits.iter().filter(is_missing).map(Limit::name).collect();
    let starts = format!("`tribo run{}` starts the study", output::named(layout));
    output::note(&match missing[..] {
        [] => format!("all is well; {starts}"),
        _ => format!(
            "if every evaluation should give {}, look at how it is called and where it is read from; then {starts}",
            missing.join(", ")
        ),
    });
    Ok(OK)
}

/// Runs the evaluation to its end. If someone interrupts, everything that it started is ended first; the exit code for that.
fn perform(program: &Path, dir: &Path) -> Result<Option<u8>, Failure> {
    let signals =
        Signals::catch(|_| output::note("ending the evaluation; Ctrl-C three times leaves it"), || ())
            .map_err(|error| Failure::usage(format!("signals cannot be caught: {error}")))?;
    let job = Command::new(program).arg("job").arg("--dir").arg(dir).stdin(Stdio::null()).spawn();
    let mut job = job.map_err(Error::io("cannot start", program))?;
    let mut asked = false;
    loop {
        if job.try_wait().map_err(Error::io("cannot wait for", program))?.is_some() {
            return Ok(asked.then(|| signals.exit_code()));
        }
        if !asked && signals.interrupt() != Interrupt::None {
            fs::write(dir.join(job::CANCEL_FILE), "").map_err(Error::io("cannot write", dir))?;
            asked = true;
        }
        std::thread::sleep(LOOK);
    }
}

/// What the whole study would take, if every evaluation took as long.
fn estimate(budget: &Budget, workers: usize, wall_s: f64) -> Option<String> {
    let evaluations = budget.evaluations?;
    let machine = wall_s * evaluations as f64;
    let workers = workers.min(evaluations).max(1);
    Some(format!(
        "{} like this: {} of machine time, {} with {}",
        text::count(evaluations, "evaluation"),
        text::duration(machine),
        text::duration(machine / workers as f64),
        text::count(workers, "worker")
    ))
}
