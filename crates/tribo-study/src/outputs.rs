//! Outputs: the named numbers of one evaluation.
//!
//! A study file declares them in `[[output]]`, one of them with a goal to reach and the others to be recorded; `direction`
//! is the short form for one called `value`. An evaluation may give some and not others, and people may tell numbers that
//! nobody declared: what is there is kept, by name. Values are in the user's direction and finite by construction.
//!
//! In files the output called `value` stands by itself, as it did when it was the only one, and all others stand in an
//! object `outputs`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use tribo::limit::Limit;

/// The name of the one output of a study that names none.
pub const VALUE: &str = "value";

/// What an output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Smaller is better.
    Minimize,
    /// Larger is better.
    Maximize,
    /// It is written down.
    Record,
}

/// An output as a study file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub goal: Goal,
}

/// Named finite numbers, by name. There are few in each evaluation and up to a million evaluations in memory, so they
/// are a list: a map is 400 bytes if it has one entry. The usual one is there without a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Outputs(Numbers);

#[derive(Debug, Clone, PartialEq)]
enum Numbers {
    /// `value` alone.
    Value(f64),
    /// All others, by name.
    List(Vec<(Box<str>, f64)>),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::List(vec![])
    }
}

impl Outputs {
    /// None.
    pub const fn new() -> Outputs {
        Outputs(Numbers::List(Vec::new()))
    }

    /// One number; none if it is not finite.
    pub fn one(name: &str, value: f64) -> Outputs {
        let mut outputs = Outputs::new();
        outputs.insert(name, value);
        outputs
    }

    /// Adds a number if it is finite; says whether it is.
    pub fn insert(&mut self, name: impl AsRef<str>, value: f64) -> bool {
        let name = name.as_ref();
        if !value.is_finite() {
            return false;
        }
        match &mut self.0 {
            Numbers::Value(own) if name == VALUE => *own = value,
            Numbers::List(list) if list.is_empty() && name == VALUE => self.0 = Numbers::Value(value),
            Numbers::Value(own) => {
                let own = (VALUE.into(), *own);
                self.0 = Numbers::List(vec![own]);
                self.insert(name, value);
            }
            Numbers::List(list) => match place(list, name) {
                Ok(at) => list[at].1 = value,
                Err(at) => {
                    list.reserve_exact(1);
                    list.insert(at, (name.into(), value));
                }
            },
        }
        true
    }

    /// The number of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        match &self.0 {
            Numbers::Value(value) => (name == VALUE).then_some(*value),
            Numbers::List(list) => place(list, name).ok().map(|at| list[at].1),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Numbers::List(list) if list.is_empty())
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        let (one, list): (_, &[_]) = match &self.0 {
            Numbers::Value(value) => (Some((VALUE, *value)), &[][..]),
            Numbers::List(list) => (None, &list[..]),
        };
        one.into_iter().chain(list.iter().map(|(name, value)| (&**name, *value)))
    }

    /// All of them, the declared ones first and in their order.
    pub fn in_order<'a>(&'a self, declared: &'a [Output]) -> impl Iterator<Item = (&'a str, f64)> {
        let first =
            declared.iter().filter_map(|output| Some((output.name.as_str(), self.get(&output.name)?)));
        let others = self.iter().filter(|(name, _)| declared.iter().all(|output| output.name != *name));
        first.chain(others)
    }

    /// Whether they meet every limit; a number that is missing does not.
    pub fn meet(&self, limits: &[Limit]) -> bool {
        limits.iter().all(|limit| self.get(limit.name()).is_some_and(|value| limit.is_met(value)))
    }

    /// The limits that they are beyond.
    pub fn violate<'a>(&'a self, limits: &'a [Limit]) -> impl Iterator<Item = &'a Limit> {
        limits.iter().filter(|limit| self.get(limit.name()).is_some_and(|value| !limit.is_met(value)))
    }

    /// The same as a JSON object.
    pub fn to_json(&self, declared: &[Output]) -> serde_json::Map<String, serde_json::Value> {
        self.in_order(declared).map(|(name, value)| (name.to_owned(), value.into())).collect()
    }
}

