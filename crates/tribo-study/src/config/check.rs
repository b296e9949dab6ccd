//! What can be said about a file from the list of keys alone: unknown keys, wrong types, values outside their range, keys
//! that do not belong to a choice made elsewhere, keys that are missing.
//!
//! The first complaint by position is the one reported, but missing keys come last: a missing `command` beside an unknown
//! `comand` is one mistake, not two.

use super::keys::{Default, Key, ROOT, Section, Type};
use super::place::Complaint;
use super::value;
use super::view::View;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tribo::suggest::suggest;

/// Checks a whole file.
pub(super) fn check(file: &DeTable<'_>) -> Result<(), Complaint> {
    let file = View::new(&ROOT, Some(file), 0);
    for pass in [wrong as fn(&View<'_>, &mut Vec<Complaint>), missing] {
        let mut complaints = Vec::new();
        pass(&file, &mut complaints);
        if let Some(first) = complaints.into_iter().min_by_key(|complaint| complaint.at) {
            return Err(first);
        }
    }
    Ok(())
}

/// Everything wrong with what is there.
fn wrong(view: &View<'_>, complaints: &mut Vec<Complaint>) {
    for (name, value) in view.entries() {
        let at = name.span().start;
        match view.section().key(name.get_ref()) {
            None => complaints.push(Complaint::new(at, unknown(view.section(), name.get_ref()))),
            Some(key) => match view.misplaced(key) {
                Some(why) => complaints.push(Complaint::new(at, why)),
                None => wrong_value(key, &key.kind, value, complaints),
            },
        }
    }
}

fn wrong_value(key: &Key, kind: &Type, value: &Spanned<DeValue<'_>>, complaints: &mut Vec<Complaint>) {
    let at = value.span().start;
    match (kind, value.get_ref()) {
        (Type::Either(types), _) => match types.iter().find(|kind| kind.takes(value.get_ref())) {
            Some(kind) => wrong_value(key, kind, value, complaints),
            None => complaints.push(Complaint::new(at, unfit(key, value.get_ref()))),
        },
        (Type::Table(section), DeValue::Table(table)) => {
            wrong(&View::new(section, Some(table), at), complaints)
        }
        (Type::Tables(section, _), DeValue::Array(tables)) => {
            for each in tables.iter() {
                match each.get_ref().as_table() {
                    Some(table) => wrong(&View::new(section, Some(table), each.span().start), complaints),
                    None => complaints.push(Complaint::new(each.span().start, unfit(key, each.get_ref()))),
                }
            }
        }
        (Type::Names, DeValue::Table(table)) => {
            for (name, value) in table {
                if let Some(why) = wrong_variable(name.get_ref()) {
                    complaints.push(Complaint::new(name.span().start, why));
                } else if !Type::Word.takes(value.get_ref()) {
                    let (name, found) = (name.get_ref(), value::found(value.get_ref()));
                    let message = format!("`{name}` is {found}; it must be a text, such as {name} = \"4\"");
                    complaints.push(Complaint::new(value.span().start, message));
                }
            }
        }
        (Type::List { of, least, most }, DeValue::Array(array)) => {
            if let Some(bad) = array.iter().find(|element| !of.takes(element.get_ref())) {
                complaints.push(Complaint::new(bad.span().start, unfit_element(key, bad.get_ref())));
            } else if !(*least..=*most).contains(&array.len()) {
                let message =
                    format!("the length of `{}` is {}; it must be {}", key.name, array.len(), wanted(key));
                complaints.push(Complaint::new(at, message));
            }
        }
        (Type::Choice(choices), DeValue::String(text)) if !choices.contains(&text.as_ref()) => {
            complaints.push(Complaint::new(at, unknown_choice(key, choices, text)));
        }
        (kind, found) if !kind.takes(found) => complaints.push(Complaint::new(at, unfit(key, found))),
        _ => {}
    }
}

/// Everything that is not there. Relies on the types being right.
fn missing(view: &View<'_>, complaints: &mut Vec<Complaint>) {
    for key in view.section().keys {
        if key.required && view.given(key.name).is_none() && view.belongs(key) {
            complaints.push(view.missing(key.name));
        }
        for section in key.kind.sections() {
            view.sections(key.name, section).iter().for_each(|inside| missing(inside, complaints));
        }
        if let (Type::Tables(_, least), Some(tables)) = (&key.kind, view.given(key.name))
            && tables.get_ref().as_array().is_some_and(|tables| tables.len() < *least)
        {
            complaints.push(view.missing(key.name));
        }
    }
    let section = view.section();
    if view.entries().count() < section.least {
        let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        let message =
            format!("{} is empty; give at least one of {}", section.header(), listed(&names, "and"));
        complaints.push(Complaint::new(view.at(), message));
    }
}

impl Type {
    /// Whether a value is of this type and in its range; what is inside sections is not looked at.
    fn takes(&self, value: &DeValue<'_>) -> bool {
        match self {
            Type::Integer { low, high } => value::integer(value).is_some_and(|i| (*low..=*high).contains(&i)),
            Type::Number(range) => value::number(value).is_some_and(|x| range.contains(x)),
            Type::Flag => value.is_bool(),
            // No argument, path or variable can hold the character NUL.
            Type::Word => value.as_str().is_some_and(|text| !text.contains('\0')),
            Type::Text => Type::Word.takes(value) && value.as_str() != Some(""),
            Type::File => Type::Text.takes(value) && value.as_str().is_some_and(stays_inside),
            Type::Choice(_) => value.is_str(),
            Type::Duration => value::duration(value).is_some(),
            Type::Size => value::size(value).is_some(),
            Type::List { .. } | Type::Tables(..) => value.is_array(),
            Type::Names | Type::Table(_) => value.is_table(),
            Type::Either(types) => types.iter().any(|kind| kind.takes(value)),
        }
    }

    /// What it is, in words: `a whole number from 1 to 9`.
    pub(super) fn words(&self) -> String {
        match self {
            Type::Integer { low, high } if low == high => format!("the whole number {low}"),
            Type::Integer { low, high: i64::MAX } => format!("a whole number of {low} or more"),
            Type::Integer { low, high } => format!("a whole number from {low} to {high}"),
            Type::Number(range) => format!("a number{}", range.words()),
            Type::Flag => "true or false".to_owned(),
            Type::Text => "a text".to_owned(),
            Type::Word => "a text, possibly empty".to_owned(),
            Type::File => "the name of a file inside the working directory".to_owned(),
            Type::Choice(choices) => {
                let quoted: Vec<String> = choices.iter().map(|choice| format!("{choice:?}")).collect();
                listed(&quoted.iter().map(String::as_str).collect::<Vec<_>>(), "or")
            }
            Type::Duration => {
                "a duration (\"90s\", \"30m\", \"12h\", \"1d 2h\") or a number of seconds".to_owned()
            }
            Type::Size => "a size (\"64kB\", \"16MB\") or a number of bytes, 1000 at least".to_owned(),
            Type::List { of: Type::Duration, .. } => "an array of two durations".to_owned(),
            Type::List { of: Type::Number(_), .. } => "an array of two numbers".to_owned(),
            Type::List { least: 0, .. } => "an array of texts".to_owned(),
            Type::List { least, .. } => format!("an array of texts, {least} at least"),
            Type::Names => "a section of names and texts".to_owned(),
            Type::Table(section) => format!("a section {}", section.header()),
            Type::Tables(section, _) => format!("a section {} for each", section.header()),
            Type::Either(types) => types.iter().map(Type::words).collect::<Vec<_>>().join(", or "),
        }
    }
}

/// Whether a path cannot leave the directory it is relative to.
fn stays_inside(path: &str) -> bool {
    use std::path::{Component, Path};
    let mut parts = Path::new(path).components();
    let only_names = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    only_names && Path::new(path).file_name().is_some()
}

fn wrong_variable(name: &str) -> Option<String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        Some(format!("{name:?} cannot be the name of an environment variable; use letters, digits and `_`"))
    } else if name.starts_with("TRIBO_") {
        Some(format!("`{name}` is set by tribo itself, as is all that begins with TRIBO_; use another name"))
    } else {
        None
    }
}

