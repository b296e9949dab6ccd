//! The study file, and how it is changed while the study goes on.
//!
//! A change is one of: wider or narrower bounds of a whole or of a real number, more or fewer evaluations, another strategy,
//! a parameter more or less, and of a limited study another limit. All but the evaluations begin a new chapter. Narrow bounds
//! keep more than a third of the widest space, and limits leave much of it, so that a study that ends there has a best point.

use tribo::rng::Stream;

/// What parameter `d` is while the study file does not have it.
pub(super) const D_BEFORE: i64 = 500_000;

const A_BOUNDS: [(i64, i64); 3] = [(0, 1_000_000), (100_000, 900_000), (-200_000, 1_200_000)];
const C_BOUNDS: [(f64, f64); 3] = [(-1.0, 1.0), (-0.8, 0.8), (-1.2, 1.2)];
const STRATEGIES: [&str; 3] = ["bo", "auto", "random"];
/// Of the load, which is 185 millions at the lowest value: two limits bind there, one does not.
const LIMITS: [i64; 3] = [150_000_000, 120_000_000, 250_000_000];

/// A study file of which some can change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StudyFile {
    pub(super) strategy: String,
    pub(super) evaluations: usize,
    pub(super) workers: usize,
    pub(super) seed: u64,
    a: (i64, i64),
    c: (f64, f64),
    /// Whether there is a parameter `d`.
    d: bool,
    /// What the load must not be above, in a limited study.
    at_most: Option<i64>,
}

impl StudyFile {
    pub(super) fn new(strategy: &str, evaluations: usize, workers: usize, seed: u64) -> StudyFile {
        let strategy = strategy.to_owned();
        let (a, c) = (A_BOUNDS[0], C_BOUNDS[0]);
        StudyFile { strategy, evaluations, workers, seed, a, c, d: false, at_most: None }
    }

    /// The same with a limit on the load.
    pub(super) fn limited(self) -> StudyFile {
        StudyFile { at_most: Some(LIMITS[0]), ..self }
    }

    /// The file after a change that leaves about `evaluations` to the study.
    pub(super) fn changed(&self, evaluations: usize, stream: &mut Stream) -> StudyFile {
        let mut file = self.clone();
        while file == *self {
            match stream.below(if self.at_most.is_some() { 6 } else { 5 }) {
                0 => file.a = A_BOUNDS[stream.below(A_BOUNDS.len())],
                1 => file.c = C_BOUNDS[stream.below(C_BOUNDS.len())],
                2 => file.evaluations = evaluations / 2 + stream.below(evaluations.max(1)) + 1,
                3 => file.strategy = STRATEGIES[stream.below(STRATEGIES.len())].to_owned(),
                4 => file.d = !file.d,
                _ => file.at_most = Some(LIMITS[stream.below(LIMITS.len())]),
            }
        }
        file
    }

    /// Its text. `log` is where the simulator keeps its notes.
    pub(super) fn text(&self, log: &str) -> String {
        let StudyFile { strategy, evaluations, workers, seed, a, c, d, at_most } = self;
        let ((a_low, a_high), (c_low, c_high)) = (a, c);
        let d = match d {
            true => format!(
                "\n[[parameter]]\nname = \"d\"\ntype = \"int\"\nlow = 0\nhigh = 1000000\nearlier = {D_BEFORE}\n"
            ),
            false => String::new(),
        };
        let (direction, outputs) = match at_most {
            None => ("direction = \"minimize\"\n", String::new()),
            Some(load) => (
                "",
                format!(
                    "[[output]]\nname = \"value\"\ngoal = \"minimize\"\n\n[[output]]\nname = \"load\"\nat_most = {load}\n\n"
                ),
            ),
        };
        format!(
            r#"study_version = 1
name = "chaos"
{direction}seed = {seed}

{outputs}[[parameter]]
name = "a"
type = "int"
low = {a_low}
high = {a_high}

[[parameter]]
name = "b"
type = "int"
low = 0
high = 1000000

[[parameter]]
name = "c"
type = "float"
low = {c_low:?}
high = {c_high:?}
{d}
[strategy]
name = "{strategy}"

[budget]
evaluations = {evaluations}

[run]
on = "local"
workers = {workers}
command = ["sh", "simulate.sh", {log}]
"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tribo_study::config::Config;

    fn config(file: &StudyFile) -> Config {
        Config::parse(Path::new("study.toml"), &file.text("\"notes\"")).unwrap()
    }

    #[test]
    fn changes_are_of_all_kinds_and_all_are_study_files() {
        let mut stream = Stream::new(8, "changes", 0);
        let mut file = StudyFile::new("bo", 60, 4, 1);
        let mut said = String::new();
        for _ in 0..60 {
            let next = file.changed(60, &mut stream);
            let (before, after) = (config(&file), config(&next));
            assert_ne!(file, next);
            assert!((31..=90).contains(&after.budget.evaluations.unwrap()));
            said.push_str(&before.identity_difference(&after).unwrap_or("evaluations".to_owned()));
            file = next;
        }
        for change in [
            "`a`: low 0 -> 100000",
            "`c`: high",
            "evaluations",
            "-> random",
            "-> auto",
            "-> bo",
            "`d` is new",
            "`d` is gone",
        ] {
            assert!(said.contains(change), "no {change} in {said}");
        }
    }

    #[test]
    fn the_limit_of_a_limited_study_is_changed_too() {
        let mut stream = Stream::new(8, "changes", 0);
        let mut file = StudyFile::new("bo", 60, 4, 1).limited();
        let mut said = String::new();
        for _ in 0..60 {
            let next = file.changed(60, &mut stream);
            said.push_str(&config(&file).identity_difference(&config(&next)).unwrap_or_default());
            assert_eq!(config(&next).limits.len(), 1);
            file = next;
        }
        assert!(said.contains("load <= 120000000 -> load <= "), "{said}");
    }
}
