//! How a run is watched: a bar on a terminal, lines elsewhere, events as JSON for programs.
//!
//! Whoever watches must not matter to the study: a standard output that is gone is not written to any more, and the run
//! goes on.

use crate::bar::{self, Bar};
use crate::output::harmless_json;
use crate::{output, study};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use tribo_study::driver::notice::{Notice, Observer, Progress};
use tribo_study::job::Kind;
use tribo_study::layout::Layout;
use tribo_study::report::failures::cause;
use tribo_study::report::text;

/// Seconds between two lines when nothing is better.
const LINE_S: f64 = 60.0;
/// Seconds between two JSON lines of progress when nothing changes.
const JSON_S: f64 = 10.0;
/// Causes of failure that are printed; `tribo status` has all.
const SHOWN_CAUSES: usize = 5;

/// Where messages go while a bar may be on the screen.
#[derive(Debug, Clone)]
pub(crate) struct Screen(Option<Bar>);

impl Screen {
    /// A bar if standard error is a terminal and `wanted`.
    pub(crate) fn new(wanted: bool) -> Screen {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Screen((wanted && !dumb && io::stderr().is_terminal()).then(Bar::new))
    }

    /// Prints messages above the bar.
    pub(crate) fn say(&self, print: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.clear();
        }
    }
}

/// For people: a bar or lines.
#[derive(Debug)]
pub(crate) struct People {
    screen: Screen,
    layout: Layout,
    causes: BTreeSet<String>,
    /// There is a new best value that was not printed yet: it is in the line after the next count.
    improved: bool,
    line_s: f64,
}

impl People {
    /// Watches a study on this screen.
    pub(crate) fn new(screen: Screen, layout: Layout) -> People {
        People { screen, layout, causes: BTreeSet::new(), improved: false, line_s: 0.0 }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some(bar) = &self.screen.0 {
            bar.show(progress);
            return;
        }
        if std::mem::take(&mut self.improved) || progress.elapsed_s - self.line_s >= LINE_S {
            self.line_s = progress.elapsed_s;
            let of = progress.evaluations.map(|n| format!("/{n}")).unwrap_or_default();
            let message = bar::message(progress, progress.left_s);
            output::note(&format!("{}{of} done  {message}", progress.told));
        }
    }
}

impl Observer for People {
    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Opened { name, told, adopted, strategy } => self.screen.say(|| {
                let before = if *told > 0 { format!("; {told} done before") } else { String::new() };
                let under_way = match adopted {
                    0 => String::new(),
                    n => format!("; {} under way taken over", text::count(*n, "evaluation")),
                };
                output::note(&format!("{name}: {strategy}{before}{under_way}"));
            }),
            Notice::Ended { id, kind, reason, retried, wait_s }
                if *kind != Kind::Ok && *kind != Kind::Infeasible =>
            {
                let cause = format!("{}: {}", kind.name(), cause(reason));
                if self.causes.len() < SHOWN_CAUSES && self.causes.insert(cause) {
                    let again = match *retried {
                        true if *wait_s > 0.0 => {
                            format!("; it is tried again in {}", text::duration(*wait_s))
                        }
                        true => "; it is tried again".to_owned(),
                        false => String::new(),
                    };
                    let end = study::stderr_tail(&self.layout.attempt(*id), 1);
                    let end = if end.is_empty() { end } else { format!("; it wrote: {end}") };
                    let text = format!("trial {} {}: {reason}{end}{again}", id.trial, kind.name());
                    self.screen.say(|| output::warning(&text));
                }
            }
            Notice::Told { best: true, .. } => self.improved = true,
            Notice::Warning { text } => self.screen.say(|| output::warning(text)),
            Notice::Waiting { text } => self.screen.say(|| output::note(text)),
            Notice::Progress(progress) => self.progress(progress),
            Notice::Submitted { .. } | Notice::Ended { .. } | Notice::Told { .. } | Notice::Finished(_) => {}
        }
    }
}

/// For programs: every event as a line of JSON on standard output.
#[derive(Debug, Default)]
pub(crate) struct Events {
    closed: bool,
    last: Option<Progress>,
}

impl Events {
    /// Writes a line, unless nobody reads any more.
    pub(crate) fn write(&mut self, value: &impl serde::Serialize) {
        if self.closed {
            return;
        }
        let mut out = io::stdout().lock();
        let json = serde_json::to_string(value).map_err(io::Error::from);
        let written = json.and_then(|json| writeln!(out, "{}", harmless_json(&json)));
        self.closed = written.and_then(|()| out.flush()).is_err();
    }
}

impl Observer for Events {
    fn notice(&mut self, notice: &Notice) {
        if let Notice::Progress(progress) = notice {
            let counts = |p: &Progress| (p.told, p.measured, p.running, p.waiting, p.workers);
            let same = |last: &Progress| {
                counts(last) == counts(progress) && progress.elapsed_s - last.elapsed_s < JSON_S
            };
            if self.last.as_ref().is_some_and(same) {
                return;
            }
            self.last = Some(progress.clone());
        }
        self.write(notice);
    }
}

/// For nobody: warnings only.
#[derive(Debug)]
pub(crate) struct Quiet;

impl Observer for Quiet {
    fn notice(&mut self, notice: &Notice) {
        if let Notice::Warning { text } = notice {
            output::warning(text);
        }
    }
}
