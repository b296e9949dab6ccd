//! Writing HTML: the few elements that a page has, all text escaped.

use super::style::STYLE;
use tribo_chart::{Chart, Scheme, escaped, style_sheet};

/// Allows the style of the page and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// Pictures wider than this can be moved sideways on a telephone; others are made smaller, and can still be read.
const LARGE: f64 = 480.0;

/// A page in the making.
#[derive(Default)]
pub struct Html {
    body: String,
    /// Places in the list of contents.
    contents: Vec<(String, String)>,
}

impl Html {
    /// A heading that the list of contents names.
    pub fn section(&mut self, title: &str) {
        let id: String = title.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        self.body += &format!("<h2 id=\"{id}\">{}</h2>\n", escaped(title));
        self.contents.push((id, title.to_owned()));
    }

    /// A heading below that of a section.
    pub fn heading(&mut self, title: &str) {
        self.body += &format!("<h3>{}</h3>\n", escaped(title));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", escaped(text));
    }

    /// A paragraph that stands out, `good`, `fair` or `poor`.
    pub fn verdict(&mut self, class: &str, text: &str) {
        self.body += &format!("<p class=\"verdict {class}\">{}</p>\n", escaped(text));
    }

    /// A list.
    pub fn list(&mut self, items: &[String]) {
        self.body += "<ul>\n";
        for item in items {
            self.body += &format!("<li>{}</li>\n", escaped(item));
        }
        self.body += "</ul>\n";
    }

    /// A picture.
    pub fn chart(&mut self, chart: &dyn Chart) {
        let picture = chart.picture();
        let class = if picture.width() > LARGE { " class=\"large\" tabindex=\"0\"" } else { "" };
        self.body += &format!("<figure{class}>{}</figure>\n", picture.svg(Scheme::Page));
    }

    /// Pictures side by side, as many as fit.
    pub fn charts(&mut self, charts: &[Box<dyn Chart>]) {
        self.body += "<div class=\"side\">\n";
        charts.iter().for_each(|chart| self.chart(chart.as_ref()));
        self.body += "</div>\n";
    }

    /// A table. Cells that are numbers stand at the right.
    pub fn table(&mut self, header: &[&str], rows: &[Vec<String>]) {
        self.body += "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>";
        for name in header {
            self.body += &format!("<th scope=\"col\">{}</th>", escaped(name));
        }
        self.body += "</tr></thead>\n<tbody>\n";
        for row in rows {
            self.body += "<tr>";
            for cell in row {
                let class = if cell.parse::<f64>().is_ok() { " class=\"n\"" } else { "" };
                self.body += &format!("<td{class}>{}</td>", escaped(cell));
            }
            self.body += "</tr>\n";
        }
        self.body += "</tbody></table></div>\n";
    }

    /// Names and values.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        self.body += "<dl>\n";
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
            self.body += &format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
        }
        self.body += "</dl>\n";
    }

    /// Text as it is, folded away under a title.
    pub fn folded(&mut self, title: &str, text: &str) {
        let (title, text) = (escaped(title), escaped(text));
        self.body +=
            &format!("<details><summary>{title}</summary><pre tabindex=\"0\">{text}</pre></details>\n");
    }

    /// Text as it is.
    pub fn code(&mut self, text: &str) {
        self.body += &format!("<pre tabindex=\"0\">{}</pre>\n", escaped(text));
    }

    /// Markup of the caller, who has escaped what is in it.
    pub fn raw(&mut self, markup: &str) {
        self.body += markup;
    }

    /// What was written, without a page around it.
    pub fn into_body(self) -> String {
        self.body
    }

    /// The file.
    pub fn page(self, title: &str) -> String {
        let title = escaped(title);
        let links: String = self
            .contents
            .iter()
            .map(|(id, name)| format!("<a href=\"#{id}\">{}</a> ", escaped(name)))
            .collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<header><h1>{title}</h1>\n\
             <nav aria-label=\"contents\">{links}</nav></header>\n<main>\n{}</main>\n</body>\n</html>\n",
            style_sheet(),
            self.body
        )
    }
}
