//! From text to [`Config`]. First the checks that follow from the list of keys, then the values, then what they mean
//! together; whatever is wrong is reported at the key or value concerned.

mod constraint;
mod limit;
mod output;
mod result;
mod run;
mod space;
mod strategy;

use super::check::check;
use super::identity::Identity;
use super::keys::{PARAMETER, ROOT, STRATEGY, Section};
use super::place::{Complaint, line_and_column};
use super::view::View;
use super::{Budget, Config, ConfigError, Readers, STUDY_VERSION};
use crate::error::{Error, Result};
use crate::layout::Layout;
use std::path::Path;
use toml::de::DeTable;
use tribo::strategy::{Strategy, looks_at_budget};

impl Config {
    /// Reads a study file.
    pub fn read(path: &Path) -> Result<Config> {
        Config::read_with_text(path).map(|(config, _)| config)
    }

    /// Reads a study file, and gives its text too.
    pub fn read_with_text(path: &Path) -> Result<(Config, String)> {
        if path.is_dir() {
            let what =
                "this is a folder, not a study file; name the file, or make one with `tribo init`".to_owned();
            return Err(Error::Missing { path: path.to_owned(), what });
        }
        let bytes = std::fs::read(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Layout::of(path).missing(),
            _ => Error::io("cannot read", path)(source),
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok((Config::parse(path, text)?, text.to_owned())),
            Err(error) => {
                let readable = &bytes[..error.valid_up_to()];
                let text = std::str::from_utf8(readable).unwrap_or_default();
                let message = "this is not UTF-8; save the file with the encoding UTF-8".to_owned();
                Err(complain(path, text, Complaint::new(text.len(), message)).into())
            }
        }
    }

    /// Reads the text of a study file. `path` names it in messages, and the study if the text does not; nothing is read
    /// from there.
    pub fn parse(path: &Path, text: &str) -> std::result::Result<Config, ConfigError> {
        let file = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            complain(path, text, Complaint::new(at, format!("this is not TOML: {}", error.message())))
        })?;
        config(path, file.get_ref()).map_err(|complaint| complain(path, text, complaint))
    }
}

/// A complaint about a parameter, at its name in the text of its study file.
pub fn about_parameter(path: &Path, text: &str, name: &str, message: String) -> ConfigError {
    let file = DeTable::parse(text).ok();
    let view = View::new(&ROOT, file.as_ref().map(|file| file.get_ref()), 0);
    let sections = view.sections("parameter", &PARAMETER);
    let at = sections.iter().find(|section| section.text("name").as_deref() == Some(name));
    let complaint = match at {
        Some(section) => section.complaint("name", message),
        None => Complaint::new(0, message),
    };
    complain(path, text, complaint)
}

fn complain(path: &Path, text: &str, Complaint { at, message }: Complaint) -> ConfigError {
    let (line, column) = line_and_column(text, at);
    ConfigError { path: path.to_owned(), line, column, message }
}

fn config(path: &Path, file: &DeTable<'_>) -> std::result::Result<Config, Complaint> {
    let view = View::new(&ROOT, Some(file), 0);
    // Before anything else: a file of another version may have other keys.
    if let Some(version) = view.integer::<i64>("study_version")
        && version != i64::from(STUDY_VERSION)
    {
        let message = format!(
            "`study_version` is {version}; this program knows version {STUDY_VERSION}: use a tribo that knows {version}"
        );
        return Err(view.complaint("study_version", message));
    }
    check(file)?;
    let (outputs, direction, limits) = output::read(&view)?;
    let seed = view.integer("seed").unwrap_or(0);
    let (space, earlier, unused) = space::read(&view)?;
    let space = constraint::read(&view, space, &outputs)?;
    let budget = budget(&view);
    let strategy_view = view.inside("strategy", &STRATEGY);
    let strategy = strategy::read(&strategy_view, &space)?;
    let run = run::read(&view, &space, &outputs, &limits)?;
    // Whoever asks by hand knows when to stop; a driver has to be told.
    if run.is_some() && view.given("budget").is_none() {
        return Err(view.missing("budget"));
    }
    let decisive =
        budget.evaluations.filter(|_| matches!(strategy, Strategy::Auto(_)) && looks_at_budget(&space));
    let identity =
        Identity::new(&view, &outputs, &limits, space.constraints(), &strategy, decisive).to_text();
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = view.text("name").or_else(stem).unwrap_or_else(|| "study".to_owned());
    Ok(Config {
        name,
        outputs,
        limits,
        direction,
        seed,
        space,
        earlier,
        unused,
        strategy,
        budget,
        run,
        readers: readers(&view),
        report: view.flag("report"),
        identity,
    })
}

fn readers(file: &View<'_>) -> Readers {
    match file.text("readable_by").as_deref() {
        Some("group") => Readers::Group,
        Some("everyone") => Readers::Everyone,
        _ => Readers::Owner,
    }
}

fn budget(file: &View<'_>) -> Budget {
    let budget = file.inside("budget", section_of(file.section(), "budget"));
    Budget {
        evaluations: budget.integer("evaluations"),
        wall_time: budget.duration("wall_time"),
        target: budget.number("target"),
    }
}

/// The section a key of the description stands for.
fn section_of(section: &'static Section, name: &str) -> &'static Section {
    section.key(name).and_then(|key| key.kind.sections().first().copied()).unwrap_or(section)
}
