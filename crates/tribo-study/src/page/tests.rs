//! The report is whole, small, and harmless whatever is in it.

use super::*;
use crate::by_hand::ByHand;
use crate::job::Finding;
use crate::layout::Layout;
use crate::outputs::VALUE;
use crate::reading::Reading;
use crate::view::tests::study;
use tribo::surrogate::watch::Unwatched;

const FILE: &str = "study_version = 1\nname = \"a <b> & c\"\ndirection = \"maximize\"\nseed = 5\n\
    [[parameter]]\nname = \"x<i>\"\ntype = \"float\"\nlow = 0\nhigh = 1\n\
    [[parameter]]\nname = \"rate\"\ntype = \"float\"\nlow = 0.001\nhigh = 10\nlog = true\n\
    [[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 6\n\
    [strategy]\nname = \"bo\"\n";

fn page(reading: &Reading) -> String {
    report(&View::of(reading).unwrap()).unwrap()
}

#[test]
fn nothing_from_users_and_solvers_becomes_markup() {
    let (_folder, reading) = study(FILE, 30);
    let page = page(&reading);
    assert!(page.contains("a &lt;b&gt; &amp; c") && page.contains("x&lt;i&gt;"));
    assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("<b>"));
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains('\u{1b}'));
    for foreign in ["http://", "https://", "src=", "url(", "@import", " style="] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(foreign), "{foreign}");
    }
}

#[test]
fn large_pictures_can_be_moved_on_a_telephone_and_small_ones_fit() {
    let (_folder, reading) = study(FILE, 30);
    let page = page(&reading);
    let widths = |opening: &str| -> Vec<f64> {
        let figures =
            page.split(opening).skip(1).filter_map(|rest| rest.split("width=\"").nth(1)?.split('"').next());
        figures.map(|width| width.parse().unwrap()).collect()
    };
    let (large, small) = (widths("<figure class=\"large\" tabindex=\"0\">"), widths("<figure>"));
    assert!(!large.is_empty() && large.iter().all(|width| *width > 480.0), "{large:?}");
    assert!(!small.is_empty() && small.iter().all(|width| *width <= 480.0), "{small:?}");
}

#[test]
fn a_card_is_small_and_harmless() {
    let (_folder, reading) = study(FILE, 30);
    let card = card(&View::of(&reading).unwrap());
    assert!(card.contains("maximize value over 3 inputs") && card.contains("<svg"), "{card}");
    assert!(card.contains("x&lt;i&gt; = ") && !card.contains("<i>") && !card.contains("<script"));
    assert!(card.len() < 60_000, "{} bytes", card.len());
}

#[test]
fn every_section_is_there_and_linked() {
    let (folder, reading) = study(FILE, 30);
    let page = page(&reading);
    for section in ["result", "convergence", "inputs", "model", "search", "failures", "strategy", "again"] {
        assert!(
            page.contains(&format!("<h2 id=\"{section}\">"))
                && page.contains(&format!("href=\"#{section}\"")),
            "{section}"
        );
    }
    assert!(
        page.contains("The model can be trusted") || page.contains("The model tells good from bad"),
        "no verdict"
    );
    assert!(page.len() < 500_000, "{} bytes", page.len());
    let path = folder.path().join("report.html");
    write(&path, &page).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
    let error = write(&folder.path().join("none/report.html"), &page).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
}

#[test]
fn a_study_without_results_has_a_report_too() {
    let (_folder, reading) = study(FILE, 0);
    assert!(page(&reading).contains("No evaluation has given a value yet."));
}

#[test]
fn of_very_many_inputs_those_that_matter_come_first() {
    let file = "study_version = 1\ndirection = \"minimize\"\nseed = 1\n[[parameter]]\nname = \"v\"\ntype = \"float\"\n\
        low = -1\nhigh = 1\nsize = 200\n[budget]\nevaluations = 80\n";
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(&folder.path().join("study.toml"));
    fs::write(layout.file(), file).unwrap();
    let mut study = ByHand::take_new(&layout).unwrap();
    for trial in 0..45 {
        let x = study.ask(1, &Unwatched).unwrap().remove(0).point.numbers();
        let value = (x[17] - 0.3).powi(2) + 2.0 * (x[150] + 0.4).powi(2);
        study.tell(trial, &Finding::answered(VALUE, value)).unwrap();
    }
    study.close("test").unwrap();
    let view = View::of(&Reading::open(&layout).unwrap()).unwrap();
    let page = report(&view).unwrap();
    let rows: Vec<&str> = page.split("<td>v[").skip(1).map(|rest| rest.split(']').next().unwrap()).collect();
    assert!(rows[..2].contains(&"17") && rows[..2].contains(&"150") && rows[2] == "0", "{rows:?}");
    assert!(page.contains("176 more") && card(&view).contains("v[150] = "));
}
