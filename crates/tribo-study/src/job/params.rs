//! The point of an attempt, read from `params.json`, and the other forms a command may want it in.
//!
//! `params.json` is an object of names; a value is a number, a text, or an array of those for a vector. The order of the
//! file is the order of the study file, and Dakota's formats number variables by it, so it is kept. Every real number is
//! written as the shortest text that reads back to the same bits.
//!
//! The layouts are those of Dakota 6.15 and older, byte for byte: its readers match them with regular expressions. Newer
//! ones take them too. Dakota knows scalars only, so element k of a vector x is the variable `x_k`, k from 0.

use super::names::variables;
use super::printf::shortest;
use crate::config::{Command, ParamsFormat};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// More scalars than this are not all given in the environment: every process that is started copies it, and ten thousand
/// cost seconds for each.
const MOST_IN_ENVIRONMENT: usize = 1_000;

/// Name of the parameters in one of Dakota's formats.
pub const DAKOTA_FILE: &str = "params.in";

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A category.
    Text(String),
    /// A vector.
    Vector(Vec<Value>),
}

/// The values of all parameters, in the order of the study file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params(Vec<(String, Value)>);

impl Params {
    /// Reads `params.json`.
    pub fn read(text: &[u8]) -> serde_json::Result<Params> {
        serde_json::from_slice(text)
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The names of all scalars, in order.
    pub(super) fn scalars(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| !matches!(value, Value::Vector(_))).map(|(name, _)| name.as_str())
    }

    /// Whether there are few enough scalars to give all of them in the environment.
    pub(super) fn are_in_environment(&self) -> bool {
        self.scalars().count() <= MOST_IN_ENVIRONMENT
    }

    /// The variables that scalars are given in. Vectors have none: an environment of 100,000 numbers starts no program. Of
    /// very many scalars only those are given that the command itself names; all are in the parameters file.
    pub fn environment(&self, command: &Command) -> Vec<(String, String)> {
        let scalars = self.0.iter().filter(|(_, value)| !matches!(value, Value::Vector(_)));
        let all = scalars.map(|(name, value)| (variable(name), value.to_string()));
        if self.are_in_environment() {
            return all.collect();
        }
        let words = match command {
            Command::Shell(line) => std::slice::from_ref(line),
            Command::Argv(words) => words,
        };
        let named: BTreeSet<String> = words.iter().flat_map(|word| variables(word)).collect();
        all.filter(|(variable, _)| named.contains(variable)).collect()
    }

    /// What Dakota's formats call each variable, and the parameter that it belongs to.
    pub(super) fn labels(&self) -> Vec<(String, &str)> {
        let mut labels = vec![];
        for (name, value) in &self.0 {
            let label = descriptor(name);
            match value {
                Value::Vector(elements) => {
                    labels.extend((0..elements.len()).map(|k| (format!("{label}_{k}"), name.as_str())));
                }
                _ => labels.push((label, name.as_str())),
            }
        }
        labels
    }

    /// The text of the parameters in one of Dakota's formats; `trial` becomes the evaluation's number, and the functions
    /// are named as `responses`.
    pub fn dakota(&self, format: ParamsFormat, trial: u64, responses: &[String]) -> String {
        let variables = self.flatten();
        let reals: Vec<(usize, &str)> = variables
            .iter()
            .enumerate()
            .filter(|(_, (_, value))| matches!(value, Value::Real(_)))
            .map(|(index, (label, _))| (index + 1, label.as_str()))
            .collect();
        let mut lines = match format {
            ParamsFormat::Aprepro => Lines { text: String::new(), aprepro: true },
            ParamsFormat::Json | ParamsFormat::Dakota => Lines { text: String::new(), aprepro: false },
        };
        lines.count(variables.len() as u64, "variables", "DAKOTA_VARS");
        for (label, value) in &variables {
            lines.value(value, label);
        }
        lines.count(responses.len() as u64, "functions", "DAKOTA_FNS");
        for (index, name) in responses.iter().enumerate() {
            let tag = format!("ASV_{}:{}", index + 1, descriptor(name));
            // 1 asks for the function's value, and for no derivatives.
            lines.count(1, &tag, &tag);
        }
        lines.count(reals.len() as u64, "derivative_variables", "DAKOTA_DER_VARS");
        for (position, (index, label)) in reals.iter().enumerate() {
            let tag = format!("DVV_{}:{label}", position + 1);
            lines.count(*index as u64, &tag, &tag);
        }
        lines.count(0, "analysis_components", "DAKOTA_AN_COMPS");
        lines.count(trial, "eval_id", "DAKOTA_EVAL_ID");
        lines.text
    }

