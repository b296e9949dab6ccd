//! What came of an evaluation: a kind, the numbers it gave, and what is to be said about it.
//!
//! One type from the job to the optimiser: a job's answer carries it, the end of an attempt and the outcome of a trial are
//! recorded with it, and the optimiser is told its objective. Values are in the user's direction.

use super::Kind;
use crate::outputs::{Outputs, VALUE};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What came of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What happened.
    pub kind: Kind,
    /// The numbers it gave: some of them perhaps, whatever happened.
    #[serde(flatten)]
    pub outputs: Outputs,
    /// Why a number is missing, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Finding {
    /// No number, for a reason.
    pub fn none(kind: Kind, reason: impl Into<String>) -> Finding {
        Finding { kind, outputs: Outputs::new(), reason: reason.into() }
    }

    /// An evaluation that broke; the reason begins with a kind, as in `failed: no licence`.
    pub fn failed(reason: impl Into<String>) -> Finding {
        Finding::none(Kind::Failed, reason)
    }

    /// An evaluation that was lost by an accident, which says nothing about its point.
    pub fn lost(reason: impl Into<String>) -> Finding {
        Finding::none(Kind::Lost, reason)
    }

    /// A point that is not allowed.
    pub fn infeasible() -> Finding {
        Finding::none(Kind::Infeasible, "")
    }

    /// Numbers, among which there has to be the objective.
    pub fn measured(outputs: Outputs) -> Finding {
        Finding { kind: Kind::Ok, outputs, reason: String::new() }
    }

    /// An answer of one number: measured if it is finite, else invalid.
    pub fn answered(objective: &str, value: f64) -> Finding {
        match value.is_finite() {
            true => Finding::measured(Outputs::one(objective, value)),
            false => Finding::none(Kind::Invalid, value.to_string()),
        }
    }

    /// The objective, if this is a measurement.
    pub fn value(&self, objective: &str) -> Option<f64> {
        self.outputs.get(objective).filter(|_| self.kind == Kind::Ok)
    }

    /// The same, but invalid where a measurement lacks the objective.
    pub fn with_objective(self, objective: &str) -> Finding {
        match self.kind == Kind::Ok && self.outputs.get(objective).is_none() {
            true => {
                let reason = match self.outputs.is_empty() {
                    true => format!("there is no output `{objective}`"),
                    false => format!("there is no output `{objective}`; there is {}", self.outputs),
                };
                Finding { kind: Kind::Invalid, reason, ..self }
            }
            false => self,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.outputs.get(VALUE)) {
            (Kind::Ok, Some(value)) if self.outputs.iter().count() == 1 => write!(f, "the value {value:?}"),
            (Kind::Ok, _) => self.outputs.fmt(f),
            (Kind::Infeasible, _) => f.write_str("infeasible"),
            (Kind::Invalid, _) => write!(f, "an invalid answer ({})", self.reason),
            (Kind::Lost, _) => write!(f, "lost ({})", self.reason),
            _ => write!(f, "failed ({})", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_has_its_objective() {
        let some: Outputs = [("mass".to_owned(), 1.5), ("time".to_owned(), 3.0)].into_iter().collect();
        let measured = Finding::measured(some.clone());
        assert_eq!(measured.value("mass"), Some(1.5));
        assert_eq!(measured.clone().with_objective("mass"), measured);
        let lacking = measured.with_objective("drag");
        assert_eq!((lacking.kind, &lacking.outputs), (Kind::Invalid, &some));
        assert_eq!(lacking.reason, "there is no output `drag`; there is mass 1.5, time 3.0");
        assert_eq!(lacking.value("mass"), None);
        assert_eq!(Finding::answered("mass", f64::NAN), Finding::none(Kind::Invalid, "NaN"));
        assert_eq!(Finding::answered("value", 2.0).to_string(), "the value 2.0");
    }
}
