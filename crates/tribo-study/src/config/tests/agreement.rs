//! The schema and the reader say the same about every key there is.

use super::schema_validator::validate;
use super::{COMPLETE, SMALLEST, good, parse, with};
use crate::config::keys::{Default, Key, OUTPUT, ROOT, Section, Type};
use crate::config::schema::json_schema;
use std::collections::BTreeMap;

/// What the schema says about a text of TOML.
fn by_schema(text: &str) -> Result<(), String> {
    let value: serde_json::Value = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    validate(&json_schema(), &value)
}

/// A file in the making: lines of each section, by path; sections in the order of their paths, so that [run] comes before
/// [run.slurm].
#[derive(Clone, Default)]
struct Draft(BTreeMap<&'static str, BTreeMap<String, String>>);

impl Draft {
    /// A good file without optional keys.
    fn smallest() -> Draft {
        let mut draft = Draft::default();
        draft.add_required(&ROOT);
        draft.set("", "direction", "\"minimize\"");
        draft.set("budget", "evaluations", "10");
        draft
    }

    /// A good file that has `section`.
    fn around(section: &'static Section) -> Draft {
        let mut draft = Draft::smallest();
        if section.path.starts_with("run") {
            draft.set("run", "command", "\"./f\"");
        }
        if section.path.starts_with("output") {
            draft.remove("", "direction");
            draft.add_required(&OUTPUT);
            draft.set("output", "goal", "\"minimize\"");
        }
        draft.add_required(section);
        draft
    }

    fn set(&mut self, section: &'static str, key: &str, value: &str) {
        self.0.entry(section).or_default().insert(key.to_owned(), value.to_owned());
    }

    fn remove(&mut self, section: &'static str, key: &str) {
        self.0.entry(section).or_default().remove(key);
    }

    /// The required keys of a section and of those it requires, with the examples that fit each other.
    fn add_required(&mut self, section: &'static Section) {
        self.0.entry(section.path).or_default();
        for key in section.keys.iter().filter(|key| key.required) {
            match key.kind.sections()[..] {
                [inside] => self.add_required(inside),
                _ if self.0[section.path].contains_key(key.name) => {}
                _ if key.when.iter().all(|(other, values)| self.has(section, other, values)) => {
                    self.set(section.path, key.name, key.example);
                }
                _ => {}
            }
        }
    }

    fn has(&self, section: &Section, other: &str, values: &[&str]) -> bool {
        let value = self.0[section.path].get(other).map(|value| value.trim_matches('"'));
        value.is_some_and(|value| values.contains(&value))
    }

    /// Makes choices so that `key` belongs to its section, drops what no longer does and adds what now must be there.
    fn make_room_for(&mut self, section: &'static Section, key: &Key) {
        for (other, values) in key.when {
            if !self.has(section, other, values) {
                self.set(section.path, other, &format!("{:?}", values[0]));
            }
        }
        for key in section.keys {
            if !key.when.iter().all(|(other, values)| self.has(section, other, values)) {
                self.remove(section.path, key.name);
            }
        }
        if ["run.result", "output.result"].contains(&section.path) && ["column", "row"].contains(&key.name) {
            self.set(section.path, "file", "\"t.csv\"");
            self.set(section.path, "column", "\"drag\"");
        }
        // What is optimised has no limit, and a tolerance is that of one.
        if ["at_most", "at_least", "between", "equals", "tolerance"].contains(&key.name) {
            self.set("output", "goal", "\"record\"");
        }
        if key.name == "tolerance" {
            self.set("output", "at_most", "200");
        }
        self.add_required(section);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let is_recorded =
            |lines: &BTreeMap<String, String>| lines.get("goal").is_some_and(|goal| goal == "\"record\"");
        let needs_another = self.0.get("output").is_some_and(is_recorded);
        for (path, lines) in &self.0 {
            match *path {
                "" => {}
                "parameter" | "output" | "run.deck" => text += &format!("[[{path}]]\n"),
                path => text += &format!("[{path}]\n"),
            }
            lines.iter().for_each(|(key, value)| text += &format!("{key} = {value}\n"));
        }
        if self.0.get("").is_some_and(|lines| lines.contains_key("constraints")) {
            // The example is between two parameters.
            text += "[[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0\nhigh = 1\n";
        }
        if needs_another {
            text += "[[output]]\nname = \"aim\"\ngoal = \"minimize\"\n";
        }
        text
    }
}

/// Every key of the description with a good file that has it, but for keys that are only sections.
fn every_key() -> Vec<(&'static Section, &'static Key, Draft)> {
    let mut all = Vec::new();
    for section in ROOT.all() {
        for key in section.keys.iter().filter(|key| !key.example.is_empty()) {
            let mut draft = Draft::around(section);
            draft.make_room_for(section, key);
            draft.set(section.path, key.name, key.example);
            all.push((section, key, draft));
        }
    }
    // 97 when this was written: a walk that misses sections must not pass.
    assert!(all.len() >= 90, "{} keys", all.len());
    all
}

#[test]
fn good_files_are_good_for_both() {
    let run = |lines: &str| with(&format!("[run]\ncommand = [\"./f\"]\n{lines}"));
    let files = [
        SMALLEST.to_owned(),
        COMPLETE.to_owned(),
        Draft::smallest().text(),
        with("[strategy]\nname = \"paper\"\n"),
        run("retries = 2\nresult = \"stdout\"\ntimeout = 1.5\n"),
        run("[run.result]\nfrom = \"csv\"\nfile = \"a\"\ncolumn = \"b\"\nrow = 2\n"),
        run("env = { A = \"\" }\ncapture = 5000\n"),
        with("[run]\non = \"simulated\"\n[run.simulated]\nproblem = \"sphere\"\n"),
    ];
    for text in files {
        good(&text);
        by_schema(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    }
}

#[test]
fn the_example_of_every_key_is_good_for_both() {
    for (section, key, draft) in every_key() {
        let text = draft.text();
        parse(&text).unwrap_or_else(|error| panic!("{}.{}: {error}\n{text}", section.path, key.name));
        by_schema(&text).unwrap_or_else(|why| panic!("{}.{}: {why}\n{text}", section.path, key.name));
    }
}

#[test]
fn a_misspelt_key_is_bad_for_both() {
    for (section, key, mut draft) in every_key() {
        draft.remove(section.path, key.name);
        let misspelt = format!("{}q", key.name);
        draft.set(section.path, &misspelt, key.example);
        let text = draft.text();
        let error = parse(&text).expect_err(&text);
        assert!(error.message.contains(&format!("did you mean `{}`?", key.name)), "{error}\n{text}");
        assert!(text.lines().nth(error.line - 1).unwrap().starts_with(&misspelt), "{error}\n{text}");
        assert!(by_schema(&text).is_err(), "{text}");
    }
}

#[test]
fn a_wrong_type_is_bad_for_both() {
    for (section, key, mut draft) in every_key() {
        let wrong = if matches!(key.kind, Type::Flag) { "3" } else { "true" };
        draft.set(section.path, key.name, wrong);
        let text = draft.text();
        let error = parse(&text).expect_err(&text);
        assert!(error.message.starts_with(&format!("`{}` is", key.name)), "{error}\n{text}");
        assert!(error.message.contains(&format!("{} = {}", key.name, key.example)), "{error}");
        let line = text.lines().nth(error.line - 1).unwrap();
        assert_eq!(&line[error.column - 1..], wrong, "{error}\n{text}");
        assert!(by_schema(&text).is_err(), "{text}");
    }
}

#[test]
fn a_missing_key_is_bad_for_both() {
    for (section, key, mut draft) in every_key() {
        if key.required {
            draft.remove(section.path, key.name);
            let text = draft.text();
            let error = parse(&text).expect_err(&text);
            assert!(error.message.contains(&format!("`{}` is missing", key.name)), "{error}\n{text}");
            let header = text.lines().nth(error.line - 1).unwrap();
            assert!(section.path.is_empty() || header.contains(section.path), "{error}\n{text}");
            // The schema does not know which keys belong to which choice.
            assert!(by_schema(&text).is_err() || !key.when.is_empty(), "{text}");
        }
    }
}

#[test]
fn another_version_is_bad_for_both() {
    for version in ["0", "2"] {
        let text = SMALLEST.replace("study_version = 1", &format!("study_version = {version}"));
        assert!(parse(&text).is_err() && by_schema(&text).is_err(), "{version}");
    }
}

#[test]
fn the_defaults_that_are_stated_are_those_that_hold() {
    let same = |section: &Section, key: &Key, draft: &Draft, literal: &str| {
        let mut without = draft.clone();
        without.remove(section.path, key.name);
        let mut written = draft.clone();
        written.set(section.path, key.name, literal);
        let (without, written) = (good(&without.text()), good(&written.text()));
        let place = format!("{}.{} = {literal}", section.path, key.name);
        assert_eq!(without.strategy, written.strategy, "{place}");
        assert_eq!(without.run, written.run, "{place}");
        assert_eq!(without.space, written.space, "{place}");
        assert_eq!(without.identity, written.identity, "{place}");
    };
    for (section, key, mut draft) in every_key() {
        match key.default {
            Default::Toml(literal) => same(section, key, &draft, literal),
            Default::ByStrategy { bo, paper } => {
                for (name, literal) in [("\"bo\"", bo), ("\"paper\"", paper)] {
                    draft.set("strategy", "name", name);
                    same(section, key, &draft, literal);
                }
            }
            Default::None | Default::Prose(_) => {}
        }
    }
}

#[test]
fn the_schema_keeps_to_what_draft_4_knows() {
    let schema = json_schema();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-04/schema#");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["study_version", "parameter"]));
    assert_eq!(schema["properties"]["run"]["properties"]["workers"]["default"], 1);
    assert_eq!(schema["properties"]["run"]["properties"]["poll"], serde_json::Value::Null);
}
