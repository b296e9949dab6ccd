//! The attempt's folder, made ready: files copied and linked from the study folder, decks rendered, parameters written,
//! answers of the past removed.
//!
//! The error of every step is a text for people: the attempt could not be started, and why. The names of the job's own
//! files are not available to decks and copies. An answer that comes with the copied files is removed before the command
//! starts, lest it be taken for the command's own; it is only removed inside the attempt's folder, never through a link.

use super::extract::answer_files;
use super::params::{DAKOTA_FILE, Params};
use super::{
    ANSWER_FILE, CANCEL_FILE, CLAIM_FILE, PARAMS_FILE, SPEC_FILE, STARTED_FILE, STDERR_FILE, STDOUT_FILE,
    Spec,
};
use super::{deck, heartbeat::HEARTBEAT_FILE};
use crate::config::{Deck, Evaluation, ParamsFormat, Response, ResultSource};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// Names of the job's own files.
pub(super) const RESERVED: [&str; 9] = [
    SPEC_FILE,
    PARAMS_FILE,
    ANSWER_FILE,
    CLAIM_FILE,
    CANCEL_FILE,
    STARTED_FILE,
    STDOUT_FILE,
    STDERR_FILE,
    HEARTBEAT_FILE,
];

/// The hexadecimal SHA-256 of a text.
pub fn digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the parameters in the attempt's folder and makes `work` ready, the folder in which the command works; gives the
/// parameters and the file the command will read them from.
pub(super) fn prepare(
    spec: &Spec,
    attempt: &Path,
    work: &Path,
    study: &Path,
) -> Result<(Params, PathBuf), String> {
    let evaluation = &spec.evaluation;
    let text = fs::read(attempt.join(PARAMS_FILE))
        .map_err(|error| format!("{PARAMS_FILE} cannot be read: {error}"))?;
    let found = digest(&text);
    if found != spec.params_digest {
        let wanted = &spec.params_digest;
        return Err(format!(
            "{PARAMS_FILE} is not the one the driver wrote (SHA-256 {found}, not {wanted}); was it edited?"
        ));
    }
    let params = Params::read(&text).map_err(|error| format!("{PARAMS_FILE} cannot be used: {error}"))?;
    let store = attempt.ancestors().nth(3).unwrap_or(attempt);
    for path in &evaluation.copy {
        copy(&study.join(path), &place(work, path)?, store)?;
    }
    for path in &evaluation.link {
        link(&study.join(path), &place(work, path)?)?;
    }
    for deck in &evaluation.decks {
        render(deck, work, study, &params)?;
    }
    let file = match evaluation.params {
        ParamsFormat::Json => work.join(PARAMS_FILE),
        format => {
            let path = work.join(DAKOTA_FILE);
            write(&path, params.dakota(format, spec.id.trial, &responses(evaluation)).as_bytes())?;
            path
        }
    };
    for name in answer_files(evaluation) {
        remove_stale(work, name)?;
    }
    Ok((params, file))
}

/// What Dakota's parameters file calls the responses that are wanted, in their order.
fn responses(evaluation: &Evaluation) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for sought in &evaluation.outputs {
        match &sought.source {
            ResultSource::Dakota { response: Response::Number(number), .. } => {
                while names.len() < *number {
                    names.push(format!("response_{}", names.len() + 1));
                }
                if let Some(place) = names.get_mut(number.wrapping_sub(1)) {
                    place.clone_from(&sought.name);
                }
            }
            ResultSource::Dakota { response: Response::Descriptor(name), .. } => names.push(name.clone()),
            ResultSource::Dakota { .. } => names.push(sought.name.clone()),
            _ => {}
        }
    }
    match names.is_empty() {
        true => vec!["obj_fn".to_owned()],
        false => names,
    }
}

