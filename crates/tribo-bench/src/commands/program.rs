//! Commands that measure the program `tribo`.

use super::print;
use tribo_bench::seeds::Failure;
use tribo_bench::{chaos, local, soak};

/// Complaints that are printed.
const COMPLAINTS: usize = 30;

pub(super) fn chaos(options: &chaos::Options) -> Result<(), Failure> {
    let (report, wrong) = chaos::measure(options, |what| eprintln!("{what}"))?;
    print(&report)?;
    let median = report.resume_p50_ms.map_or("none".to_owned(), |ms| format!("{ms:.0} ms"));
    eprintln!(
        "{} kills, {} during start ({} with a changed study file), {} before the first record; {} resumes, median \
         {median}; {} studies, {} chapters, {} trials: {} lost, {} told twice, {} never told, {} proposals different, {} \
         not known to a chapter as they were, {} executed twice, {} at another point, {} processes left",
        report.kills,
        report.kills_during_start,
        report.kills_during_change,
        report.kills_before_first_record,
        report.resumes,
        report.studies,
        report.tally.chapters,
        report.tally.trials,
        report.tally.lost,
        report.tally.told_twice,
        report.tally.untold,
        report.tally.differing,
        report.tally.misknown,
        report.tally.executed_twice,
        report.tally.misplaced,
        report.processes_left,
    );
    wrong.iter().for_each(|wrong| eprintln!("{}", chaos::describe(wrong)));
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{n} of {} studies are not as they must be", report.studies).into()),
    }
}

pub(super) fn local(options: &local::Options) -> Result<(), Failure> {
    let report = local::measure(options, |what| eprintln!("{what}"))?;
    print(&report)?;
    if report.ok { Ok(()) } else { Err("a bar is not reached".into()) }
}

pub(super) fn soak(options: &soak::Options) -> Result<(), Failure> {
    let (report, complaints) = soak::measure(options, |what| eprintln!("{what}"))?;
    print(&report)?;
    let figure =
        |value: Option<f64>, digits| value.map_or("?".to_owned(), |value| format!("{value:.digits$}"));
    eprintln!(
        "{} evaluations by {} workers in {:.1} virtual hours and {:.0} s, {} drivers, {} faults; {} trials, {} attempts: {} \
         lost, {} doubled, {} left, {} values too late; {} of a core, {} MB at most, {} MB of journal",
        report.evaluations,
        report.workers,
        report.hours,
        report.seconds,
        report.drivers,
        report.faults.values().sum::<usize>(),
        report.tally.trials,
        report.tally.attempts,
        report.tally.lost,
        report.tally.doubled,
        report.tally.left,
        report.tally.values_too_late,
        figure(report.share_of_core, 4),
        figure(report.peak_mb, 0),
        report.journal_bytes / 1_000_000,
    );
    complaints.iter().take(COMPLAINTS).for_each(|complaint| eprintln!("{complaint}"));
    match complaints.len() {
        0 => Ok(()),
        n => Err(format!("{n} complaints").into()),
    }
}