fn unknown(section: &Section, name: &str) -> String {
    let header = section.header();
    let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
    let elsewhere = ROOT.all().into_iter().find(|other| other.key(name).is_some());
    if let (Some(owner), None) = (elsewhere, suggest(name, &names)) {
        let advice = match owner.path {
            "" => "it stands at the top of the file, above the first section".to_owned(),
            _ => format!("it is a key of {}", owner.header()),
        };
        return format!("`{name}` does not belong to {header}; {advice}");
    }
    match suggest(name, &names) {
        Some(meant) => format!("unknown key `{name}` in {header}; did you mean `{meant}`?"),
        None => {
            format!("unknown key `{}` in {header}; its keys are {}", shortened(name), listed(&names, "and"))
        }
    }
}

fn unknown_choice(key: &Key, choices: &[&str], text: &str) -> String {
    let found = format!("`{}` is \"{}\"", key.name, shortened(text).escape_debug());
    let wanted = wanted(key);
    if let ("result", "regex" | "csv") = (key.name, text) {
        return format!(
            "{found}, which needs more than a word; write a section [run.result] with from = \"{text}\""
        );
    }
    match suggest(text, choices) {
        Some(meant) => format!("{found}; did you mean \"{meant}\"? It must be {wanted}"),
        None => format!("{found}; it must be {wanted}"),
    }
}

fn unfit(key: &Key, found: &DeValue<'_>) -> String {
    let brackets = match (&key.kind, found) {
        (Type::Tables(..), DeValue::Table(_)) => ", in two brackets",
        (Type::Table(_), DeValue::Array(_)) => ", once, in one bracket",
        _ => "",
    };
    format!("`{}` is {}; it must be {}{brackets}{}", key.name, value::found(found), wanted(key), example(key))
}

fn unfit_element(key: &Key, found: &DeValue<'_>) -> String {
    format!(
        "an entry of `{}` is {}; it must be {}{}",
        key.name,
        value::found(found),
        wanted(key),
        example(key)
    )
}

fn wanted(key: &Key) -> String {
    key.kind.words()
}

/// ", such as workers = 20".
pub(super) fn example(key: &Key) -> String {
    match (key.example, key.default) {
        ("", Default::None) => String::new(),
        (example, _) => format!(", such as {} = {example}", key.name),
    }
}

/// Words with commas, and the last with a conjunction.
fn listed(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() > 40 {
        text.chars().take(40).chain("...".chars()).collect()
    } else {
        text.to_owned()
    }
}
