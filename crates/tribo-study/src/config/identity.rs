//! What makes a study the one it is: everything that decides its proposals, in one form however the file is written.
//!
//! Objective, direction, seed, parameters and strategy; for `auto` with many inputs, which looks at it, also the number of evaluations. Not the name,
//! nor where and how evaluations run. Both sides of a comparison are made by the same program from the text of a file, so
//! the form can change with the program.

use super::Config;
use super::keys::{PARAMETER, STRATEGY};
use super::view::View;
use crate::outputs::{Goal, Output};
use serde::{Deserialize, Serialize};
use tribo::embed;
use tribo::strategy::Strategy;

/// Keys and values in the order of the description.
type Pairs = Vec<(String, String)>;

/// The identity of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// The name of the output that is optimised.
    objective: String,
    direction: String,
    seed: u64,
    parameters: Vec<Pairs>,
    strategy: Pairs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evaluations: Option<usize>,
}

impl Identity {
    /// The identity of a checked file.
    pub(super) fn new(
        file: &View<'_>,
        outputs: &[Output],
        strategy: &Strategy,
        evaluations: Option<usize>,
    ) -> Identity {
        let objective = outputs.iter().find(|output| output.goal != Goal::Record);
        let mut pairs = file.inside("strategy", &STRATEGY).canonical();
        if let Strategy::Bo(settings) | Strategy::Paper(settings) = strategy
            && let embed::Kind::Gaussian { dim, .. } | embed::Kind::Hashing { dim, .. } = settings.embedding
        {
            // Its default depends on the space: written out or not, it is the same study.
            pairs.retain(|(key, _)| key != "model_dim");
            pairs.push(("model_dim".to_owned(), dim.to_string()));
        }
        Identity {
            objective: objective.map(|output| output.name.clone()).unwrap_or_default(),
            direction: match objective.map(|output| output.goal) {
                Some(Goal::Maximize) => "maximize".to_owned(),
                _ => "minimize".to_owned(),
            },
            seed: file.integer("seed").unwrap_or(0),
            parameters: file.sections("parameter", &PARAMETER).iter().map(View::canonical).collect(),
            strategy: pairs,
            evaluations,
        }
    }

    /// One line of text.
    pub(super) fn to_text(&self) -> String {
        // Strings and numbers only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn difference(&self, new: &Identity) -> Option<String> {
        if self.objective != new.objective {
            return Some(format!("output to optimise {} -> {}", self.objective, new.objective));
        }
        if self.direction != new.direction {
            return Some(format!("direction {} -> {}", self.direction, new.direction));
        }
        if self.seed != new.seed {
            return Some(format!("seed {} -> {}", self.seed, new.seed));
        }
        if let Some(difference) = parameters_difference(&self.parameters, &new.parameters) {
            return Some(difference);
        }
        if let Some((key, old, new)) = pairs_difference(&self.strategy, &new.strategy) {
            return Some(match key {
                "name" => format!("strategy {old} -> {new}"),
                _ => format!("strategy: {key} {old} -> {new}"),
            });
        }
        let words = |n: Option<usize>| n.map_or("none".to_owned(), |n| n.to_string());
        (self.evaluations != new.evaluations).then(|| {
            let (old, new) = (words(self.evaluations), words(new.evaluations));
            format!("budget.evaluations {old} -> {new}, which `auto` looks at")
        })
    }
}

fn parameters_difference(old: &[Pairs], new: &[Pairs]) -> Option<String> {
    let name = |pairs: &Pairs| pairs.first().map(|(_, name)| name.clone()).unwrap_or_default();
    let without = |from: &[Pairs], other: &[Pairs]| {
        from.iter().map(name).find(|wanted| !other.iter().any(|pairs| name(pairs) == *wanted))
    };
    if let Some(gone) = without(old, new) {
        return Some(format!("parameter `{gone}` is gone"));
    }
    if let Some(added) = without(new, old) {
        return Some(format!("parameter `{added}` is new"));
    }
    for (old, new) in old.iter().zip(new) {
        if name(old) != name(new) {
            return Some(format!(
                "order of the parameters: `{}` stands where `{}` was",
                name(new),
                name(old)
            ));
        }
        if let Some((key, before, after)) = pairs_difference(old, new) {
            return Some(format!("parameter `{}`: {key} {before} -> {after}", name(old)));
        }
    }
    None
}

/// The first key with another value: key, old value, new value.
fn pairs_difference<'a>(old: &'a Pairs, new: &'a Pairs) -> Option<(&'a str, &'a str, &'a str)> {
    let value = |pairs: &'a Pairs, wanted: &str| {
        pairs.iter().find(|(key, _)| key == wanted).map_or("not given", |(_, value)| value)
    };
    let mut keys = old.iter().chain(new).map(|(key, _)| key.as_str());
    keys.find(|key| value(old, key) != value(new, key)).map(|key| (key, value(old, key), value(new, key)))
}

impl Config {
    /// The first part of the identity in which `other` differs, from this to the other: `seed 1 -> 2`. None if both are
    /// the same study.
    pub fn identity_difference(&self, other: &Config) -> Option<String> {
        if self.identity == other.identity {
            return None;
        }
        let read = |config: &Config| serde_json::from_str::<Identity>(&config.identity).ok();
        match (read(self), read(other)) {
            (Some(old), Some(new)) => old.difference(&new),
            _ => None,
        }
        .or_else(|| Some("the study".to_owned()))
    }
}
