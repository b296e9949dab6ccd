//! Results appear on open pages at once.

use crate::support::{PATIENCE, Served, Told, read_until};
use std::time::{Duration, Instant};

#[test]
fn a_new_best_is_on_the_page_within_a_second() {
    let mut told = Told::new(6);
    let served = told.serve();
    let mut events = served.events("/s/0/events");
    let (first, _) = read_until(&mut events, "\n\n");
    assert!(first.contains("text/event-stream") && first.contains("\"0/result\":"), "{first}");
    // The model is made meanwhile, and is in nobody's way.
    let mut slowest = Duration::ZERO;
    for value in [-10.0, -11.0, -12.0] {
        let begin = Instant::now();
        told.tell(value);
        while !served.get("/s/0/part/result").contains(&format!("is {value}")) {
            assert!(begin.elapsed() < PATIENCE);
            read_until(&mut events, "0/result");
        }
        slowest = slowest.max(begin.elapsed());
    }
    // A second is promised; a machine that runs other tests at the same time may need longer.
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
}

#[test]
fn nothing_new_is_nothing_sent_and_a_page_that_comes_back_is_told_all() {
    let told = Told::new(4);
    let served = told.serve();
    let mut events = served.events("/events");
    let (first, _) = read_until(&mut events, "\n\n");
    for part in ["0/result", "0/card", "0/now", "0/journal"] {
        assert!(first.contains(&format!("\"{part}\":")), "{part}: {first}");
    }
    let (second, _) = read_until(&mut served.events("/events"), "\n\n");
    let data = |text: &str| text.lines().find(|line| line.starts_with("data: ")).unwrap().to_owned();
    assert_eq!(data(&first), data(&second));
}

#[test]
fn several_studies_are_side_by_side() {
    let (one, two) = (Told::new(4), Told::new(6));
    let served = Served::of(&[one.layout.clone(), two.layout.clone()]);
    let index = served.get("/");
    assert!(index.contains("href=\"/s/0/\"") && index.contains("href=\"/s/1/\""), "{index}");
    assert!(served.get("/s/1/").contains("All studies"));
    let (first, _) = read_until(&mut served.events("/events"), "\n\n");
    assert!(first.contains("\"0/card\":") && first.contains("\"1/card\":"), "{first}");
}

#[test]
fn a_journal_that_breaks_is_said_and_one_that_is_mended_goes_on() {
    let mut told = Told::new(4);
    let served = told.serve();
    let mut events = served.events("/s/0/events");
    read_until(&mut events, "\n\n");
    let journal = told.layout.journal();
    let (kept, moved) = (std::fs::read(&journal).unwrap(), journal.with_extension("away"));
    std::fs::rename(&journal, &moved).unwrap();
    read_until(&mut events, "0/trouble");
    assert!(served.get("/s/0/part/trouble").contains("may be old"));
    assert!(served.get("/s/0/").contains("</html>"));
    std::fs::rename(&moved, &journal).unwrap();
    assert_eq!(std::fs::read(&journal).unwrap(), kept);
    told.tell(-99.0);
    let begin = Instant::now();
    while !served.get("/s/0/part/result").contains("is -99")
        || served.get("/s/0/part/trouble").contains("old")
    {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
}
