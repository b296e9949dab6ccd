//! Pages: parts, lists and forms with the same frame around them. Everything that comes from users and solvers goes through
//! [`tribo_chart::escaped`]; the content policy of the answers forbids whatever might get past that.

mod log;
mod model;
mod trial;
mod trials;

use crate::following::{Board, Followed};
use crate::route::{PARTS, Page};
use std::sync::Arc;
use tribo_chart::{escaped, style_sheet};
use tribo_study::page::STYLE;

/// The script of all pages.
pub(crate) const SCRIPT: &str = include_str!("../../assets/script.js");
/// The picture of a tab.
pub(crate) const ICON: &str = include_str!("../../assets/icon.svg");

/// The style of all pages and charts.
pub(crate) fn style() -> String {
    [STYLE, include_str!("../../assets/style.css"), &style_sheet()].concat()
}

/// A link.
pub(crate) fn link(to: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escaped(to), escaped(text))
}

/// A link to a trial.
pub(crate) fn trial_link(study: usize, trial: u64) -> String {
    link(&format!("/s/{study}/trial/{trial}"), &format!("trial {trial}"))
}

/// A page of a study, one of `n_studies`; None if there is no such page.
pub(crate) fn page(study: &Arc<Followed>, n_studies: usize, page: Page, query: &str) -> Option<String> {
    let frame = Frame { study: study.number, n_studies, page };
    match page {
        Page::Part(name) => return study.board().parts.get(name).map(|part| part.html.clone()),
        Page::Slices => return Some(model::slices(study, query)),
        Page::Events => return None,
        Page::Overview | Page::Model => study.want_model(),
        _ => {}
    }
    study.look();
    let board = study.board();
    Some(match page {
        Page::Overview => frame.around(&board, "", &overview(&board)),
        Page::Machine => {
            frame.around(&board, "Machine", &some(&board, &["trouble", "now", "machine", "failures"]))
        }
        Page::Model => frame.around(&board, "Model", &model::page(study, &board, query)),
        Page::Trials => frame.around(&board, "Trials", &trials::page(study, query)),
        Page::Trial { trial, why } => {
            let body = trial::page(study, trial, why)?;
            frame.around(&board, &format!("Trial {trial}"), &body)
        }
        Page::Part(_) | Page::Slices | Page::Events => return None,
    })
}

fn overview(board: &Board) -> String {
    // The last three are shown elsewhere.
    some(board, &PARTS[..PARTS.len() - 3])
}

fn some(board: &Board, names: &[&str]) -> String {
    names.iter().filter_map(|name| board.parts.get(name)).map(|part| part.html.as_str()).collect()
}

/// All studies.
pub(crate) fn index(studies: &[Arc<Followed>]) -> String {
    let mut cards = String::new();
    for study in studies {
        study.look();
        let board = study.board();
        cards += &format!("<article class=\"card\">\n{}</article>\n", some(&board, &["trouble", "card"]));
    }
    document("All studies", "/events", "", &format!("<div class=\"cards\">\n{cards}</div>\n"))
}

/// What is around a page of a study.
struct Frame {
    study: usize,
    n_studies: usize,
    page: Page,
}

impl Frame {
    fn around(&self, board: &Board, title: &str, body: &str) -> String {
        let name = &board.name;
        let title = if title.is_empty() { name.clone() } else { format!("{title} · {name}") };
        // Only pages that show the model have it made.
        let shows_model = matches!(self.page, Page::Overview | Page::Model);
        let events = if shows_model { format!("/s/{}/events", self.study) } else { "/events".to_owned() };
        document(&title, &events, &self.links(), body)
    }

    fn links(&self) -> String {
        let pages = [
            ("", "Overview", Page::Overview),
            ("model", "Model", Page::Model),
            ("trials", "Trials", Page::Trials),
            ("machine", "Machine", Page::Machine),
        ];
        let mut links = String::new();
        if self.n_studies > 1 {
            links += &link("/", "All studies");
        }
        for (path, name, page) in pages {
            let current = if page == self.page { " aria-current=\"page\"" } else { "" };
            links += &format!("<a href=\"/s/{}/{path}\"{current}>{name}</a>", self.study);
        }
        format!("<nav aria-label=\"pages\">{links}</nav>\n")
    }
}

fn document(title: &str, events: &str, links: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n<link rel=\"icon\" href=\"/icon.svg\">\n\
         <script src=\"/script.js\" defer></script>\n</head>\n<body data-events=\"{events}\">\n\
         <a class=\"skip\" href=\"#main\">To the contents</a>\n<header>\n{links}<h1>{title}</h1>\n\
         <p id=\"live\" role=\"status\">Load the page again to see what is new.</p>\n</header>\n\
         <main id=\"main\" tabindex=\"-1\">\n{body}</main>\n</body>\n</html>\n"
    )
}
