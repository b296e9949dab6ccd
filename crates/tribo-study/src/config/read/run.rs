//! `[run]`: how a point is evaluated, and where.

use super::{result, section_of};
use crate::config::place::Complaint;
use crate::config::view::View;
use crate::config::{Command, Deck, Evaluation, Keep, On, ParamsFormat, Pilots, Retries, Run, Simulated};
use crate::outputs::{Goal, Output};
use crate::scheduler;
use crate::tag::Tag;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use tribo::limit::Limit;
use tribo::space::{Kind, Space};

type Read<T> = Result<T, Complaint>;

/// The section; None if the file has none.
pub(super) fn read(
    file: &View<'_>,
    space: &Space,
    outputs: &[Output],
    limits: &[Limit],
) -> Read<Option<Run>> {
    if file.given("run").is_none() {
        return Ok(None);
    }
    let view = inside(file, "run");
    // Also if it is not the runner, so that its section is checked.
    let simulated = simulated(&view, outputs)?;
    let on = view.text("on");
    let batch = scheduler::ALL.iter().find(|scheduler| on.as_deref() == Some(scheduler.name));
    let on = match (batch, on.as_deref()) {
        (Some(scheduler), _) => On::Batch((scheduler.read)(&inside(&view, scheduler.name))?),
        (None, Some("workers")) => On::Workers,
        (None, Some("simulated")) => On::Simulated(fits(&view, simulated, space, limits)?),
        (None, _) => On::Local,
    };
    let keep = match view.text("keep").as_deref() {
        Some("failed") => Keep::Failed,
        Some("none") => Keep::None,
        _ => Keep::All,
    };
    let evaluation = evaluation(file, &view, matches!(on, On::Simulated(_)), outputs)?;
    let workers = view.integer("workers").unwrap_or(1);
    let pilots = pilots(&view, &on, evaluation.timeout)?;
    let ahead = view.integer("ahead").unwrap_or(0);
    Ok(Some(Run {
        on,
        workers,
        evaluation,
        retries: retries(&view)?,
        keep,
        warning: view.duration("warning"),
        pilots,
        ahead,
    }))
}

fn inside<'a>(view: &View<'a>, name: &str) -> View<'a> {
    view.inside(name, section_of(view.section(), name))
}

/// What pilots are to be; None if the section is not there, or there is no scheduler.
fn pilots(run: &View<'_>, on: &On, timeout: Option<Duration>) -> Read<Option<Pilots>> {
    let On::Batch(settings) = on else { return Ok(None) };
    if run.given("pilots").is_none() && !settings.takes_pilots_only() {
        return Ok(None);
    }
    let view = inside(run, "pilots");
    if let (Some(timeout), Some(time)) = (timeout, settings.time())
        && time <= timeout + Duration::from_secs(60)
    {
        let message = "a pilot lives for the `time` of the scheduler's section, which is too short for even one \
                       evaluation of `timeout`; give it hours";
        return Err(run.complaint("pilots", message));
    }
    let idle = view.duration("idle").unwrap_or_default();
    Ok(Some(Pilots { slots: view.integer("slots").unwrap_or(1), idle }))
}

/// The test problem; None if the section is not there.
fn simulated(run: &View<'_>, outputs: &[Output]) -> Read<Option<Simulated>> {
    let view = inside(run, "simulated");
    let Some(problem) = view.text("problem") else { return Ok(None) };
    let both = || view.duration("duration").map(|duration| vec![duration; 2]);
    let duration = match view.durations("duration").or_else(both).as_deref() {
        Some(&[shortest, longest]) => (shortest, longest),
        _ => (Duration::ZERO, Duration::ZERO),
    };
    if duration.0 > duration.1 {
        let message = "`duration` has the longer time first; write the shortest, then the longest";
        return Err(view.complaint("duration", message));
    }
    let objective = outputs.iter().find(|output| output.goal != Goal::Record);
    let objective = objective.map(|output| output.name.clone()).unwrap_or_default();
    Ok(Some(Simulated { problem, objective, duration }))
}

/// The test problem, if it is there and fits the space.
fn fits(run: &View<'_>, simulated: Option<Simulated>, space: &Space, limits: &[Limit]) -> Read<Simulated> {
    if let Some(limit) = limits.first() {
        let message = format!(
            "test problems give one number, so `{limit}` could never be met; leave the limit out, or use another runner"
        );
        return Err(run.complaint("on", message));
    }
    let Some(simulated) = simulated else {
        let message =
            "on = \"simulated\" needs a section [run.simulated] with a problem, such as problem = \"sphere\"";
        return Err(run.complaint("on", message));
    };
    let view = inside(run, "simulated");
    let name = &simulated.problem;
    let numeric = |kind: &Kind| !matches!(kind, Kind::Categorical { .. });
    if let Some(parameter) = space.parameters().iter().find(|parameter| !numeric(parameter.kind())) {
        let message = format!(
            "the test problem {name} is a function of numbers, but `{}` is categorical",
            parameter.name()
        );
        return Err(view.complaint("problem", message));
    }
    match tribo::problems::by_name(name, space.n_inputs()) {
        Ok(_) => Ok(simulated),
        Err(error) => Err(view.complaint("problem", error.to_string())),
    }
}

