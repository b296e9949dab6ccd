//! What the study file says of a scheduler by template: its keys, and the settings they become.

use super::Template;
use super::presets::{NAMES, preset};
use crate::config::{Complaint, Section, Type, View, key, table};
use crate::runner::Runner;
use crate::runner::batch::Batch;
use crate::scheduler::{POLL, SETUP, Settings, TEXTS};
use regex_lite::Regex;
use std::sync::Arc;
use std::time::Duration;

pub(super) static SECTION: Section = table(
    "run.template",
    "Any scheduler that has a command to submit, one that lists jobs, and one that cancels. They are lines for `sh -c`. A \
     preset has all of them, and what is written here replaces parts of it.",
    &[
        key("preset", Type::Choice(&NAMES), "\"lsf\"", "A scheduler whose commands are known."),
        key(
            "submit",
            Type::Text,
            "\"bsub -J {name} -o {log} {time} {options} < {script}\"",
            "Submits; `{name}`, `{script}`, `{log}`, `{time}` and `{options}` are filled in.",
        ),
        key(
            "time_option",
            Type::Text,
            "\"-W {minutes}\"",
            "What `{time}` is, if jobs have a time limit; with `{seconds}`, `{minutes}` or `{clock}` (HH:MM:SS).",
        ),
        key(
            "id",
            Type::Text,
            "'Job <(\\d+)>'",
            "Finds the job's id in what `submit` prints: the first group.",
        ),
        key("list", Type::Text, "\"bjobs -a -w\"", "Lists your jobs, one on a line."),
        key(
            "job",
            Type::Text,
            "'^(?P<id>\\d+)\\s+(?P<state>\\S+)\\s+(?P<name>\\S+)'",
            "Reads a line of it: the groups `id`, `state` and, if names are listed whole, `name`.",
        ),
        key(
            "empty",
            Type::Text,
            "\"No job found\"",
            "What `list` says when it fails only since there is no job.",
        ),
        key("queued", TEXTS, "[\"PEND\"]", "Words of `state` that mean: waiting."),
        key("held", TEXTS, "[\"PSUSP\"]", "Words of `state` that mean: held."),
        key("running", TEXTS, "[\"RUN\"]", "Words of `state` that mean: running."),
        key("suspended", TEXTS, "[\"USUSP\"]", "Words of `state` that mean: suspended."),
        key("done", TEXTS, "[\"DONE\"]", "Words of `state` that mean: ended well."),
        key("failed", TEXTS, "[\"EXIT\"]", "Words of `state` that mean: ended badly."),
        key("cancel", Type::Text, "\"bkill {ids}\"", "Cancels; `{ids}` are many, `{id}` is one at a time."),
        key("variable", Type::Text, "\"LSB_JOBID\"", "The variable in which a job finds its id, if it does."),
        key("time", Type::Duration, "\"1h\"", "The time limit of a job.")
            .or_prose("`timeout` and three minutes"),
        key("options", TEXTS, "[\"-q\", \"normal\"]", "What `{options}` is, word by word.").or("[]"),
        key("setup", TEXTS, "[\"module load gcc\"]", SETUP).or("[]"),
        key("poll", Type::Duration, "\"30s\"", POLL).or("\"60s\""),
    ],
);

/// A scheduler by template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateSettings {
    /// Submits.
    pub submit: String,
    /// The time limit, as an option.
    pub time_option: String,
    /// Finds the id.
    pub id: String,
    /// Lists.
    pub list: String,
    /// What the list says when there is none.
    pub empty: String,
    /// Reads a line of the list.
    pub job: String,
    /// Words for jobs that wait.
    pub queued: Vec<String>,
    /// Words for jobs that are held.
    pub held: Vec<String>,
    /// Words for jobs that run.
    pub running: Vec<String>,
    /// Words for jobs that are suspended.
    pub suspended: Vec<String>,
    /// Words for jobs that ended well.
    pub done: Vec<String>,
    /// Words for jobs that ended badly.
    pub failed: Vec<String>,
    /// Cancels.
    pub cancel: String,
    /// Where a job finds its id.
    pub variable: String,
    /// The time limit.
    pub time: Option<Duration>,
    /// Further options.
    pub options: Vec<String>,
    /// Shell lines before the job.
    pub setup: Vec<String>,
    /// Time between two looks at the queue.
    pub poll: Duration,
}

/// Reads the section.
pub(super) fn read(view: &View<'_>) -> Result<Arc<dyn Settings>, Complaint> {
    let preset = preset(view.text("preset").as_deref());
    let text = |name: &str, preset: &str| view.text(name).unwrap_or_else(|| preset.to_owned());
    let texts = |name: &str, preset: &[&str]| {
        view.texts(name).unwrap_or_else(|| preset.iter().map(|word| word.to_string()).collect())
    };
    let settings = TemplateSettings {
        submit: text("submit", preset.submit),
        time_option: text("time_option", preset.time_option),
        id: text("id", preset.id),
        list: text("list", preset.list),
        empty: text("empty", preset.empty),
        job: text("job", preset.job),
        queued: texts("queued", preset.queued),
        held: texts("held", preset.held),
        running: texts("running", preset.running),
        suspended: texts("suspended", preset.suspended),
        done: texts("done", preset.done),
        failed: texts("failed", preset.failed),
        cancel: text("cancel", preset.cancel),
        variable: text("variable", preset.variable),
        time: view.duration("time"),
        options: texts("options", &[]),
        setup: texts("setup", &[]),
        poll: view.duration("poll").unwrap_or_default(),
    };
    check(view, &settings)?;
    Ok(Arc::new(settings))
}

fn check(view: &View<'_>, settings: &TemplateSettings) -> Result<(), Complaint> {
    let TemplateSettings { submit, id, list, job, cancel, .. } = settings;
    for (name, value) in [("submit", submit), ("id", id), ("list", list), ("job", job), ("cancel", cancel)] {
        if value.is_empty() {
            let message = format!(
                "[run.template] has no `{name}`; give it, or a `preset`: {}",
                NAMES.map(|name| format!("\"{name}\"")).join(", ")
            );
            return Err(view.complaint(name, message));
        }
    }
    for (name, value, groups) in
        [("id", id, &[][..]), ("job", job, &["id", "state"]), ("empty", &settings.empty, &[])]
    {
        let regex = Regex::new(value).map_err(|error| {
            view.complaint(name, format!("`{name}` is not a regular expression: {error}"))
        })?;
        let names: Vec<&str> = regex.capture_names().flatten().collect();
        if let Some(missing) = groups.iter().find(|group| !names.contains(group)) {
            let message = format!("`{name}` has no group (?P<{missing}>...)");
            return Err(view.complaint(name, message));
        }
        if name == "id" && regex.captures_len() < 2 {
            return Err(view.complaint(name, "`id` has no group; put the job's id in parentheses"));
        }
    }
    if !submit.contains("{script}") {
        return Err(view.complaint("submit", "`submit` does not name `{script}`, which is what has to run"));
    }
    if !cancel.contains("{id}") && !cancel.contains("{ids}") {
        return Err(view.complaint("cancel", "`cancel` names neither `{ids}` nor `{id}`"));
    }
    Ok(())
}

impl Settings for TemplateSettings {
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn time(&self) -> Option<Duration> {
        self.time
    }

    fn runner(&self, batch: Batch) -> Box<dyn Runner> {
        Box::new(Template::new(self.clone(), batch))
    }
}
