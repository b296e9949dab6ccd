//! What an ended command amounts to: a kind, numbers or a reason.
//!
//! In this order: it was stopped; it was killed; its exit code is not 0; and only then its answer. So an answer never
//! counts when the program says by its exit code that it failed.

use super::extract::extract;
use super::watch::Ending;
use super::{Finding, Kind, STDERR_FILE, STDOUT_FILE};
use crate::config::{Command, Evaluation};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Kept of standard error when there is no value.
const TAIL_LINES: usize = 40;
const TAIL_BYTES: u64 = 8 << 10;
const SIGKILL: i32 = 9;

/// Judges a command; `out_of_memory` if the kernel killed something for lack of memory meanwhile.
pub(super) fn judge(evaluation: &Evaluation, ending: &Ending, dir: &Path, out_of_memory: bool) -> Finding {
    let mut finding = judge_ending(evaluation, ending, out_of_memory)
        .unwrap_or_else(|| extract(evaluation, dir, &dir.join(STDOUT_FILE)));
    if !ending.survivors.is_empty() {
        let separator = if finding.reason.is_empty() { "" } else { "; " };
        finding.reason +=
            &format!("{separator}processes that would not end: {}", ending.survivors.join(", "));
    }
    finding
}

fn judge_ending(evaluation: &Evaluation, ending: &Ending, out_of_memory: bool) -> Option<Finding> {
    if let Some(stop) = &ending.stop {
        // How long it took stands in the record beside it; here it would make a cause of its own for every trial.
        return Some(Finding::none(stop.kind, &stop.reason));
    }
    // A shell reports the death of its child by a signal as 128 and the signal.
    let killed = ending.signal == Some(SIGKILL) || ending.exit_code == Some(128 + SIGKILL);
    if killed && out_of_memory {
        return Some(Finding::none(
            Kind::Memory,
            "the kernel killed it for lack of memory; ask for more, or compute with less",
        ));
    }
    match (ending.exit_code, ending.signal) {
        (Some(0), _) => None,
        (Some(code), _) if code == evaluation.retry_exit_code => Some(Finding::none(
            Kind::Transient,
            format!("the command asked to be tried again (exit code {code})"),
        )),
        (Some(code), _) if code == evaluation.infeasible_exit_code => Some(Finding::none(
            Kind::Infeasible,
            format!("the command says the point is not allowed (exit code {code})"),
        )),
        (Some(code), _) => Some(Finding::none(
            Kind::Failed,
            format!("the command failed with exit code {code}{}", hint(evaluation, code)),
        )),
        (None, Some(signal)) => {
            Some(Finding::none(Kind::Failed, format!("the command was killed by {}", signal_name(signal))))
        }
        (None, None) => Some(Finding::none(Kind::Failed, "the command would not end")),
    }
}

fn hint(evaluation: &Evaluation, code: i32) -> String {
    match (code, &evaluation.command) {
        (127, Command::Shell(_)) => {
            ": the shell did not find a program; the command runs in the attempt's folder, and files of the study folder are named $TRIBO_STUDY_DIR/...".into()
        }
        (126, Command::Shell(_)) => ": the shell found a program that is not executable".into(),
        (129..=192, _) => format!(", a shell's way to say: killed by {}", signal_name(code - 128)),
        _ => String::new(),
    }
}

fn signal_name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), |name| format!("{name} (signal {signal})"))
}

/// The last lines of standard error, empty if there are none.
pub(super) fn stderr_tail(dir: &Path) -> String {
    tail_of(&dir.join(STDERR_FILE))
}

/// The last lines of a file, empty if there are none, or if it is no file.
pub(super) fn tail_of(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        if !fs::metadata(path)?.is_file() {
            return Ok(Vec::new());
        }
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
    let first = text.rmatch_indices('\n').nth(TAIL_LINES - 1).map_or(0, |(at, _)| at + 1);
    text[first..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ResultSource;
    use crate::job::watch::Stop;
    use crate::outputs::VALUE;

    fn finding(command: Command, ending: Ending, out_of_memory: bool, stdout: &str) -> Finding {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(STDOUT_FILE), stdout).unwrap();
        let evaluation =
            Evaluation { result: ResultSource::Stdout, capture: 1000, ..Evaluation::of(command) };
        judge(&evaluation, &ending, folder.path(), out_of_memory)
    }

    fn ended(exit_code: Option<i32>, signal: Option<i32>) -> Ending {
        Ending { exit_code, signal, stop: None, wall_s: 1.0, cpu_s: 0.0, max_rss: 0, survivors: vec![] }
    }

    #[test]
    fn kinds_and_reasons() {
        let program = || Command::Argv(vec!["x".into()]);
        for (ending, out_of_memory, kind, part) in [
            (ended(Some(1), None), false, Kind::Failed, "exit code 1"),
            (ended(Some(75), None), false, Kind::Transient, "exit code 75"),
            (ended(Some(65), None), false, Kind::Infeasible, "exit code 65"),
            (ended(None, Some(11)), false, Kind::Failed, "SIGSEGV (signal 11)"),
            (ended(None, Some(9)), false, Kind::Failed, "SIGKILL"),
            (ended(None, Some(9)), true, Kind::Memory, "memory"),
            (ended(Some(137), None), true, Kind::Memory, "memory"),
            (ended(Some(137), None), false, Kind::Failed, "SIGKILL"),
            (ended(None, Some(15)), true, Kind::Failed, "SIGTERM"),
            (ended(None, None), false, Kind::Failed, "would not end"),
        ] {
            let finding = finding(program(), ending, out_of_memory, "1.5");
            assert_eq!((finding.kind, finding.value(VALUE)), (kind, None), "{finding:?}");
            assert!(finding.reason.contains(part), "{finding:?}");
        }
        let missing = finding(Command::Shell("x".into()), ended(Some(127), None), false, "");
        assert!(missing.reason.contains("$TRIBO_STUDY_DIR"), "{missing:?}");
        assert_eq!(finding(program(), ended(Some(0), None), false, "1.5").value(VALUE), Some(1.5));
    }

    #[test]
    fn a_stop_outranks_and_survivors_are_named() {
        let stop = Stop { kind: Kind::Timeout, reason: "over".into() };
        let ending = Ending { stop: Some(stop), survivors: vec!["7 (d)".into()], ..ended(Some(0), None) };
        let stopped = finding(Command::Argv(vec![]), ending, true, "1.5");
        assert_eq!(stopped.kind, Kind::Timeout);
        assert_eq!(stopped.reason, "over; processes that would not end: 7 (d)");
        let ending = Ending { survivors: vec!["7 (d)".into()], ..ended(Some(0), None) };
        assert_eq!(
            finding(Command::Argv(vec![]), ending, false, "1.5").reason,
            "processes that would not end: 7 (d)"
        );
    }

    #[test]
    fn the_tail_of_standard_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(stderr_tail(folder.path()), "");
        let lines: Vec<String> = (0..100).map(|k| format!("line {k}")).collect();
        std::fs::write(folder.path().join(STDERR_FILE), lines.join("\n") + "\n\n").unwrap();
        assert_eq!(stderr_tail(folder.path()), lines[60..].join("\n"));
        std::fs::write(folder.path().join(STDERR_FILE), b"\xff".repeat(20_000)).unwrap();
        assert_eq!(stderr_tail(folder.path()).chars().count(), 8 << 10);
    }
}
