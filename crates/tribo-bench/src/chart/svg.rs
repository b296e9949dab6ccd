//! Writing SVG: elements, escaped text, and the few sizes and colours all charts share.

/// Okabe and Ito's colours without the yellow, which is too faint on white, and with a grey.
pub(super) const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"];
pub(super) const FONT_SIZE: f64 = 13.0;
pub(super) const TITLE_SIZE: f64 = 15.0;
pub(super) const LEGEND_ROW: f64 = 21.0;
const INK: &str = "#222222";
const GRID: &str = "#e4e4e4";
const FAINT_GRID: &str = "#f3f3f3";

/// The colour of series or kind number `index`.
pub(super) fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// A generous guess of the width of `text`: no font is measured, and sans-serif fonts differ by a fifth.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

/// `text` broken between words into lines of at most `width`; a longer word has its own line.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text safe between tags and inside attributes; characters that XML forbids are dropped.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c < ' ' && c != '\n' && c != '\t' => {}
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

/// Where a text is put relative to its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle: left, top, width, height.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A picture in the making.
pub(super) struct Picture {
    body: String,
    width: f64,
    height: f64,
}

impl Picture {
    /// An empty white picture; `title` is what screen readers say.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut picture = Picture { body: String::new(), width: width.ceil(), height: height.ceil() };
        picture.element(&format!("<title>{}</title>", escaped(title)));
        picture.element("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        picture
    }

    /// One line of SVG, already escaped.
    pub(super) fn element(&mut self, svg: &str) {
        self.body.push_str(svg);
        self.body.push('\n');
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.element(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(text)
        ));
    }

    /// Lines of the title, the first with its baseline at `y`.
    pub(super) fn title(&mut self, x: f64, y: f64, lines: &[String]) {
        for (i, line) in lines.iter().enumerate() {
            self.element(&format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{TITLE_SIZE}\" font-weight=\"bold\">{}</text>",
                y + i as f64 * 1.3 * TITLE_SIZE,
                escaped(line)
            ));
        }
    }

    /// Text that reads upwards, centred at (x, y).
    pub(super) fn upward_text(&mut self, x: f64, y: f64, text: &str) {
        self.element(&format!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        ));
    }

    /// A grid line from (x1, y1) to (x2, y2).
    pub(super) fn grid(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, faint: bool) {
        let stroke = if faint { FAINT_GRID } else { GRID };
        self.element(&format!(
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{stroke}\" stroke-width=\"1\"/>"
        ));
    }

    /// The left and bottom edges of the plotting area.
    pub(super) fn frame(&mut self, area: Area) {
        let Area { left, top, .. } = area;
        self.element(&format!(
            "<path d=\"M{left:.1} {top:.1}V{:.1}H{:.1}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\"/>",
            area.bottom(),
            area.right()
        ));
    }

    /// The file.
    pub(super) fn finish(self) -> String {
        let Picture { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" \
             font-size=\"{FONT_SIZE}\" fill=\"{INK}\">\n{body}</svg>\n"
        )
    }
}

/// Check that `svg` is one well-formed element: tags balanced, attributes quoted, no stray `<` or `&`.
#[cfg(test)]
pub(super) fn assert_well_formed(svg: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = svg.trim_end();
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "stray > in {text:?}");
        assert!(!open.is_empty() || text.is_empty(), "text outside the root: {text:?}");
        let end =
            start + rest[start..].find('>').unwrap_or_else(|| panic!("unclosed tag: {}", &rest[start..]));
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "< inside a tag: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "unbalanced quotes: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closing tag without its opening");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or("").to_owned());
        }
        rest = &rest[end + 1..];
        assert!(!open.is_empty() || rest.is_empty(), "content after the root: {rest:?}");
    }
    assert!(open.is_empty() && rest.is_empty(), "never closed: {open:?}");
    for (at, _) in svg.match_indices('&') {
        let entity = ["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|e| svg[at..].starts_with(e));
        assert!(entity, "stray & in {:?}", svg[at..].chars().take(20).collect::<String>());
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number that is not finite was drawn");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_control_characters_dropped() {
        assert_eq!(escaped("a<b> & \"c\"\u{0}\u{b}"), "a&lt;b&gt; &amp; &quot;c&quot;");
    }

    #[test]
    fn wrapping_keeps_words_and_order() {
        let lines = wrapped("one two three four", 10.0, 60.0);
        assert_eq!(lines, ["one two", "three four"]);
        assert!(wrapped("", 10.0, 60.0).is_empty());
    }

    #[test]
    fn the_form_check_can_fail() {
        for broken in
            ["<svg><a></svg>", "<svg>&nope</svg>", "<svg x=\"1></svg>", "<svg></svg><p/>", "<svg>NaN</svg>"]
        {
            assert!(std::panic::catch_unwind(|| assert_well_formed(broken)).is_err(), "{broken} passed");
        }
        assert_well_formed("<svg><a x=\"1\"/>t &amp; u</svg>\n");
    }
}
