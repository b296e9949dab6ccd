//! What the pages show.

use crate::support::{FILE, PATIENCE, Served, Told};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// An open page, which has the model made.
fn with_model(served: &Served) -> TcpStream {
    let events = served.events("/s/0/events");
    let begin = Instant::now();
    while served.get("/s/0/part/model").contains("being made") {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    events
}

#[test]
fn the_overview_has_the_sections_of_the_report() {
    let told = Told::new(30);
    let served = told.serve();
    let _open = with_model(&served);
    let page = served.get("/s/0/");
    for section in ["result", "convergence", "inputs", "model", "search", "failures", "strategy", "again"] {
        assert!(page.contains(&format!("<h2 id=\"{section}\">")), "{section}");
    }
    assert!(page.contains("data-part=\"0/result\"") && page.contains("/s/0/trial/"));
    assert_eq!(served.ask("GET", "/", &[]).header("location"), Some("/s/0/"));
}

#[test]
fn a_trial_tells_why_it_was_proposed_and_what_came() {
    let told = Told::new(30);
    let served = told.serve();
    let page = served.get("/s/0/trial/25");
    assert!(page.contains("data-wanted=\"/s/0/trial/25/why\"") && page.contains("measured"), "{page}");
    let why = served.get("/s/0/trial/25/why");
    assert!(why.contains("the model of") && why.contains("what was expected"), "{why}");
    assert!(served.get("/s/0/trial/0/why").contains("design: one of the first points"));
    assert!(served.get("/s/0/trial/7").contains("0x7ffe12"));
    assert!(served.get("/s/0/trial/0").contains("href=\"/s/0/trial/1\""));
}

#[test]
fn sliders_move_what_the_slices_go_through() {
    let told = Told::new(30);
    let served = told.serve();
    let _open = with_model(&served);
    let page = served.get("/s/0/model");
    for control in [
        "type=\"range\" id=\"i0\"",
        "id=\"i2\"",
        "step=\"0.2\"",
        "<select id=\"i3\"",
        "Back to the best trial",
    ] {
        assert!(page.contains(control), "{control}");
    }
    let expected = |query: &str| {
        let slices = served.get(&format!("/s/0/model/slices?{query}"));
        assert!(slices.matches("<svg").count() >= 4, "{slices}");
        let begin = slices.find("Expected value here: ").unwrap();
        slices[begin..].split(" (95").next().unwrap().to_owned()
    };
    assert_ne!(expected("i0=0"), expected("i0=0.5"));
    assert_eq!(expected("i0=0.25&i2=0.4"), expected("i2=0.41&i0=0.25"));
    let shown = served.get("/s/0/model/slices?i0=0.25&i1=0.5&i2=1&i3=2");
    assert!(
        shown.contains("&quot;i0&quot;:&quot;0.25&quot;") && shown.contains("&quot;i2&quot;:&quot;6&quot;"),
        "{shown}"
    );
    assert!(
        shown.contains("&quot;i1&quot;:&quot;0.1&quot;")
            && shown.contains("&quot;i3&quot;:&quot;three&quot;")
    );
    // Without a script the form asks for the page itself.
    assert!(served.get("/s/0/model?i0=0.25").contains("value=\"0.25\""));
}

#[test]
fn limits_can_be_moved_to_see_what_is_expected_then() {
    let outputs = "[[output]]\nname = \"value\"\ngoal = \"minimize\"\n[[output]]\nname = \"load\"\nbetween = [0.4, 0.6]\n";
    let told = Told::by(&(FILE.replace("direction = \"minimize\"\n", "") + outputs), 30);
    let served = told.serve();
    let _open = with_model(&served);
    let page = served.get("/s/0/model");
    for part in ["id=\"l0l\"", "id=\"l0h\"", "load at least", "load at most", "Within the limits, along"] {
        assert!(page.contains(part), "{part}");
    }
    let words = "Under these limits the models expect value";
    assert!(!page.contains(words) && page.contains("The chance that all limits are met here is"));
    let moved = served.get("/s/0/model/slices?l0l=0.9&l0h=0.9");
    assert!(moved.contains(words), "{moved}");
    // What is no place of a slider leaves the limit where it is.
    assert!(!served.get("/s/0/model/slices?l0l=7&l0h=nan&l9h=0.1&l=0.1").contains(words));
}

#[test]
fn trials_are_listed_a_hundred_at_a_time() {
    let mut told = Told::by(&FILE.replace("\"bo\"", "\"random\""), 0);
    (0..130).for_each(|i| told.tell(f64::from(i)));
    let served = told.serve();
    let first = served.get("/s/0/trials");
    assert!(
        first.contains("130 trials, page 1 of 2")
            && first.contains(">trial 129<")
            && !first.contains(">trial 29<")
    );
    let second = served.get("/s/0/trials?order=newest&page=1");
    assert!(second.contains(">trial 29<") && second.contains(">trial 0<") && second.contains("page before"));
    let best = served.get("/s/0/trials?order=best");
    assert!(best.find(">trial 0<").unwrap() < best.find(">trial 1<").unwrap());
    assert!(served.get("/s/0/trials?order=failed").contains("0 trials"));
}

#[test]
fn a_study_without_results_has_pages_too() {
    let told = Told::new(0);
    let served = told.serve();
    let _open = with_model(&served);
    assert!(served.get("/s/0/").contains("No evaluation has given a value yet."));
    assert!(served.get("/s/0/model").contains("data-reload"));
    assert!(served.get("/s/0/machine").contains("Nothing is under way."));
    assert_eq!(served.ask("GET", "/s/0/trial/0", &[]).status, 404);
}