/// Where a name is, or belongs.
fn place(list: &[(Box<str>, f64)], name: &str) -> Result<usize, usize> {
    list.binary_search_by(|(other, _)| (**other).cmp(name))
}

/// Numbers that are not finite are left out.
impl FromIterator<(String, f64)> for Outputs {
    fn from_iter<T: IntoIterator<Item = (String, f64)>>(numbers: T) -> Outputs {
        let mut outputs = Outputs::new();
        for (name, value) in numbers {
            outputs.insert(name, value);
        }
        outputs
    }
}

/// For people: `mass 1.2, stress 180.0`.
impl fmt::Display for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(k, (name, value))| {
            f.write_str(if k > 0 { ", " } else { "" })?;
            write!(f, "{name} {value:?}")
        })
    }
}

/// Outputs in a file.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<String, f64>,
}

impl From<Outputs> for Written {
    fn from(outputs: Outputs) -> Written {
        let others = outputs.iter().filter(|(name, _)| *name != VALUE);
        let others = others.map(|(name, value)| (name.to_owned(), value)).collect();
        Written { value: outputs.get(VALUE), outputs: others }
    }
}

impl From<Written> for Outputs {
    fn from(Written { value, outputs }: Written) -> Outputs {
        outputs.into_iter().chain(value.map(|value| (VALUE.to_owned(), value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(numbers: &[(&str, f64)]) -> Outputs {
        numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn only_finite_numbers_are_kept() {
        let mut outputs = outputs(&[("mass", 1.5), ("stress", f64::NAN)]);
        assert!(!outputs.insert("time", f64::INFINITY) && outputs.insert("time", -0.5));
        assert_eq!(outputs.to_string(), "mass 1.5, time -0.5");
        assert_eq!((outputs.get("time"), outputs.get("stress")), (Some(-0.5), None));
        assert!(Outputs::one(VALUE, f64::NAN).is_empty());
    }

    #[test]
    fn limits_want_every_number() {
        let limits = ["stress <= 2", "1 <= lift <= 3"].map(|text| Limit::parse(text).unwrap());
        let violated = |some: &Outputs| some.violate(&limits).map(Limit::name).collect::<Vec<_>>().join(" ");
        for (numbers, is_met, beyond) in [
            (&[("stress", 2.0), ("lift", 1.0)][..], true, ""),
            (&[("stress", 2.1), ("lift", 0.9)], false, "stress lift"),
            (&[("stress", 1.0)], false, ""),
            (&[], false, ""),
        ] {
            let some = outputs(numbers);
            assert_eq!((some.meet(&limits), violated(&some).as_str()), (is_met, beyond), "{some}");
        }
        assert!(outputs(&[]).meet(&[]));
    }

    #[test]
    fn the_value_stands_by_itself_in_files() {
        for (some, text) in [
            (outputs(&[]), "{}"),
            (outputs(&[("value", 0.1)]), r#"{"value":0.1}"#),
            (outputs(&[("mass", 0.1), ("a", 2.0)]), r#"{"outputs":{"a":2.0,"mass":0.1}}"#),
            (outputs(&[("mass", 0.1), ("value", 2.0)]), r#"{"value":2.0,"outputs":{"mass":0.1}}"#),
        ] {
            assert_eq!(serde_json::to_string(&some).unwrap(), text);
            assert_eq!(serde_json::from_str::<Outputs>(text).unwrap(), some);
        }
    }

    #[test]
    fn people_see_the_order_of_the_study_file() {
        let declared =
            ["stress", "mass", "gone"].map(|name| Output { name: name.to_owned(), goal: Goal::Record });
        let some = outputs(&[("mass", 1.0), ("extra", 3.0), ("stress", 2.0)]);
        let names: Vec<String> = some.to_json(&declared).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["stress", "mass", "extra"]);
    }
}
