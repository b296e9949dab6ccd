//! A section of the file beside its description: values that were given, defaults where they were not, and their places.

use super::check::example;
use super::keys::{Default, Key, Section, Type};
use super::place::Complaint;
use super::value;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A section, perhaps one that is not in the file.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    section: &'static Section,
    table: Option<&'a DeTable<'a>>,
    at: usize,
}

impl<'a> View<'a> {
    /// `at` is the place of the header, or of the section around one that is not there.
    pub(super) fn new(section: &'static Section, table: Option<&'a DeTable<'a>>, at: usize) -> View<'a> {
        View { section, table, at }
    }

    pub(super) fn section(&self) -> &'static Section {
        self.section
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn entries(
        &self,
    ) -> impl Iterator<Item = (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        self.table.into_iter().flatten()
    }

    /// The value that was given.
    pub(super) fn given(&self, name: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.and_then(|table| table.get(name))
    }

    /// The place of a value, or of the section if it was not given.
    pub(super) fn place(&self, name: &str) -> usize {
        self.given(name).map_or(self.at, |value| value.span().start)
    }

    /// A complaint at the place of a key's value.
    pub(crate) fn complaint(&self, name: &str, message: impl Into<String>) -> Complaint {
        Complaint::new(self.place(name), message)
    }

    /// The complaint that a key is not there.
    pub(super) fn missing(&self, name: &str) -> Complaint {
        let header = self.section.header();
        let message = match self.section.key(name) {
            Some(key) if key.example.is_empty() => match key.kind.sections().first() {
                Some(section) => {
                    format!("there is no section {}; {}", section.header(), first_lines(section))
                }
                None => format!("`{name}` is missing in {header}"),
            },
            Some(key) => format!("`{name}` is missing in {header}; add a line{}", example(key)),
            None => format!("`{name}` is missing in {header}"),
        };
        Complaint::new(self.at, message)
    }

    /// The given value or the default, as `read` takes it; None if there is neither.
    fn read<T>(&self, name: &str, read: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<T> {
        if let Some(value) = self.given(name) {
            return read(value.get_ref());
        }
        let literal = match self.section.key(name)?.default {
            Default::Toml(literal) => literal,
            Default::ByStrategy { bo, .. } if self.text("name").as_deref() == Some("bo") => bo,
            Default::ByStrategy { paper, .. } => paper,
            Default::None | Default::Prose(_) => return None,
        };
        read(DeValue::parse(literal).ok()?.get_ref())
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.read(name, value::text)
    }

    /// A whole number; checked ranges fit the types they are wanted in.
    pub(crate) fn integer<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        self.read(name, value::integer).and_then(|i| T::try_from(i).ok())
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.read(name, value::number)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.read(name, |value| value.as_bool()).unwrap_or(false)
    }

    pub(crate) fn duration(&self, name: &str) -> Option<Duration> {
        self.read(name, value::duration)
    }

    pub(super) fn durations(&self, name: &str) -> Option<Vec<Duration>> {
        self.read(name, |value| value::list(value, value::duration))
    }

    pub(super) fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        self.read(name, |value| value::list(value, value::number))
    }

    pub(super) fn size(&self, name: &str) -> Option<u64> {
        self.read(name, value::size)
    }

    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        self.read(name, |value| value::list(value, value::text))
    }

    /// The names and texts of a table of the user's.
    pub(super) fn names(&self, name: &str) -> Vec<(String, String)> {
        let table = self.given(name).and_then(|value| value.get_ref().as_table());
        let pairs = table.into_iter().flatten();
        pairs
            .filter_map(|(name, text)| Some((name.get_ref().to_string(), value::text(text.get_ref())?)))
            .collect()
    }

    /// The section under a key; if the key is not given or is no section, one without values.
    pub(super) fn inside(&self, name: &str, section: &'static Section) -> View<'a> {
        let sections = self.sections(name, section);
        sections.first().copied().unwrap_or(View::new(section, None, self.place(name)))
    }

    /// The section under a key, or the several ones; none if the key is not given or is no section.
    pub(super) fn sections(&self, name: &str, section: &'static Section) -> Vec<View<'a>> {
        let view = |value: &'a Spanned<DeValue<'a>>| {
            value.get_ref().as_table().map(|table| View::new(section, Some(table), value.span().start))
        };
        match self.given(name) {
            Some(value) => match value.get_ref().as_array() {
                Some(array) => array.iter().filter_map(view).collect(),
                None => view(value).into_iter().collect(),
            },
            None => vec![],
        }
    }

    /// Whether a key belongs here, as far as can be told.
    pub(super) fn belongs(&self, key: &Key) -> bool {
        key.when
            .iter()
            .all(|(other, values)| self.choice(other).is_some_and(|value| values.contains(&value.as_str())))
    }

    /// Why a key does not belong here. Where another key is wrong itself, that is the complaint to make.
    pub(super) fn misplaced(&self, key: &Key) -> Option<String> {
        for (other, values) in key.when {
            let chosen = self.choice(other)?;
            if !values.contains(&chosen.as_str()) {
                let wanted: Vec<String> = values.iter().map(|value| format!("{other} = {value:?}")).collect();
                let default = if self.given(other).is_some() { "" } else { ", the default" };
                return Some(format!(
                    "`{}` belongs to {}; here {other} = {chosen:?}{default}: remove `{}` or change `{other}`",
                    key.name,
                    wanted.join(" and "),
                    key.name
                ));
            }
        }
        None
    }

    /// The valid choice under a key, given or by default.
    fn choice(&self, name: &str) -> Option<String> {
        let Type::Choice(choices) = self.section.key(name)?.kind else { return None };
        self.text(name).filter(|text| choices.contains(&text.as_str()))
    }

    /// The values that stand in the file or are its defaults, in the order of the description and in one form however they
    /// were written. A default in words is not among them.
    pub(super) fn canonical(&self) -> Vec<(String, String)> {
        let values = self.section.keys.iter().filter(|key| self.belongs(key)).filter_map(|key| {
            let text = match key.kind {
                Type::Number(_) => plain(self.number(key.name)?),
                Type::Integer { .. } => self.integer::<i64>(key.name)?.to_string(),
                Type::Flag => self.flag(key.name).to_string(),
                Type::List { .. } => format!("{:?}", self.texts(key.name)?),
                _ => self.text(key.name)?,
            };
            Some((key.name.to_owned(), text))
        });
        values.collect()
    }
}

/// A number that reads back to the same bits, without a point where none is needed.
pub(super) fn plain(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// How to begin a section: the required keys with examples that fit each other, or the first key if none is required.
fn first_lines(section: &Section) -> String {
    let exampled = |(other, values): &(&str, &[&str])| {
        section.key(other).is_some_and(|other| values.contains(&other.example.trim_matches('"')))
    };
    let needed = section.keys.iter().filter(|key| key.required && key.when.iter().all(exampled));
    let mut lines: Vec<String> = needed.map(|key| format!("{} = {}", key.name, key.example)).collect();
    if let ([], [first, ..]) = (&lines[..], section.keys) {
        lines.push(format!("{} = {}", first.name, first.example));
    }
    format!("add it, with {}", lines.join(" and "))
}
