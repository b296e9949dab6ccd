//! Any scheduler by template: a line that submits, one that lists, one that cancels, and patterns for what they print.
//!
//! A job is found again by its name where the list has names, else by its id. Where a submission was not acknowledged and
//! the list has no names, the claim in the attempt's folder keeps two jobs apart. No arrays, and no post-mortem: a job that
//! is no longer listed and left no answer is lost, and tried again.
//!
//! A submission that fails is tried again, since nobody knows a strange scheduler's words; a driver that never had an answer
//! gives up after a few.

mod environment;
mod presets;
mod settings;

use super::Scheduler;
use crate::Error;
use crate::job::{CLAIM_FILE, Kind};
use crate::runner::array::submit_in_groups;
use crate::runner::batch::{Around, Batch, quoted_text, untold};
use crate::runner::command::Output;
use crate::runner::join::{self, Listed, join};
use crate::runner::local::LOG_FILE;
use crate::runner::{
    Attempt, Ending, JobRef, Left, Patience, Runner, Sighting, State, Submission, Unreachable, leave_word,
};
use regex_lite::Regex;
use std::time::Duration;

pub use settings::TemplateSettings;

const NAME: &str = "template";

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: NAME,
    doc: "Any other scheduler, by its commands.",
    section: &settings::SECTION,
    read: settings::read,
    environment: environment::ENVIRONMENT,
};

/// Ids in one command.
const ID_BATCH: usize = 100;

/// Runs attempts as jobs of a scheduler that is described by its commands.
#[derive(Debug)]
pub struct Template {
    config: TemplateSettings,
    batch: Batch,
}

impl Template {
    /// A runner with the settings of the study file.
    pub fn new(config: TemplateSettings, batch: Batch) -> Template {
        Template { config, batch }
    }

    fn submit_one(&mut self, group: &[Attempt]) -> Submission {
        let mut setup = vec![format!("export TRIBO_TAG={}", group[0].tag)];
        if !self.config.variable.is_empty() {
            setup.push(format!("export {}=\"${{{}-}}\"", environment::JOB, self.config.variable));
        }
        setup.extend(self.config.setup.iter().cloned());
        let prepared = match self.batch.prepare(group, Around { setup: &setup, epilogue: &[] }) {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let log = prepared.folder.join(LOG_FILE);
        let time =
            self.batch.wall().map(|wall| filled_time(&self.config.time_option, wall)).unwrap_or_default();
        let options: Vec<String> =
            self.config.options.iter().map(|option| quoted_text(option.as_ref())).collect();
        let line = filled(
            &self.config.submit,
            &[
                ("{name}", prepared.tag.to_string()),
                ("{script}", quoted_text(prepared.script.as_os_str())),
                ("{log}", quoted_text(log.as_os_str())),
                ("{time}", time),
                ("{options}", options.join(" ")),
            ],
        );
        match self.batch.commands.submit("sh", &["-c", &line]) {
            Err(trouble) => untold(&trouble),
            Ok(output) if output.success() => match self.id_in(&output.stdout) {
                Some(id) => Submission::Accepted(id),
                None => Submission::Ambiguous(format!("`id` finds nothing in {:?}", output.stdout.trim())),
            },
            Ok(output) => Submission::Unavailable(output.complaint()),
        }
    }

    fn id_in(&self, text: &str) -> Option<String> {
        let regex = Regex::new(&self.config.id).ok()?;
        text.lines().find_map(|line| Some(regex.captures(line)?.get(1)?.as_str().to_owned()))
    }

    /// All jobs of the study that are listed.
    fn list(&mut self, jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
        let output = self.batch.commands.run("sh", &["-c", &self.config.list]);
        let output = output.map_err(|trouble| unreachable(&trouble))?;
        if !output.success() && !self.is_empty(&output) {
            return Err(unreachable(&output.complaint()));
        }
        let Ok(regex) = Regex::new(&self.config.job) else { return Ok(Vec::new()) };
        let mut listed = Vec::new();
        for found in output.stdout.lines().filter_map(|line| regex.captures(line)) {
            let group = |name: &str| found.name(name).map_or("", |group| group.as_str());
            let (id, word) = (group("id"), group("state"));
            let named = Some(group("name")).filter(|name| self.batch.owns(name)).map(str::to_owned);
            let by_id =
                || jobs.iter().find(|job| job.job.as_deref() == Some(id)).map(|job| job.tag.to_string());
            let Some(name) = named.or_else(by_id) else { continue };
            let attempt = self.batch.attempt(&name, None);
            let claimed = jobs.iter().any(|job| Some(job.id) == attempt && job.dir.join(CLAIM_FILE).exists());
            let state = self.state(word, claimed);
            listed.push(Listed { job: id.to_owned(), name, index: None, state });
        }
        Ok(listed)
    }

    fn is_empty(&self, output: &Output) -> bool {
        let says = |regex: Regex| regex.is_match(&output.stderr) || regex.is_match(&output.stdout);
        !self.config.empty.is_empty() && Regex::new(&self.config.empty).is_ok_and(says)
    }

    fn state(&self, word: &str, claimed: bool) -> State {
        let is = |words: &[String]| words.iter().any(|known| known == word);
        let ended = |kind| State::Ended(Ending { kind, reason: word.to_owned(), host: None });
        match word {
            _ if is(&self.config.queued) => State::Queued(None),
            _ if is(&self.config.held) => State::Held(word.to_owned()),
            _ if is(&self.config.running) => State::Running,
            _ if is(&self.config.suspended) => State::Suspended,
            _ if is(&self.config.done) => ended(Kind::Ok),
            _ if is(&self.config.failed) => ended(if claimed { Kind::Failed } else { Kind::Unstarted }),
            _ => State::Unknown(word.to_owned()),
        }
    }

    fn cancel_ids(&mut self, ids: &[String]) -> Result<(), Unreachable> {
        let many = if self.config.cancel.contains("{ids}") { ID_BATCH } else { 1 };
        for ids in ids.chunks(many) {
            let ids: Vec<String> = ids.iter().map(|id| quoted_text(id.as_ref())).collect();
            let line = filled(&self.config.cancel, &[("{ids}", ids.join(" ")), ("{id}", ids.join(" "))]);
            // A job that has ended meanwhile makes many of these commands fail; whether one is left, the list shows.
            self.batch.commands.run("sh", &["-c", &line]).map_err(|trouble| unreachable(&trouble))?;
        }
        Ok(())
    }
}

impl Runner for Template {
    fn name(&self) -> &'static str {
        NAME
    }

