//! The study that is run under fire: its file, its simulator, and what the simulator computes.
//!
//! The simulator is a shell script. It notes every execution outside the store, takes 20 to 80 ms, fails once in twenty
//! trials, and in one of eight leaves a daemon behind that would live for minutes: half of them keep their standard
//! output open, half close it. Its value is whole-number arithmetic of two parameters, so that it can be checked here; the
//! third has no effect and keeps the model's coordinates from being round numbers.

use crate::seeds::Failure;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tribo_study::config::Config;
use tribo_study::layout::Layout;

const SCRIPT: &str = r#"echo "$TRIBO_TRIAL $TRIBO_ATTEMPT" >> "$1"
case $((TRIBO_TRIAL % 16)) in
  3) (setsid sleep 300 &) ;;
  11) (setsid sleep 300 > /dev/null 2>&1 &) ;;
esac
sleep "0.0$((20 + TRIBO_TRIAL * 37 % 61))"
if [ $((TRIBO_TRIAL % 20)) = 7 ]; then
  echo "trial $TRIBO_TRIAL does not converge" >&2
  exit 1
fi
a=$((TRIBO_X_A - 300000)) b=$((TRIBO_X_B - 650000))
echo "{\"objective\": $((a * a + b * b))}" > "$TRIBO_RESULT"
"#;

/// The value of a point.
pub(super) fn objective(point: &Map<String, Value>) -> Option<f64> {
    let number = |name: &str| point.get(name)?.as_i64();
    let (a, b) = (number("a")? - 300_000, number("b")? - 650_000);
    // At most 1e12, which a double holds exactly.
    Some((a * a + b * b) as f64)
}

/// A study in a folder of its own, which goes when the study is dropped.
#[derive(Debug)]
pub(super) struct Bed {
    folder: TempDir,
    /// The study file.
    pub(super) config: Config,
}

impl Bed {
    /// A new study.
    pub(super) fn new(strategy: &str, evaluations: usize, workers: usize, seed: u64) -> Result<Bed, Failure> {
        let folder = tempfile::Builder::new().prefix("tribo-chaos-").tempdir()?;
        std::fs::write(folder.path().join("simulate.sh"), SCRIPT)?;
        // A JSON string is a TOML string too.
        let log = serde_json::to_string(&executions_log(folder.path()))?;
        let text = study_file(strategy, evaluations, workers, seed, &log);
        let layout = Layout::of(folder.path());
        std::fs::write(layout.file(), &text)?;
        let config = Config::parse(layout.file(), &text)?;
        Ok(Bed { folder, config })
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder where it is.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Where the simulator notes its executions.
pub(super) fn executions_log(folder: &Path) -> PathBuf {
    folder.join("executions")
}

fn study_file(strategy: &str, evaluations: usize, workers: usize, seed: u64, log: &str) -> String {
    format!(
        r#"study_version = 1
name = "chaos"
direction = "minimize"
seed = {seed}

[[parameter]]
name = "a"
type = "int"
low = 0
high = 1000000

[[parameter]]
name = "b"
type = "int"
low = 0
high = 1000000

[[parameter]]
name = "c"
type = "float"
low = -1.0
high = 1.0

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_script_and_the_objective_agree() {
        let bed = Bed::new("bo", 10, 2, 5).unwrap();
        for (trial, a, b) in [(0, 0, 0), (5, 1_000_000, 3), (6, 300_000, 650_000), (7, 1, 1)] {
            let result = bed.folder().join("result.json");
            let status = Command::new("sh")
                .arg(bed.folder().join("simulate.sh"))
                .arg(executions_log(bed.folder()))
                .env("TRIBO_TRIAL", trial.to_string())
                .env("TRIBO_ATTEMPT", "1")
                .env("TRIBO_X_A", a.to_string())
                .env("TRIBO_X_B", b.to_string())
                .env("TRIBO_RESULT", &result)
                .stderr(std::process::Stdio::null())
                .status()
                .unwrap();
            if trial == 7 {
                assert_eq!(status.code(), Some(1));
                continue;
            }
            let answer: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
            let point = serde_json::json!({"a": a, "b": b, "c": 0.5});
            assert_eq!(answer["objective"].as_f64(), objective(point.as_object().unwrap()), "trial {trial}");
        }
        let log = std::fs::read_to_string(executions_log(bed.folder())).unwrap();
        assert_eq!(log, "0 1\n5 1\n6 1\n7 1\n");
    }
}