/// Whether the files that an evaluation takes from the study folder are there, and its decks can be filled in with these
/// parameters. Nothing is written.
pub fn check_files(evaluation: &Evaluation, study: &Path, params: &Params) -> Result<(), String> {
    let mut named = evaluation.copy.iter().chain(&evaluation.link).map(|path| study.join(path));
    if let Some(path) = named.find(|path| !path.exists()) {
        return Err(format!(
            "{} does not exist; `copy` and `link` in [run] name files beside the study file",
            path.display()
        ));
    }
    evaluation.decks.iter().try_for_each(|deck| filled(deck, study, params).map(|_| ()))
}

/// Where a file of the study folder goes: under the same name, or its last part if it comes from elsewhere.
fn place(dir: &Path, path: &Path) -> Result<PathBuf, String> {
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let name = if inside { path } else { Path::new(path.file_name().unwrap_or_default()) };
    if RESERVED.iter().any(|reserved| Path::new(reserved) == name) {
        return Err(format!(
            "{} cannot be placed in the attempt's folder: tribo has a file of this name there",
            path.display()
        ));
    }
    let place = dir.join(name);
    let folder = place.parent().unwrap_or(dir);
    fs::create_dir_all(folder).map_err(|error| format!("{} cannot be created: {error}", folder.display()))?;
    Ok(place)
}

/// Copies a file or a folder, but not the store: a study folder may be copied into its own attempts.
fn copy(from: &Path, to: &Path, store: &Path) -> Result<(), String> {
    let failed =
        |error: std::io::Error| format!("{} cannot be copied to {}: {error}", from.display(), to.display());
    let metadata = fs::symlink_metadata(from).map_err(failed)?;
    // A link to a folder may lead in a circle: it stays a link.
    if metadata.is_symlink() && from.is_dir() {
        return link(from, to);
    }
    if !from.is_dir() {
        remove(to)?;
        return fs::copy(from, to).map(|_| ()).map_err(failed);
    }
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path() != store {
            copy(&entry.path(), &to.join(entry.file_name()), store)?;
        }
    }
    Ok(())
}

fn link(from: &Path, to: &Path) -> Result<(), String> {
    let failed =
        |error: std::io::Error| format!("{} cannot be linked to {}: {error}", from.display(), to.display());
    let target = fs::canonicalize(from).map_err(failed)?;
    if fs::symlink_metadata(to).is_ok_and(|metadata| metadata.is_symlink()) {
        fs::remove_file(to).map_err(failed)?;
    }
    symlink(target, to).map_err(failed)
}

fn render(deck: &Deck, dir: &Path, study: &Path, params: &Params) -> Result<(), String> {
    let content = filled(deck, study, params)?;
    write(&place(dir, &deck.to)?, &content)
}

fn filled(deck: &Deck, study: &Path, params: &Params) -> Result<Vec<u8>, String> {
    let template = study.join(&deck.template);
    let text = fs::read(&template)
        .map_err(|error| format!("the deck {} cannot be read: {error}", template.display()))?;
    deck::render(deck, &text, params)
}

/// Writes a file anew: what is there may be a link, and writing through it would change the study folder.
fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    remove(path).and_then(|()| {
        fs::write(path, content).map_err(|error| format!("{} cannot be written: {error}", path.display()))
    })
}

fn remove_stale(dir: &Path, name: &str) -> Result<(), String> {
    let path = dir.join(name);
    let folder = path.parent().unwrap_or(dir);
    let Ok(real) = fs::canonicalize(folder) else {
        // No folder yet, so no stale answer; the command will have to make it.
        return Ok(());
    };
    let own = fs::canonicalize(dir).map_err(|error| format!("{} cannot be read: {error}", dir.display()))?;
    match real.starts_with(own) {
        true => remove(&path),
        false => Err(format!(
            "the answer {name} would be in {}, outside the attempt's folder, where attempts would overwrite each other; copy that folder instead of linking it",
            real.display()
        )),
    }
}

fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", path.display()))
        }
        _ => Ok(()),
    }
}
