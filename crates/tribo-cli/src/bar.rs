//! One line at the bottom of a terminal that shows how far a run is, and that it lives.
//!
//! The line is drawn and the cursor put back to its start. So whatever gets in between (`^C`, a narrower window, which breaks
//! a line in two) lies at the cursor or below it, and erasing from there to the end of the screen leaves no stale copy.
//! Libraries of progress bars keep the cursor at the end of the line, and cannot say this of a window that has become narrower.
//!
//! A thread draws it several times a second: an evaluation may take hours, and nothing else would move.

use crate::output;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tribo_study::driver::notice::Progress;
use tribo_study::report::text;

/// How often it is drawn.
const TICK: Duration = Duration::from_millis(200);
/// To the start of the line, and nothing behind it.
const ERASE: &str = "\r\u{1b}[J";
const SPINNER: [char; 4] = ['|', '/', '-', '\\'];
/// Cells of the bar.
const CELLS: usize = 24;
/// Columns that stay free, so that nothing that is typed breaks the line.
const MARGIN: usize = 4;

/// A line on standard error.
#[derive(Debug, Clone)]
pub(crate) struct Bar(Arc<Mutex<Line>>);

#[derive(Debug)]
struct Line {
    began: Instant,
    /// Where things stand, and since when that is known.
    progress: Option<(Progress, Instant)>,
    ticks: usize,
    ended: bool,
}

impl Bar {
    /// A line that appears with the first progress.
    pub(crate) fn new() -> Bar {
        let line = Line { began: Instant::now(), progress: None, ticks: 0, ended: false };
        let bar = Bar(Arc::new(Mutex::new(line)));
        let drawn = Arc::downgrade(&bar.0);
        // Without a thread the line still moves with every progress.
        let _ = std::thread::Builder::new().name("bar".to_owned()).spawn(move || tick(&drawn));
        bar
    }

    /// Shows where things stand.
    pub(crate) fn show(&self, progress: &Progress) {
        let mut line = locked(&self.0);
        line.progress = Some((progress.clone(), Instant::now()));
        line.draw();
    }

    /// Prints something above it.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        let line = locked(&self.0);
        line.erase();
        print();
        line.draw();
    }

    /// Takes it away for good.
    pub(crate) fn clear(&self) {
        let mut line = locked(&self.0);
        line.erase();
        line.ended = true;
    }
}

/// Draws the line until it is gone.
fn tick(line: &Weak<Mutex<Line>>) {
    loop {
        std::thread::sleep(TICK);
        let Some(line) = line.upgrade() else { return };
        let mut line = locked(&line);
        if line.ended {
            return;
        }
        line.ticks += 1;
        line.draw();
    }
}

fn locked(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    // Whoever panicked while drawing left a line that the next one erases.
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn erase(&self) {
        if self.progress.is_some() && !self.ended {
            write(ERASE);
        }
    }

    fn draw(&self) {
        if let Some((progress, since)) = self.progress.as_ref().filter(|_| !self.ended) {
            let width =
                rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
            let width = if width == 0 { 80 } else { width };
            let spinner = SPINNER[self.ticks % SPINNER.len()];
            let elapsed_s = self.began.elapsed().as_secs_f64();
            let line = line(progress, since.elapsed().as_secs_f64(), elapsed_s, spinner, width);
            write(&format!("{ERASE}{line}\r"));
        }
    }
}

