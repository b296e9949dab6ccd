//! What makes a study the one it is: everything that decides its proposals, in one form however the file is written.
//!
//! Objective, direction, limits, constraints, seed, parameters and strategy; for `auto` with many inputs, which looks at it, also the number of evaluations. Not the name,
//! nor where and how evaluations run. Both sides of a comparison are made by the same program from the text of a file, so
//! the form can change with the program.

use super::Config;
use super::keys::{PARAMETER, STRATEGY};
use super::view::View;
use crate::outputs::{Goal, Output};
use serde::{Deserialize, Serialize};
use tribo::embed;
use tribo::limit::Limit;
use tribo::space::formula::Formula;
use tribo::strategy::Strategy;

/// Keys and values in the order of the description.
type Pairs = Vec<(String, String)>;

/// The identity of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// The name of the output that is optimised.
    objective: String,
    direction: String,
    /// The output of each limit, and the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    limits: Pairs,
    /// What holds between parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<String>,
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
        limits: &[Limit],
        constraints: &[Formula],
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
            limits: limits.iter().map(|limit| (limit.name().to_owned(), canonical(limit))).collect(),
            constraints: constraints.iter().map(ToString::to_string).collect(),
            seed: file.integer("seed").unwrap_or(0),
            parameters: file
                .sections("parameter", &PARAMETER)
                .iter()
                // These speak of evaluations made before and of how they are made, and change no proposal.
                .map(|parameter| {
                    parameter
                        .canonical()
                        .into_iter()
                        .filter(|(key, _)| key != "earlier" && key != "unused")
                        .collect()
                })
                .collect(),
            strategy: pairs,
            evaluations,
        }
    }

    /// One line of text.
    pub(super) fn to_text(&self) -> String {
        // Strings and numbers only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// All that differs, in words.
    fn differences(&self, new: &Identity) -> Vec<String> {
        let mut all = vec![];
        if self.objective != new.objective {
            all.push(format!("output to optimise {} -> {}", self.objective, new.objective));
        }
        if self.direction != new.direction {
            all.push(format!("direction {} -> {}", self.direction, new.direction));
        }
        if self.seed != new.seed {
            all.push(format!("seed {} -> {}", self.seed, new.seed));
        }
        all.extend(limit_differences(&self.limits, &new.limits));
        all.extend(constraint_differences(&self.constraints, &new.constraints));
        all.extend(parameter_differences(&self.parameters, &new.parameters));
        all.extend(pairs_differences(&self.strategy, &new.strategy).into_iter().map(|(key, old, new)| {
            match key {
                "name" => format!("strategy {old} -> {new}"),
                _ => format!("strategy: {key} {old} -> {new}"),
            }
        }));
        let words = |n: Option<usize>| n.map_or("none".to_owned(), |n| n.to_string());
        // Another strategy, or another number of inputs, may be why nobody looks at it any more.
        let both = self.evaluations.is_some() && new.evaluations.is_some();
        if self.evaluations != new.evaluations && (both || all.is_empty()) {
            let (old, new) = (words(self.evaluations), words(new.evaluations));
            all.push(format!("budget.evaluations {old} -> {new}, which `auto` looks at"));
        }
        all
    }
}

fn parameter_differences(old: &[Pairs], new: &[Pairs]) -> Vec<String> {
    let name = |pairs: &Pairs| pairs.first().map(|(_, name)| name.clone()).unwrap_or_default();
    let without = |from: &[Pairs], other: &[Pairs]| -> Vec<String> {
        from.iter().map(name).filter(|wanted| !other.iter().any(|pairs| name(pairs) == *wanted)).collect()
    };
    let mut all: Vec<String> =
        without(old, new).iter().map(|gone| format!("parameter `{gone}` is gone")).collect();
    all.extend(without(new, old).iter().map(|added| format!("parameter `{added}` is new")));
    let same = |from: &[Pairs], other: &[Pairs]| -> Vec<String> {
        from.iter().map(name).filter(|wanted| other.iter().any(|pairs| name(pairs) == *wanted)).collect()
    };
    let (before, after) = (same(old, new), same(new, old));
    if let Some((was, is)) = before.iter().zip(&after).find(|(was, is)| was != is) {
        all.push(format!("order of the parameters: `{is}` stands where `{was}` was"));
    }
    for old in old {
        let Some(new) = new.iter().find(|new| name(new) == name(old)) else { continue };
        let differences = pairs_differences(old, new).into_iter();
        all.extend(
            differences.map(|(key, was, is)| format!("parameter `{}`: {key} {was} -> {is}", name(old))),
        );
    }
    all
}

/// A limit, with its tolerance if that is not the usual one.
fn canonical(limit: &Limit) -> String {
    let usual = Limit::new(limit.name(), limit.low(), limit.high()).is_ok_and(|usual| usual == *limit);
    match usual {
        true => limit.to_string(),
        false => format!("{limit} within {:?}", limit.tolerance()),
    }
}

fn limit_differences(old: &Pairs, new: &Pairs) -> Vec<String> {
    let differences = pairs_differences(old, new);
    match differences.is_empty() && old != new {
        true => vec!["the order of the limits".to_owned()],
        false => differences
            .into_iter()
            .map(|(output, was, is)| format!("limit on `{output}`: {was} -> {is}"))
            .collect(),
    }
}

fn constraint_differences(old: &[String], new: &[String]) -> Vec<String> {
    let gone =
        old.iter().filter(|text| !new.contains(text)).map(|text| format!("constraint `{text}` is gone"));
    let added =
        new.iter().filter(|text| !old.contains(text)).map(|text| format!("constraint `{text}` is new"));
    let all: Vec<String> = gone.chain(added).collect();
    match all.is_empty() && old != new {
        true => vec!["the order of the constraints".to_owned()],
        false => all,
    }
}

/// The keys with other values: key, old value, new value.
fn pairs_differences<'a>(old: &'a Pairs, new: &'a Pairs) -> Vec<(&'a str, &'a str, &'a str)> {
    let value = |pairs: &'a Pairs, wanted: &str| {
        pairs.iter().find(|(key, _)| key == wanted).map_or("not given", |(_, value)| value)
    };
    let mut keys: Vec<&str> = vec![];
    for (key, _) in old.iter().chain(new) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let differ = keys.into_iter().filter(|key| value(old, key) != value(new, key));
    differ.map(|key| (key, value(old, key), value(new, key))).collect()
}

impl Config {
    /// The parts of the identity in which `other` differs, from this to the other: `seed 1 -> 2; strategy bo -> auto`. None if
    /// both are the same study.
    pub fn identity_difference(&self, other: &Config) -> Option<String> {
        if self.identity == other.identity {
            return None;
        }
        let read = |config: &Config| serde_json::from_str::<Identity>(&config.identity).ok();
        let differences = match (read(self), read(other)) {
            (Some(old), Some(new)) => old.differences(&new),
            _ => vec![],
        };
        Some(if differences.is_empty() { "the study".to_owned() } else { differences.join("; ") })
    }
}
