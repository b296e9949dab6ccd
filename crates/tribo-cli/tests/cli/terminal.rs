//! What a person sees on a terminal: the bar of `tribo run`, of which nothing stays behind, and `tribo watch`.

use crate::pty::{PATIENCE, Pty};
use crate::support::{Folder, with_command};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// A terminal that breaks long lines in two and joins them again when it is resized, as most do. The cursor is somewhere in
/// a line that may take several rows.
struct Screen {
    pty: Pty,
    width: usize,
    lines: Vec<String>,
    line: usize,
    column: usize,
}

impl Screen {
    fn start(folder: &Folder, args: &[&str], width: u16) -> Screen {
        let pty = Pty::start(folder, args, width);
        Screen { pty, width: width.into(), lines: vec![String::new()], line: 0, column: 0 }
    }

    fn resize(&mut self, width: u16) {
        self.pty.resize(width);
        self.width = width.into();
    }

    fn take(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                // To the start of the row.
                '\r' => self.column = self.column / self.width * self.width,
                '\n' => self.down(),
                '\u{1b}' => {
                    let sequence: String = rest.by_ref().take(2).collect();
                    assert_eq!(sequence, "[J", "only erasing is known here");
                    self.lines.truncate(self.line + 1);
                    self.lines[self.line] = self.lines[self.line].chars().take(self.column).collect();
                }
                c => self.put(c),
            }
        }
    }

    fn put(&mut self, c: char) {
        let mut line: Vec<char> = self.lines[self.line].chars().collect();
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
        self.lines[self.line] = line.into_iter().collect();
    }

    fn down(&mut self) {
        let next = (self.column / self.width + 1) * self.width;
        if next < self.lines[self.line].chars().count() {
            self.column = next;
            return;
        }
        (self.line, self.column) = (self.line + 1, 0);
        self.lines.resize(self.lines.len().max(self.line + 1), String::new());
    }

    /// Reads until this is on the screen.
    fn until(&mut self, part: &str) {
        let begin = Instant::now();
        while self.count(part) == 0 {
            assert!(begin.elapsed() < PATIENCE, "no {part:?} in {:#?}", self.lines);
            if let Some(bytes) = self.pty.next(Duration::from_millis(50)) {
                self.take(&bytes);
            }
        }
    }

    /// Reads what was written until nothing comes.
    fn drain(&mut self, quiet: Duration) {
        while let Some(bytes) = self.pty.next(quiet) {
            self.take(&bytes);
        }
    }

    /// Stops the program between two draws: one that has asked for the width and not drawn yet would draw a line that is too
    /// long, which no program can help.
    fn stop(&mut self) {
        loop {
            self.drain(Duration::from_millis(1));
            let Some(drawn) = self.pty.next(PATIENCE) else { panic!("nothing is drawn: {:#?}", self.lines) };
            let begin = Instant::now();
            self.pty.signal(Signal::STOP);
            let late = begin.elapsed() > Duration::from_millis(50);
            self.take(&drawn);
            let quiet = self.pty.next(Duration::from_millis(300)).map(|bytes| self.take(&bytes)).is_none();
            if quiet && !late {
                return;
            }
            self.pty.signal(Signal::CONT);
        }
    }

    fn count(&self, part: &str) -> usize {
        self.lines.iter().map(|line| line.matches(part).count()).sum()
    }
}

#[test]
fn the_bar_lives_during_a_long_first_evaluation_and_leaves_nothing_behind() {
    let folder = Folder::with(&with_command("'sleep 600; echo 1'\nresult = \"stdout\""));
    let mut screen = Screen::start(&folder, &["run"], 120);
    for part in ["░ 0/6  ", "no value yet  2/2 workers", "  1 s  ", "  2 s  "] {
        screen.until(part);
    }
    // Windows that become narrower while nothing is drawn break the line in two or three.
    for width in [60, 40, 25, 110] {
        screen.stop();
        screen.resize(width);
        screen.pty.signal(Signal::CONT);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(800) {
            screen.pty.next(Duration::from_millis(100)).iter().for_each(|bytes| screen.take(bytes));
        }
        assert_eq!(screen.count("0/6"), 1, "at {width}: {:#?}", screen.lines);
    }
    for said in ["Ctrl-C again cancels them", "cancelled after"] {
        // `^C` is what a terminal writes itself, where its cursor is.
        screen.stop();
        screen.take(b"^C");
        screen.pty.signal(Signal::INT);
        screen.pty.signal(Signal::CONT);
        screen.until(said);
    }
    assert_eq!(screen.pty.wait(), 130);
    screen.drain(Duration::from_millis(300));
    for stale in ["0/6", " workers", "^C"] {
        assert_eq!(screen.count(stale), 0, "{stale}: {:#?}", screen.lines);
    }
    assert_eq!(screen.count("Ctrl-C again cancels them"), 1, "{:#?}", screen.lines);
}

#[test]
fn watching_ends_with_a_key_and_leaves_the_terminal_as_it_was() {
    let folder = Folder::finished();
    let mut pty = Pty::start(&folder, &["watch"], 100);
    let mut seen = String::new();
    let begin = Instant::now();
    // Blanks are not written where there are some.
    while !seen.contains("leaves") {
        assert!(begin.elapsed() < PATIENCE, "{seen}");
        let bytes = pty.next(Duration::from_millis(100)).unwrap_or_default();
        seen += &String::from_utf8_lossy(&bytes);
    }
    assert!(seen.contains("\u{1b}[?1049h"), "not on a screen of its own: {seen:?}");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    while let Some(bytes) = pty.next(Duration::from_millis(300)) {
        seen += &String::from_utf8_lossy(&bytes);
    }
    assert!(seen.contains("\u{1b}[?1049l"), "the screen is not given back: {seen:?}");
}

#[test]
fn watching_needs_a_terminal() {
    let folder = Folder::finished();
    folder.tribo(["watch"]).code(2).says("this needs a terminal; `tribo status` prints where a study stands");
}
