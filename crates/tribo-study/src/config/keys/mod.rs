//! Every section and key of the study file, as data: the reader's checks, the JSON Schema and the reference all come from
//! here, so none of them can know a key that the others do not.
//!
//! What is not here: what several values mean together (low below high, a pattern without a group). The reader checks that.

mod result;
mod run;
mod strategy;
mod top;

pub(super) use strategy::STRATEGY;
pub(super) use top::{OUTPUT, PARAMETER, ROOT};

/// A table of the file.
pub(crate) struct Section {
    /// Its name as in the header, `run.slurm`; empty for the file itself.
    pub(super) path: &'static str,
    /// What it is for.
    pub(super) doc: &'static str,
    /// Its keys, in the order of the reference.
    pub(super) keys: &'static [Key],
    /// Keys it must have at least, whichever they are.
    pub(super) least: usize,
}

/// A key of a section.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Type,
    pub(super) default: Default,
    /// A value, as written in the file; empty for sections.
    pub(super) example: &'static str,
    /// Whether it must be there, wherever it belongs.
    pub(super) required: bool,
    /// Other keys of the section and the values they must have for this key to belong there.
    pub(super) when: &'static [(&'static str, &'static [&'static str])],
    /// One sentence.
    pub(super) doc: &'static str,
}

/// What a missing key stands for.
#[derive(Clone, Copy)]
pub(crate) enum Default {
    /// Nothing.
    None,
    /// This value, as written in the file.
    Toml(&'static str),
    /// One of two values, as written in the file.
    ByStrategy { bo: &'static str, paper: &'static str },
    /// What these words say.
    Prose(&'static str),
}

/// What a value can be.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    /// A whole number, both ends included.
    Integer { low: i64, high: i64 },
    /// A finite number.
    Number(Range),
    /// true or false.
    Flag,
    /// A string that is not empty.
    Text,
    /// Any string.
    Word,
    /// The name of a file in the working directory.
    File,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A string such as "1h 30m", or seconds.
    Duration,
    /// A string such as "16MB", or bytes.
    Size,
    /// An array.
    List { of: &'static Type, least: usize, most: usize },
    /// A table of strings with names of the user's.
    Names,
    /// A section.
    Table(&'static Section),
    /// A section that can be repeated, at least so often.
    Tables(&'static Section, usize),
    /// One of several types; no two share a type of TOML.
    Either(&'static [Type]),
}

/// A range of numbers; infinite ends are none.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether the ends themselves are outside.
    pub(super) open: (bool, bool),
}

impl Range {
    pub(super) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, open: (false, false) };
    pub(super) const POSITIVE: Range = Range { low: 0.0, high: f64::INFINITY, open: (true, false) };

    pub(super) fn contains(&self, x: f64) -> bool {
        let above = if self.open.0 { x > self.low } else { x >= self.low };
        let below = if self.open.1 { x < self.high } else { x <= self.high };
        x.is_finite() && above && below
    }

    /// The range in words, with a leading blank; empty for any number.
    pub(super) fn words(&self) -> String {
        let low = match (self.low.is_finite(), self.open.0) {
            (false, _) => String::new(),
            (true, true) => format!(" above {}", self.low),
            (true, false) => format!(" of {} or more", self.low),
        };
        let high = match (self.high.is_finite(), self.open.1) {
            (false, _) => String::new(),
            (true, true) => format!(" below {}", self.high),
            (true, false) => format!(" up to {}", self.high),
        };
        let and = if low.is_empty() || high.is_empty() { "" } else { " and" };
        format!("{low}{and}{high}")
    }
}

/// An optional key without a default.
pub(crate) const fn key(name: &'static str, kind: Type, example: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default: Default::None, example, required: false, when: &[], doc }
}

/// An optional section.
pub(crate) const fn section(name: &'static str, kind: Type, doc: &'static str) -> Key {
    key(name, kind, "", doc)
}

/// A section with keys of its own, none of which it must have beyond the required ones.
pub(crate) const fn table(path: &'static str, doc: &'static str, keys: &'static [Key]) -> Section {
    Section { path, doc, keys, least: 0 }
}

impl Key {
    pub(crate) const fn required(mut self) -> Key {
        self.required = true;
        self
    }

    pub(crate) const fn or(mut self, toml: &'static str) -> Key {
        self.default = Default::Toml(toml);
        self
    }

    pub(crate) const fn or_prose(mut self, words: &'static str) -> Key {
        self.default = Default::Prose(words);
        self
    }

    const fn by_strategy(mut self, bo: &'static str, paper: &'static str) -> Key {
        self.default = Default::ByStrategy { bo, paper };
        self
    }

    const fn when(mut self, when: &'static [(&'static str, &'static [&'static str])]) -> Key {
        self.when = when;
        self
    }
}

impl Type {
    /// The sections inside.
    pub(super) fn sections(&self) -> Vec<&'static Section> {
        match self {
            Type::Table(section) | Type::Tables(section, _) => vec![section],
            Type::Either(types) => types.iter().flat_map(Type::sections).collect(),
            _ => vec![],
        }
    }
}

impl Section {
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// How people write it: `[run]`, or `the file` for the top.
    pub(super) fn header(&self) -> String {
        match self.path {
            "" => "the part above the first section".to_owned(),
            "parameter" | "output" | "run.deck" => format!("[[{}]]", self.path),
            path => format!("[{path}]"),
        }
    }

    /// This section and all inside it, in the order of the reference.
    pub(super) fn all(&'static self) -> Vec<&'static Section> {
        let inside = self.keys.iter().flat_map(|key| key.kind.sections());
        std::iter::once(self).chain(inside.flat_map(Section::all)).collect()
    }
}
