//! The screen of `tribo watch`: what a study looks like now, drawn anew as its journal grows.
//!
//! It only reads, through the same follower as every reader: the driver may be on another host. `scene` is what there is to
//! see, as text and numbers; `draw` puts it on a terminal of any size. The screen is ratatui's, on crossterm: sizes, resizing,
//! and terminals that know fewer characters are what such a library is for, and a screen that is drawn cell by cell obeys
//! nothing that a solver has written.

mod draw;
mod scene;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use scene::Scene;
use signal_hook::consts::{SIGHUP, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tribo_study::layout::Layout;
use tribo_study::reading::Reading;
use tribo_study::view::{Depth, Source, View};
use tribo_study::{Error, Result};

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A look may take this part of the time: of very many trials it takes longer, and is taken less often.
const PART: u32 = 10;
/// How long a key is waited for.
const KEY: Duration = Duration::from_millis(200);

/// Shows a study until a key or a signal ends it.
pub(crate) fn run(layout: &Layout) -> Result<()> {
    // What is wrong with the study is said before the screen is taken.
    let mut watching = Watching::open(layout)?;
    let failed = |source: io::Error| Error::Usage(format!("the terminal cannot be used: {source}"));
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(failed)?;
    }
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let shown = watching.show(&mut terminal, &ended).map_err(failed);
    ratatui::restore();
    shown
}

/// A study that is watched.
struct Watching {
    reading: Reading,
    view: View,
    /// Why the last look at it failed: that may pass.
    fault: Option<String>,
}

impl Watching {
    fn open(layout: &Layout) -> Result<Watching> {
        let reading = Reading::open(layout)?;
        let view = View::new(&Source::Journal(&reading), Depth::Results)?;
        Ok(Watching { reading, view, fault: None })
    }

    fn show(&mut self, terminal: &mut DefaultTerminal, ended: &AtomicBool) -> io::Result<()> {
        let mut next = Instant::now() + LOOK;
        loop {
            let scene = self.scene();
            terminal.draw(|frame| draw::draw(frame, &scene))?;
            // Until it is time to look again, or something else to be drawn.
            loop {
                if ended.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let wait = next.saturating_duration_since(Instant::now());
                if wait.is_zero() {
                    break;
                }
                if event::poll(wait.min(KEY))? {
                    match event::read()? {
                        Event::Key(key) if is_end(key) => return Ok(()),
                        Event::Resize(..) => break,
                        _ => {}
                    }
                }
            }
            if Instant::now() >= next {
                let began = Instant::now();
                self.fault = self.look().err().map(|fault| fault.to_string());
                next = Instant::now() + LOOK.max(PART * began.elapsed());
            }
        }
    }

    /// Takes in what is new.
    fn look(&mut self) -> Result<()> {
        self.reading.refresh()?;
        // Also without a record: drivers come and go, and what has begun is not in the journal.
        self.view = View::new(&Source::Journal(&self.reading), Depth::Results)?;
        Ok(())
    }

    fn scene(&self) -> Scene {
        Scene::new(&self.reading, &self.view, self.fault.as_deref())
    }
}

fn is_end(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let ends = match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c') => control,
        _ => false,
    };
    ends && key.kind == KeyEventKind::Press
}

#[cfg(test)]
mod tests;