/// Who cannot be told is not.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// The line, `age_s` after the progress that it shows and `elapsed_s` after the beginning, for a terminal of this width.
fn line(progress: &Progress, age_s: f64, elapsed_s: f64, spinner: char, width: usize) -> String {
    let room = width.saturating_sub(MARGIN);
    let (done, mut line) = (progress.told, spinner.to_string());
    match progress.evaluations {
        Some(budget) => {
            let full = (CELLS * done.min(budget)).checked_div(budget).unwrap_or(CELLS);
            let bar = format!(" {}{}", "█".repeat(full), "░".repeat(CELLS - full));
            // A narrow window has the numbers.
            line.push_str(if room >= 70 { &bar } else { "" });
            line.push_str(&format!(" {done}/{budget}"));
        }
        None => line.push_str(&format!(" {done} done")),
    }
    let taken = line.chars().count();
    let left_s = progress.left_s.map(|left| left - age_s);
    let message = format!("  {}  {}", whole(elapsed_s.floor()), message(progress, left_s));
    line.push_str(&fitting(&output::harmless(&message), room.saturating_sub(taken)));
    // Only a window too narrow for the counts still has too much.
    if line.chars().count() > room { line.chars().take(room).collect() } else { line }
}

/// The beginning of a text that fits into so many columns. A character that is not ASCII may take two.
fn fitting(text: &str, columns: usize) -> String {
    let mut left = columns;
    let fits = |c: &char| {
        let width = if c.is_ascii() { 1 } else { 2 };
        left.checked_sub(width).map(|rest| left = rest).is_some()
    };
    text.replace(['\n', '\t'], " ").chars().take_while(fits).collect()
}

/// A duration without parts of seconds, which would flicker.
fn whole(seconds: f64) -> String {
    if seconds < 60.0 { format!("{seconds:.0} s") } else { text::duration(seconds) }
}

/// Characters of a reason for waiting in a line of progress.
const SHOWN_REASON: usize = 40;

/// Best value, workers, failures, time left.
pub(crate) fn message(progress: &Progress, left_s: Option<f64>) -> String {
    let best = match progress.best {
        Some((_, value)) => format!("best {}", text::number(value)),
        None if progress.measured > 0 => "nothing within the limits yet".to_owned(),
        None => "no value yet".to_owned(),
    };
    let mut message = format!("{best}  {}/{} workers", progress.running, progress.workers);
    if progress.waiting > 0 {
        message.push_str(&format!("  {} waiting", progress.waiting));
        if let Some(reason) = &progress.waits_for {
            message.push_str(&format!(" ({})", text::shortened(reason, SHOWN_REASON)));
        }
    }
    if progress.failed > 0 {
        message.push_str(&format!("  {} failed", progress.failed));
    }
    if let Some(left) = left_s.filter(|left| *left > 0.0) {
        message.push_str(&format!("  {} left", whole(left.ceil())));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        let best = Some((7, 1.25));
        Progress { told: 12, evaluations: Some(40), running: 3, workers: 4, best, ..Progress::default() }
    }

    #[test]
    fn the_line_says_how_far_it_is_and_counts_down() {
        let progress = Progress { left_s: Some(100.0), failed: 2, ..progress() };
        assert_eq!(
            line(&progress, 0.0, 200.4, '/', 120),
            "/ ███████░░░░░░░░░░░░░░░░░ 12/40  3 min 20 s  best 1.25  3/4 workers  2 failed  1 min 40 s left"
        );
        assert!(line(&progress, 39.5, 240.0, '-', 120).ends_with("  1 min 1 s left"));
        assert!(line(&progress, 101.0, 301.0, '-', 120).ends_with("  2 failed"), "no time left is not said");
        let endless = Progress { evaluations: None, best: None, ..progress };
        assert_eq!(
            line(&endless, 0.0, 3.0, '|', 120),
            "| 12 done  3 s  no value yet  3/4 workers  2 failed  1 min 40 s left"
        );
    }

    #[test]
    fn the_line_never_reaches_the_edge_and_obeys_nothing() {
        let waits_for = Some("\u{1b}[2J资源不足\nmore".to_owned());
        let progress = Progress { waiting: 9, waits_for, ..progress() };
        for width in 0..200 {
            let line = line(&progress, 0.0, 1e6, '|', width);
            let columns = |c: char| if c.is_ascii() || matches!(c, '█' | '░') { 1 } else { 2 };
            assert!(
                line.chars().map(columns).sum::<usize>() <= width.saturating_sub(MARGIN),
                "{width}: {line}"
            );
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}
