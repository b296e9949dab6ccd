//! The study that is run under fire: its simulator, what the simulator computes, and what it notes.
//!
//! The simulator is a shell script. It notes the parameters of every execution and every value outside the store, takes 20
//! to 80 ms, fails once in twenty trials, and in one of eight leaves a daemon behind that would live for minutes: half of
//! them keep their standard output open, half close it. Its value is whole-number arithmetic of the parameters `a`, `b` and
//! `d`, so that it can be checked here; `d` has a fixed value while the study file does not have it. `c` has no effect and
//! keeps the model's coordinates from being round numbers. Limited studies limit a load, which one trial in ten does not give.

use super::file::{D_BEFORE, StudyFile};
use crate::seeds::Failure;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tribo::rng::Stream;
use tribo_study::config::Config;
use tribo_study::layout::Layout;

// One line is one write, whoever else writes. A value is noted when the result is there.
const SCRIPT: &str = r#"echo "began $TRIBO_TRIAL $TRIBO_ATTEMPT $(tr -d '\n' < "$TRIBO_PARAMS")" >> "$1"
case $((TRIBO_TRIAL % 16)) in
  3) (setsid sleep 300 &) ;;
  11) (setsid sleep 300 > /dev/null 2>&1 &) ;;
esac
sleep "0.0$((20 + TRIBO_TRIAL * 37 % 61))"
if [ $((TRIBO_TRIAL % 20)) = 7 ]; then
  echo "trial $TRIBO_TRIAL does not converge" >&2
  exit 1
fi
a=$((TRIBO_X_A - 300000)) b=$((TRIBO_X_B - 650000)) d=$((${TRIBO_X_D:-500000} - 500000))
value=$((a * a + b * b + d * d))
load=$((TRIBO_X_A * TRIBO_X_B / 1000 * (TRIBO_X_A + TRIBO_X_B) / 1000000))
[ $((TRIBO_TRIAL % 10)) != 4 ] || load=NaN
echo "{\"objective\": $value, \"value\": $value, \"load\": $load}" > "$TRIBO_RESULT"
echo "gave $TRIBO_TRIAL $TRIBO_ATTEMPT $value" >> "$1"
"#;

/// The value of a point.
pub(super) fn objective(point: &Map<String, Value>) -> Option<f64> {
    let number = |name: &str| point.get(name)?.as_i64();
    let d = if point.contains_key("d") { number("d")? } else { D_BEFORE };
    let (a, b, d) = (number("a")? - 300_000, number("b")? - 650_000, d - 500_000);
    // Less than 2e12, which a double holds exactly.
    Some((a * a + b * b + d * d) as f64)
}

/// The output that limited studies limit.
pub(super) const LOAD: &str = "load";

/// The load of a trial at a point; None where the simulator gives none.
pub(super) fn load(trial: u64, point: &Map<String, Value>) -> Option<f64> {
    let (a, b) = (point.get("a")?.as_i64()?, point.get("b")?.as_i64()?);
    // Less than 3e15 on the way and 3e9 at the end.
    (trial % 10 != 4).then_some((a * b / 1_000 * (a + b) / 1_000_000) as f64)
}

/// A study in a folder of its own, which goes when the study is dropped.
#[derive(Debug)]
pub(super) struct Bed {
    folder: TempDir,
    file: StudyFile,
    /// Evaluations that it began with.
    evaluations: usize,
    /// The study file.
    pub(super) config: Config,
}

impl Bed {
    /// A new study.
    pub(super) fn new(file: StudyFile) -> Result<Bed, Failure> {
        let folder = tempfile::Builder::new().prefix("tribo-chaos-").tempdir()?;
        std::fs::write(folder.path().join("simulate.sh"), SCRIPT)?;
        let (config, evaluations) = (write(&file, folder.path())?, file.evaluations);
        Ok(Bed { folder, file, evaluations, config })
    }

    /// Changes the study file.
    pub(super) fn change(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        self.file = self.file.changed(self.evaluations, stream);
        self.config = write(&self.file, self.folder())?;
        Ok(())
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

/// Where the simulator keeps its notes.
pub(super) fn notes(folder: &Path) -> PathBuf {
    folder.join("notes")
}

fn write(file: &StudyFile, folder: &Path) -> Result<Config, Failure> {
    // A JSON string is a TOML string too.
    let text = file.text(&serde_json::to_string(&notes(folder))?);
    let layout = Layout::of(folder);
    std::fs::write(layout.file(), &text)?;
    Ok(Config::parse(layout.file(), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::process::Command;

    #[test]
    fn the_script_and_the_objective_agree() {
        let bed = Bed::new(StudyFile::new("bo", 10, 2, 5)).unwrap();
        let points = [
            (0, json!({"a": 0, "b": 0})),
            (5, json!({"a": 1_000_000, "b": 3, "d": 17})),
            (6, json!({"a": 300_000, "b": 650_000, "d": 500_000})),
            (14, json!({"a": -123_457, "b": 700_001})),
            (15, json!({"a": -123_457, "b": 700_001})),
            (7, json!({"a": -1, "b": 1})),
        ];
        let mut expected = String::new();
        for (trial, point) in points {
            let (params, result) = (bed.folder().join("params.json"), bed.folder().join("result.json"));
            std::fs::write(&params, format!("{point}\n")).unwrap();
            let point = point.as_object().unwrap();
            let status = Command::new("sh")
                .arg(bed.folder().join("simulate.sh"))
                .arg(notes(bed.folder()))
                .env("TRIBO_TRIAL", trial.to_string())
                .env("TRIBO_ATTEMPT", "1")
                .env("TRIBO_PARAMS", &params)
                .envs(
                    point.iter().map(|(name, x)| (format!("TRIBO_X_{}", name.to_uppercase()), x.to_string())),
                )
                .env("TRIBO_RESULT", &result)
                .stderr(std::process::Stdio::null())
                .status()
                .unwrap();
            expected.push_str(&format!("began {trial} 1 {}\n", Value::from(point.clone())));
            if trial == 7 {
                assert_eq!(status.code(), Some(1));
                continue;
            }
            let text = std::fs::read_to_string(&result).unwrap();
            assert_eq!(text.contains("NaN"), load(trial, point).is_none(), "trial {trial}: {text}");
            let answer: Value = serde_json::from_str(&text.replace("NaN", "null")).unwrap();
            assert_eq!(answer["objective"].as_f64(), objective(point), "trial {trial}");
            assert_eq!(answer["value"], answer["objective"]);
            assert_eq!(answer[LOAD].as_f64(), load(trial, point), "trial {trial}");
            expected.push_str(&format!("gave {trial} 1 {}\n", answer["objective"]));
        }
        assert_eq!(std::fs::read_to_string(notes(bed.folder())).unwrap(), expected);
    }
}