fn evaluation(file: &View<'_>, run: &View<'_>, simulated: bool, outputs: &[Output]) -> Read<Evaluation> {
    let command = match (run.text("command"), run.texts("command")) {
        (Some(line), _) => Command::Shell(line),
        (None, Some(words)) => Command::Argv(words),
        (None, None) if simulated => Command::Argv(vec![]),
        (None, None) => return Err(run.missing("command")),
    };
    let blank = match &command {
        Command::Shell(line) => line.trim().is_empty(),
        Command::Argv(words) => words.first().is_some_and(|program| program.trim().is_empty()),
    };
    if blank {
        return Err(run.complaint("command", "`command` names no program; write it first"));
    }
    let params = match run.text("params").as_deref() {
        Some("dakota") => ParamsFormat::Dakota,
        Some("aprepro") => ParamsFormat::Aprepro,
        _ => ParamsFormat::Json,
    };
    let (result, outputs) = result::read(file, run, params, outputs)?;
    let evaluation = Evaluation {
        command,
        timeout: run.duration("timeout"),
        params,
        result,
        outputs,
        decks: decks(run)?,
        copy: paths(run, "copy"),
        link: paths(run, "link"),
        scratch: run.text("scratch"),
        fetch: fetched(run)?,
        env: run.names("env").into_iter().collect(),
        capture: run.size("capture").unwrap_or(0),
        retry_exit_code: run.integer("retry_exit_code").unwrap_or(0),
        infeasible_exit_code: run.integer("infeasible_exit_code").unwrap_or(0),
    };
    if evaluation.retry_exit_code == evaluation.infeasible_exit_code {
        let given =
            ["infeasible_exit_code", "retry_exit_code"].into_iter().find(|key| run.given(key).is_some());
        let code = evaluation.retry_exit_code;
        let message =
            format!("`retry_exit_code` and `infeasible_exit_code` are both {code}; give each its own");
        return Err(run.complaint(given.unwrap_or("retry_exit_code"), message));
    }
    Ok(evaluation)
}

/// What comes back from the scratch folder.
fn fetched(run: &View<'_>) -> Read<Vec<PathBuf>> {
    let fetch = paths(run, "fetch");
    let inside = |path: &&PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    if let Some(path) = fetch.iter().find(|path| !inside(path) || path.as_os_str().is_empty()) {
        let message = format!("`fetch` has {path:?}, which is no name of a file or folder inside `scratch`");
        return Err(run.complaint("fetch", message));
    }
    Ok(fetch)
}

fn paths(view: &View<'_>, key: &str) -> Vec<PathBuf> {
    view.texts(key).unwrap_or_default().into_iter().map(PathBuf::from).collect()
}

fn decks(run: &View<'_>) -> Read<Vec<Deck>> {
    let (mut decks, mut names) = (Vec::new(), BTreeSet::new());
    for view in run.sections("deck", section_of(run.section(), "deck")) {
        let template = PathBuf::from(view.text("template").ok_or_else(|| view.missing("template"))?);
        let own_name = || template.file_name().map(PathBuf::from);
        let Some(to) = view.text("to").map(PathBuf::from).or_else(own_name) else {
            return Err(view.complaint("template", "`template` names no file; write the path of one"));
        };
        // Compared without the `./` in front.
        if !names.insert(Path::new(".").join(&to).components().collect::<PathBuf>()) {
            let message = format!("two decks become {}; give each its own `to`", to.display());
            return Err(view.complaint("to", message));
        }
        let (open, close) = (view.text("open").unwrap_or_default(), view.text("close").unwrap_or_default());
        decks.push(Deck { template, to, open, close });
    }
    Ok(decks)
}

fn retries(run: &View<'_>) -> Read<Retries> {
    let view = inside(run, "retries");
    let retry = |key: &str| view.integer(key).unwrap_or(0);
    let retries = Retries {
        transient: run.integer("retries").unwrap_or_else(|| retry("transient")),
        infrastructure: retry("infrastructure"),
        failed: retry("failed"),
        timeout: retry("timeout"),
        memory: retry("memory"),
        delay: run.duration("retry_delay").unwrap_or_default(),
    };
    let Retries { transient, infrastructure, failed, timeout, memory, delay: _ } = retries;
    let all = transient + infrastructure + failed + timeout + memory;
    let most = Tag::ATTEMPTS - 1;
    if all > most {
        let message = format!("these are {all} retries of one evaluation; {most} in all are possible");
        return Err(run.complaint("retries", message));
    }
    Ok(retries)
}
