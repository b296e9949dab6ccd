//! The page that lists every key of the study file, in Markdown.

use super::keys::{Default, Key, ROOT, Section};
use std::fmt::Write;

/// The page.
pub fn markdown() -> String {
    let mut page = String::from(
        "# The study file\n\n\
         A study file is TOML. This page lists its sections and keys; a key that is not here is an error. Durations are text\n\
         such as \"90s\", \"30m\", \"12h\" or \"1d 2h\", or a number of seconds.\n",
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
    let kind = own_header.unwrap_or_else(|| key.kind.words());
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