    /// Scalars with labels that have no blanks.
    fn flatten(&self) -> Vec<(String, &Value)> {
        let mut scalars = Vec::new();
        for (name, value) in &self.0 {
            let label = descriptor(name);
            match value {
                Value::Vector(elements) => {
                    scalars.extend(
                        elements.iter().enumerate().map(|(k, element)| (format!("{label}_{k}"), element)),
                    );
                }
                scalar => scalars.push((label, scalar)),
            }
        }
        scalars
    }
}

/// The variable of the environment that a scalar is given in: `TRIBO_X_` and the name in capitals, with `_` for whatever is
/// neither letter nor digit.
pub(super) fn variable(name: &str) -> String {
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("TRIBO_X_{}", name.chars().map(capital).collect::<String>())
}

/// A name as Dakota can have it: without blanks.
pub(super) fn descriptor(name: &str) -> String {
    name.replace(char::is_whitespace, "_")
}

/// As it stands in environments and decks. Elements of a vector are separated by blanks.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => value.fmt(f),
            Value::Real(value) => f.write_str(&shortest(*value)),
            Value::Text(text) => f.write_str(text),
            Value::Vector(elements) => elements.iter().enumerate().try_for_each(|(k, element)| match k {
                0 => element.fmt(f),
                _ => write!(f, " {element}"),
            }),
        }
    }
}

/// A file of Dakota being written: values right-aligned in 43 columns and a label, or `{ label = value }`.
struct Lines {
    text: String,
    aprepro: bool,
}

impl Lines {
    fn count(&mut self, count: u64, label: &str, aprepro_label: &str) {
        self.line(&count.to_string(), if self.aprepro { aprepro_label } else { label });
    }

    fn value(&mut self, value: &Value, label: &str) {
        match value {
            // The quote is what Dakota aligns, not the text.
            Value::Text(text) if self.aprepro => self.line(&format!("{:>22}{text}\"", "\""), label),
            value => self.line(&value.to_string(), label),
        }
    }

