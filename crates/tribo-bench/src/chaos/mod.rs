//! `chaos`: drivers are killed with SIGKILL at random moments, and nothing may come of it.
//!
//! A study of a small simulator is run by the real program (`study`), whose driver is killed and started again until
//! enough kills were made (`kill`); the last driver runs to the end. A study that is over earlier is followed by another.
//! With `--chapters` the study file (`file`) is changed again and again between the drivers, which begin new chapters; with
//! `--limits` another output has a limit.
//! Then everything on disk (`evidence`) is held against what must be true (`check`):
//!   - no finished result is lost, none counts twice, every trial has its own value;
//!   - points are those that the simulator was given;
//!   - proposals are those of an uninterrupted replay of the same journal, bit for bit;
//!   - each chapter begins with all trials before that are in its space, and the evaluations are counted across chapters;
//!   - no attempt is executed twice, or without a record of it;
//!   - no process is left, neither of a job nor of what a simulator started.
//!
//! Killed are drivers only. A job that is killed with SIGKILL cannot clean up after its command, by nature.

mod check;
mod evidence;
mod file;
mod kill;
mod study;

pub use check::Tally;

use crate::dimension::parse_positive;
use crate::machine::quantile;
use crate::processes;
use crate::program::Program;
use crate::seeds::Failure;
use evidence::Evidence;
use file::StudyFile;
use kill::Toll;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use study::Bed;
use tribo::rng::Stream;

/// A job that has given its answer, and a daemon that was sent a signal, have this long to be gone.
const LEAVING: Duration = Duration::from_secs(2);

/// What to do.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Drivers to kill.
    #[arg(long, default_value_t = 300, value_parser = parse_positive)]
    pub kills: usize,
    /// Seed of the moments and of the studies.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Evaluations at once.
    #[arg(long, default_value_t = 4, value_parser = parse_positive)]
    pub workers: usize,
    /// Evaluations of each study; by default four a kill, between 60 and 200.
    #[arg(long, value_parser = parse_positive)]
    pub evaluations: Option<usize>,
    /// Strategy of the studies.
    #[arg(long, default_value = "bo", value_parser = ["auto", "bo", "paper", "random"])]
    pub strategy: String,
    /// Change the study file at random between drivers, so that new chapters begin.
    #[arg(long)]
    pub chapters: bool,
    /// Limit an output besides the one that is minimised, which one evaluation in ten does not give.
    #[arg(long)]
    pub limits: bool,
    /// The program that is run.
    #[command(flatten)]
    pub program: Program,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Always `chaos`.
    pub benchmark: &'static str,
    /// Seed.
    pub seed: u64,
    /// Strategy.
    pub strategy: String,
    /// Evaluations at once.
    pub workers: usize,
    /// Drivers killed.
    pub kills: usize,
    /// Of those, before the journal was there.
    pub kills_before_first_record: usize,
    /// Of those, before the driver said that it has the study.
    pub kills_during_start: usize,
    /// Of those, with a study file that had been changed.
    pub kills_during_change: usize,
    /// Studies run to their end.
    pub studies: usize,
    /// Of all studies together.
    #[serde(flatten)]
    pub tally: Tally,
    /// Processes of the studies, the moment their last driver was gone.
    pub processes_at_end: usize,
    /// And two seconds later.
    pub processes_left: usize,
    /// Drivers that took over an existing study and lived to say so.
    pub resumes: usize,
    /// Median of the time that took, from the start of the process.
    pub resume_p50_ms: Option<f64>,
    /// The longest.
    pub resume_max_ms: Option<f64>,
    /// Whether everything is as it must be.
    pub ok: bool,
}

/// What is wrong with a study, and where it is.
#[derive(Debug, Clone)]
pub struct Wrong {
    /// Its folder, which stays.
    pub folder: PathBuf,
    /// What is wrong.
    pub complaints: Vec<String>,
}

