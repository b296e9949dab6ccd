//! Small studies in folders of their own, which go with them.

use crate::seeds::Failure;
use tempfile::TempDir;
use tribo_study::layout::Layout;

/// A study of uniform points; `run` is its section `[run]` without what is the same for all.
pub(super) fn random(evaluations: usize, workers: usize, run: &str) -> Result<TempDir, Failure> {
    let text = format!(
        r#"study_version = 1
name = "local"
direction = "minimize"
seed = 1

[[parameter]]
name = "x"
type = "float"
low = 0.0
high = 1.0

[strategy]
name = "random"

[budget]
evaluations = {evaluations}

[run]
workers = {workers}
result = "stdout"
{run}
"#
    );
    with_file(&text)
}

/// A folder with this study file.
pub(super) fn with_file(text: &str) -> Result<TempDir, Failure> {
    let folder = tempfile::Builder::new().prefix("tribo-local-").tempdir()?;
    std::fs::write(Layout::of(folder.path()).file(), text)?;
    Ok(folder)
}
