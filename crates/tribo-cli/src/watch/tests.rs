//! Screens of all sizes, of a study in all states.

use super::draw::draw;
use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::fs;
use tribo::surrogate::watch::Unwatched;
use tribo_study::by_hand::ByHand;
use tribo_study::job::Finding;
use tribo_study::outputs::VALUE;

const FILE: &str = "study_version = 1\nname = \"wing\"\ndirection = \"minimize\"\nseed = 5\n\
    [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0\nhigh = 1\n\
    [[parameter]]\nname = \"rate\"\ntype = \"float\"\nlow = 0.001\nhigh = 10\nlog = true\n\
    [budget]\nevaluations = 40\n[strategy]\nname = \"random\"\n";

/// Asks and tells trials up to `n`; every fifth fails with what a terminal would obey.
fn told(study: &mut ByHand, n: u64) {
    for _ in 0..n {
        let asked = study.ask(1, &Unwatched).unwrap().remove(0);
        let finding = match asked.id.0 % 5 {
            3 => Finding::failed("failed: \u{1b}[2Jmesh \u{202e}collapsed"),
            _ => Finding::answered(VALUE, asked.point.numbers()[0] + 1.0),
        };
        study.tell(asked.id.0, &finding).unwrap();
    }
}

fn begun() -> (tempfile::TempDir, Layout, ByHand) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(&folder.path().join("study.toml"));
    fs::write(layout.file(), FILE).unwrap();
    let study = ByHand::take_new(&layout).unwrap();
    (folder, layout, study)
}

fn screen(watching: &Watching, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &watching.scene())).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| -> String { (0..width).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

#[test]
fn a_screen_shows_all_there_is_to_know() {
    let (_folder, layout, mut study) = begun();
    told(&mut study, 20);
    study.ask(2, &Unwatched).unwrap();
    let mut watching = Watching::open(&layout).unwrap();
    let before = screen(&watching, 100, 30);
    for words in [
        "wing (minimize)",
        "20 of 40 done",
        "50 %",
        "convergence",
        "value 1.",
        "rate",
        "last failures",
        "trial 18: failed: \\u{1b}[2Jmesh \\u{202e}collapsed",
        "q leaves",
    ] {
        assert!(before.contains(words), "{words} is not in\n{before}");
    }
    assert!(!before.contains('\u{1b}') && !before.contains('\u{202e}'));
    // The line of the best so far is drawn in dots of Braille.
    assert!(before.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{before}");
    told(&mut study, 5);
    watching.look().unwrap();
    assert!(screen(&watching, 100, 30).contains("25 of 40 done"));
    study.close("test").unwrap();
    watching.look().unwrap();
    assert!(screen(&watching, 100, 30).contains("wing (minimize), evaluated by hand"));
}

#[test]
fn every_size_and_an_empty_study_can_be_drawn() {
    let (_folder, layout, mut study) = begun();
    let empty = Watching::open(&layout).unwrap();
    assert!(screen(&empty, 80, 24).contains("no value yet"));
    told(&mut study, 12);
    let watching = Watching::open(&layout).unwrap();
    for width in [1, 2, 5, 20, 40, 75, 76, 200] {
        for height in [1, 2, 5, 10, 24, 70] {
            screen(&empty, width, height);
            screen(&watching, width, height);
        }
    }
    let narrow = screen(&watching, 60, 30);
    for words in ["12 of 40 done", "convergence", "best", "under way", "last failures", "trial 8: ", "now"] {
        assert!(narrow.contains(words), "{words} is not in\n{narrow}");
    }
}

#[test]
fn a_look_that_fails_is_said_and_the_screen_stays() {
    let (_folder, layout, mut study) = begun();
    told(&mut study, 6);
    let mut watching = Watching::open(&layout).unwrap();
    let journal = fs::read(layout.journal()).unwrap();
    fs::remove_file(layout.journal()).unwrap();
    watching.fault = watching.look().err().map(|fault| fault.to_string());
    let shown = screen(&watching, 100, 30);
    assert!(shown.contains("cannot look: ") && shown.contains("6 of 40 done"), "{shown}");
    fs::write(layout.journal(), journal).unwrap();
    watching.fault = watching.look().err().map(|fault| fault.to_string());
    assert!(!screen(&watching, 100, 30).contains("cannot look"));
}

#[test]
fn q_escape_and_control_c_end_it() {
    let key = |code, modifiers| is_end(KeyEvent::new(code, modifiers));
    assert!(key(KeyCode::Char('q'), KeyModifiers::NONE) && key(KeyCode::Esc, KeyModifiers::NONE));
    assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL) && !key(KeyCode::Char('c'), KeyModifiers::NONE));
}