/// Kills and checks. `progress` hears of each study.
pub fn measure(options: &Options, progress: impl Fn(&str)) -> Result<(Report, Vec<Wrong>), Failure> {
    let program = options.program.find()?;
    let evaluations = options.evaluations.unwrap_or((4 * options.kills).clamp(60, 200));
    let mut report = Report {
        benchmark: "chaos",
        seed: options.seed,
        strategy: options.strategy.clone(),
        workers: options.workers,
        kills: 0,
        kills_before_first_record: 0,
        kills_during_start: 0,
        kills_during_change: 0,
        studies: 0,
        tally: Tally::default(),
        processes_at_end: 0,
        processes_left: 0,
        resumes: 0,
        resume_p50_ms: None,
        resume_max_ms: None,
        ok: true,
    };
    let (mut toll, mut wrong) = (Toll::default(), vec![]);
    let mut stream = Stream::new(options.seed, "moments of kills", 0);
    while toll.kills < options.kills {
        let seed = options.seed + report.studies as u64;
        let file = StudyFile::new(&options.strategy, evaluations, options.workers, seed);
        let file = if options.limits { file.limited() } else { file };
        let (mut bed, before) = (Bed::new(file)?, toll.kills);
        let chapters = options.chapters;
        let ran = kill::run_under_fire(&program, &mut bed, options.kills, chapters, &mut stream, &mut toll);
        let hung = ran.is_err();
        let mut complaints: Vec<String> = ran.err().map(|failure| failure.to_string()).into_iter().collect();
        complaints.extend(examine(&bed, &mut report));
        report.studies += 1;
        progress(&format!(
            "study {}: {} kills, {} chapters and {} trials told in all, {}",
            report.studies,
            toll.kills - before,
            report.tally.chapters,
            report.tally.trials - report.tally.untold,
            if complaints.is_empty() { "all as it must be" } else { "NOT as it must be" }
        ));
        if !complaints.is_empty() {
            wrong.push(Wrong { folder: bed.keep(), complaints });
        }
        if hung {
            break; // What stopped one driver would stop them all, and no kill would be counted.
        }
    }
    let mut resumes: Vec<f64> = toll.resumes.iter().map(|seconds| 1e3 * seconds).collect();
    let mut at = |q| (!resumes.is_empty()).then(|| quantile(&mut resumes, q));
    (report.resume_p50_ms, report.resume_max_ms) = (at(0.5), at(1.0));
    report.resumes = toll.resumes.len();
    report.kills = toll.kills;
    report.kills_before_first_record = toll.before_first_record;
    report.kills_during_start = toll.during_start;
    report.kills_during_change = toll.during_change;
    report.ok = wrong.is_empty();
    Ok((report, wrong))
}

/// Looks at a study that is over. Returns what is wrong with it.
fn examine(bed: &Bed, report: &mut Report) -> Vec<String> {
    report.processes_at_end += processes::of_study(bed.folder(), None).len();
    let evidence = Evidence::collect(bed.folder());
    let id = evidence.as_ref().ok().and_then(Evidence::study);
    let left = processes::left_after(LEAVING, bed.folder(), id);
    report.processes_left += left.len();
    let mut complaints: Vec<String> =
        left.iter().map(|process| format!("left behind: process {process}")).collect();
    match &evidence {
        Ok(evidence) => {
            let (tally, found) = check::check(&bed.config, evidence);
            report.tally.add(&tally);
            complaints.extend(found);
        }
        Err(failure) => complaints.push(format!("what the study left cannot be read: {failure}")),
    }
    complaints
}

/// The folder of a wrong study and its first complaints, for people.
pub fn describe(wrong: &Wrong) -> String {
    const SHOWN: usize = 10;
    let mut text = format!("{} is kept:", wrong.folder.display());
    for complaint in wrong.complaints.iter().take(SHOWN) {
        text.push_str(&format!("\n  {complaint}"));
    }
    match wrong.complaints.len().saturating_sub(SHOWN) {
        0 => text,
        more => text + &format!("\n  and {more} more"),
    }
}