    fn line(&mut self, value: &str, label: &str) {
        // Writing to a string cannot fail.
        let _ = match self.aprepro {
            true => writeln!(self.text, "{:20}{{ {label:<15} = {value:>22} }}", ""),
            false => writeln!(self.text, "{value:>43} {label}"),
        };
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Params, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Params;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of parameters")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut params = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    params.push(entry);
                }
                Ok(Params(params))
            }
        }
        from.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text or an array of those")
            }
            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Integer(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
                i64::try_from(value).map(Value::Integer).map_err(|_| E::custom("an integer beyond 2^63"))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Real(value))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
                let mut vector = Vec::new();
                while let Some(element) = elements.next_element()? {
                    if matches!(element, Value::Vector(_)) {
                        return Err(A::Error::custom("an array in an array"));
                    }
                    vector.push(element);
                }
                Ok(Value::Vector(vector))
            }
        }
        from.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn obj_fn() -> Vec<String> {
        vec!["obj_fn".to_owned()]
    }

    fn params(json: &str) -> Params {
        Params::read(json.as_bytes()).unwrap()
    }

    #[test]
    fn the_order_of_the_file_is_kept() {
        let params = params(r#"{"zeta": 1, "alpha": [0.5, 2], "mid": "cg"}"#);
        assert_eq!(params.names().collect::<Vec<_>>(), ["zeta", "alpha", "mid"]);
        assert_eq!(params.get("zeta"), Some(&Value::Integer(1)));
        assert_eq!(params.get("alpha"), Some(&Value::Vector(vec![Value::Real(0.5), Value::Integer(2)])));
        assert_eq!(params.get("none"), None);
    }

    #[test]
    fn what_is_not_a_point_is_refused() {
        for text in
            ["[1]", "{\"a\": [[1]]}", "{\"a\": {}}", "{\"a\": null}", "{\"a\": true}", "{\"a\": 1", ""]
        {
            assert!(Params::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn scalars_are_in_the_environment() {
        let params = params(r#"{"mach no": 0.8, "n-1": 3, "solver": "cg", "x": [1.0]}"#);
        let expected = [("TRIBO_X_MACH_NO", "0.8"), ("TRIBO_X_N_1", "3"), ("TRIBO_X_SOLVER", "cg")];
        assert!(
            params
                .environment(&Command::Argv(vec![]))
                .into_iter()
                .eq(expected.map(|(name, value)| (name.to_owned(), value.to_owned())))
        );
    }

    #[test]
    fn dakota_standard_layout() {
        let text = params(r#"{"x1": 0.7488318331306801, "n": 3, "s": "foo bar", "v": [1e-7, -2.5]}"#);
        let expected = "                                          5 variables
                         0.7488318331306801 x1
                                          3 n
                                    foo bar s
                                       1e-7 v_0
                                       -2.5 v_1
                                          1 functions
                                          1 ASV_1:obj_fn
                                          3 derivative_variables
                                          1 DVV_1:x1
                                          4 DVV_2:v_0
                                          5 DVV_3:v_1
                                          0 analysis_components
                                         12 eval_id
";
        assert_eq!(text.dakota(ParamsFormat::Dakota, 12, &obj_fn()), expected);
    }

    #[test]
    fn every_response_is_asked_for() {
        let names = ["mass".to_owned(), "peak stress".to_owned()];
        let text = params(r#"{"n": 3}"#).dakota(ParamsFormat::Dakota, 1, &names);
        let lines: Vec<Vec<&str>> =
            text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[..3], [["2", "functions"], ["1", "ASV_1:mass"], ["1", "ASV_2:peak_stress"]]);
    }

    #[test]
    fn dakota_aprepro_layout() {
        let text =
            params(r#"{"x1": 0.25, "dussv_1": "foo bar"}"#).dakota(ParamsFormat::Aprepro, 1, &obj_fn());
        let expected = "                    { DAKOTA_VARS     =                      2 }
                    { x1              =                   0.25 }
                    { dussv_1         =                      \"foo bar\" }
                    { DAKOTA_FNS      =                      1 }
                    { ASV_1:obj_fn    =                      1 }
                    { DAKOTA_DER_VARS =                      1 }
                    { DVV_1:x1        =                      1 }
                    { DAKOTA_AN_COMPS =                      0 }
                    { DAKOTA_EVAL_ID  =                      1 }
";
        assert_eq!(text, expected);
    }

    proptest! {
        #[test]
        fn floats_survive_every_format(bits in prop::collection::vec(any::<u64>(), 1..5)) {
            let values: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).filter(|v| v.is_finite()).collect();
            let params = Params::read(&serde_json::to_vec(&serde_json::json!({ "x": values })).unwrap()).unwrap();
            let same = |text: &str, value: f64| text.parse::<f64>().unwrap().to_bits() == value.to_bits();
            let standard = params.dakota(ParamsFormat::Dakota, 0, &obj_fn());
            let aprepro = params.dakota(ParamsFormat::Aprepro, 0, &obj_fn());
            for (k, &value) in values.iter().enumerate() {
                let line = standard.lines().nth(k + 1).unwrap();
                prop_assert!(same(line.split_whitespace().next().unwrap(), value), "{}", line);
                let line = aprepro.lines().nth(k + 1).unwrap();
                prop_assert!(same(line.split_whitespace().nth(3).unwrap(), value), "{}", line);
            }
        }
    }
}
