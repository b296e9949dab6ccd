//! The page that lists every key of the study file, in Markdown. `docs/reference/study-file.md` is kept to be this page.

use super::keys::{Default, Key, ROOT, Section};
use std::fmt::Write;

/// A study file to begin with.
pub(super) const EXAMPLE: &str = r#"study_version = 1
direction = "minimize"

[[parameter]]
name = "thickness"
type = "float"
low = 0.5
high = 4.0

[budget]
evaluations = 100

[run]
command = "./simulate --thickness $TRIBO_X_THICKNESS"
workers = 4
result = "stdout"
"#;

/// The page.
pub fn markdown() -> String {
    let mut page = format!(
        "# The study file\n\n\
         A study file is TOML. This page lists its sections and keys; it is made from the list by which the program reads\n\
         them, and a key that is not here is an error. Durations are text such as \"90s\", \"30m\", \"12h\" or \"1d 2h\", or a\n\
         number of seconds. `tribo init` writes a study file to begin with, `tribo check` reads one and says what is wrong, and\n\
         `tribo schema` prints the same list for editors.\n\n```toml\n{EXAMPLE}```\n",
    );
    for section in ROOT.all() {
        let title = if section.path.is_empty() {
            "Top of the file".to_owned()
        } else {
            format!("`{}`", section.header())
        };
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {title}\n\n{}\n\n", section.doc);
        page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
        section.keys.iter().for_each(|key| page.push_str(&row(section, key)));
    }
    page
}

fn row(section: &Section, key: &Key) -> String {
    let own_header =
        key.kind.sections().first().filter(|_| key.example.is_empty()).map(|section| section.header());
    let kind = own_header.map_or_else(|| key.kind.words(), |header| format!("`{header}`"));
    let default = match key.default {
        _ if key.required => "needed".to_owned(),
        Default::None => "none".to_owned(),
        Default::Toml(literal) => format!("`{literal}`"),
        Default::ByStrategy { bo, paper } => format!("bo: `{bo}`; paper: `{paper}`"),
        Default::Prose(words) => words.to_owned(),
    };
    // The section says which strategies its keys are for.
    let conditions = key.when.iter().filter(|(other, _)| (section.path, *other) != ("strategy", "name"));
    let only: Vec<String> =
        conditions.map(|(other, values)| format!("`{other}` {}", values.join(" or "))).collect();
    let only = if only.is_empty() { String::new() } else { format!(" Only with {}.", only.join(" and ")) };
    let cells = [format!("`{}`", key.name), kind, default, format!("{}{only}", key.doc)];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}