    fn submit(&mut self, attempts: &[Attempt]) -> Vec<Submission> {
        submit_in_groups(attempts, 1, |id, _| id.to_owned(), |group| self.submit_one(group))
    }

    fn poll(&mut self, jobs: &[JobRef]) -> Result<Vec<Sighting>, Unreachable> {
        let listed = self.list(jobs)?;
        let joined = join(&mut self.batch, jobs, listed);
        if !joined.surplus.is_empty() {
            // If it fails now, the claim keeps the copies apart.
            let _ = self.cancel_ids(&joined.surplus);
        }
        Ok(joined.sightings)
    }

    fn cancel(&mut self, jobs: &[JobRef]) -> Result<(), Unreachable> {
        leave_word(jobs);
        let mut ids: Vec<String> = jobs.iter().filter_map(|job| job.job.clone()).collect();
        if ids.len() < jobs.len() {
            let unknown: Vec<JobRef> = jobs.iter().filter(|job| job.job.is_none()).cloned().collect();
            let listed = self.list(&unknown)?;
            ids.extend(
                join(&mut self.batch, &unknown, listed).sightings.into_iter().map(|sighting| sighting.job),
            );
        }
        self.cancel_ids(&ids)
    }

    fn calls_for(&self, attempts: usize) -> usize {
        attempts
    }

    fn patience(&self) -> Patience {
        Patience::of_batch(self.config.poll)
    }

    fn check(&mut self) -> crate::Result<()> {
        match self.list(&[]) {
            Ok(_) => Ok(()),
            Err(unreachable) => Err(Error::Unreachable { scheduler: NAME, reason: unreachable.reason }),
        }
    }

    fn rehearse(&mut self) -> crate::Result<String> {
        self.check()?;
        Ok("`list` of [run.template] answers; whether jobs are taken, the first one shows".to_owned())
    }

    fn left(&mut self, suspects: &[JobRef]) -> Result<Vec<Left>, Unreachable> {
        self.list(suspects).map(join::left)
    }

    fn last_words(&mut self, job: &JobRef) -> Option<String> {
        self.batch.last_words(job)
    }

    fn remove(&mut self, left: &[Left]) -> Result<(), Unreachable> {
        self.cancel_ids(&left.iter().map(|left| left.job.clone()).collect::<Vec<_>>())
    }
}

/// A line with its placeholders filled in; other braces are left alone.
fn filled(line: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                text.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

fn filled_time(option: &str, wall: Duration) -> String {
    let seconds = wall.as_secs().max(1);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let values = [
        ("{seconds}", seconds.to_string()),
        ("{minutes}", seconds.div_ceil(60).to_string()),
        ("{clock}", clock),
    ];
    filled(option, &values)
}

fn unreachable(reason: &impl ToString) -> Unreachable {
    Unreachable { scheduler: NAME, reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_placeholders_are_filled_in() {
        let values = [("{name}", "n1".to_owned()), ("{script}", "'/a b/job.sh'".to_owned())];
        assert_eq!(
            filled("x {name} ${HOME} '{id} {name}' {script}", &values),
            "x n1 ${HOME} '{id} n1' '/a b/job.sh'"
        );
        let wall = Duration::from_secs(3661);
        assert_eq!(filled_time("-W {minutes} {clock} {seconds}", wall), "-W 62 01:01:01 3661");
    }
}
