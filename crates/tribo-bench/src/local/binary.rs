//! The size of the program, and how long it takes to say its version.

use super::mark;
use crate::machine::{quantile, timed};
use crate::seeds::Failure;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

const SIZE_MB: f64 = 15.0;
const VERSION_MS: f64 = 50.0;

/// The program itself.
#[derive(Debug, Clone, Serialize)]
pub struct Binary {
    /// Its size in MB, with symbols if it has them.
    pub size_mb: f64,
    /// At most this many MB.
    pub bar_mb: f64,
    /// Median time of `tribo --version`.
    pub version_p50_ms: f64,
    /// Less than this.
    pub bar_ms: f64,
    /// Whether both are passed.
    pub ok: bool,
}

impl Binary {
    pub(super) fn text(&self) -> String {
        let Binary { size_mb, bar_mb, version_p50_ms, bar_ms, ok } = self;
        let mark = mark(*ok);
        format!(
            "{size_mb:.1} MB, at most {bar_mb}; --version in {version_p50_ms:.1} ms, less than {bar_ms}: {mark}"
        )
    }
}

pub(super) fn measure(program: &Path) -> Result<Binary, Failure> {
    const REPEATS: usize = 20;
    let size_mb = std::fs::metadata(program)?.len() as f64 / 1e6;
    let mut times = vec![];
    for _ in 0..REPEATS {
        let (seconds, output) =
            timed(|| Command::new(program).arg("--version").stdin(Stdio::null()).output());
        if !output?.status.success() {
            return Err(format!("{} --version fails", program.display()).into());
        }
        times.push(1e3 * seconds);
    }
    let version_p50_ms = quantile(&mut times, 0.5);
    let ok = size_mb <= SIZE_MB && version_p50_ms < VERSION_MS;
    Ok(Binary { size_mb, bar_mb: SIZE_MB, version_p50_ms, bar_ms: VERSION_MS, ok })
}
