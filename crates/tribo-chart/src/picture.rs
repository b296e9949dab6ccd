//! Writing SVG: elements, escaped text, and the few sizes all charts share.

use crate::theme::Scheme;

pub(crate) const FONT_SIZE: f64 = 13.0;
pub(crate) const TITLE_SIZE: f64 = 15.0;
pub(crate) const LEGEND_ROW: f64 = 21.0;
/// Colours of series.
const N_COLOURS: usize = 8;

/// The colour of series or kind number `index`, as the number of a class.
pub(crate) fn colour(index: usize) -> usize {
    index % N_COLOURS
}

/// Whether the colours have been used once before series `index`: it is dashed.
pub(crate) fn is_dashed(index: usize) -> bool {
    (index / N_COLOURS) % 2 == 1
}

/// A generous guess of the width of `text`: no font is measured, and sans-serif fonts differ by a fifth.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

/// `text` broken between words into lines of at most `width`; a longer word has its own line.
pub(crate) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
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

/// Text safe between tags and inside attributes, of SVG and of HTML; control characters, which XML forbids and terminals
/// obey, are dropped.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            // Not characters, and those that turn the direction of what follows around.
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}

/// Where a text is put relative to its place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle: left, top, width, height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A drawing.
pub struct Picture {
    body: String,
    width: f64,
    height: f64,
}

impl Picture {
    /// An empty picture; `title` and `description` are what screen readers say.
    pub(crate) fn new(width: f64, height: f64, title: &str, description: &str) -> Self {
        let mut picture = Picture { body: String::new(), width: width.ceil(), height: height.ceil() };
        picture.element(&format!("<title>{}</title>", escaped(title)));
        if !description.is_empty() {
            picture.element(&format!("<desc>{}</desc>", escaped(description)));
        }
        picture.element("<rect class=\"bg\" width=\"100%\" height=\"100%\"/>");
        picture
    }

    /// One line of SVG, already escaped.
    pub(crate) fn element(&mut self, svg: &str) {
        self.body.push_str(svg);
        self.body.push('\n');
    }

    /// A mark that says `title` when pointed at: `start` is its tag without the end.
    pub(crate) fn mark(&mut self, start: &str, title: &str) {
        if title.is_empty() {
            self.element(&format!("{start}/>"));
            return;
        }
        let name = start[1..].split(' ').next().unwrap_or("");
        self.element(&format!("{start}><title>{}</title></{name}>", escaped(title)));
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.classed_text("i", x, y, anchor, text);
    }

    /// Text that matters less.
    pub(crate) fn muted_text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.classed_text("m", x, y, anchor, text);
    }

    fn classed_text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.element(&format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>",
            escaped(text)
        ));
    }

    /// Lines of the title, the first with its baseline at `y`.
    pub(crate) fn title(&mut self, x: f64, y: f64, lines: &[String]) {
        for (i, line) in lines.iter().enumerate() {
            self.element(&format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{TITLE_SIZE}\" font-weight=\"bold\">{}</text>",
                y + i as f64 * 1.3 * TITLE_SIZE,
                escaped(line)
            ));
        }
    }

    /// Text that reads upwards, centred at (x, y).
    pub(crate) fn upward_text(&mut self, x: f64, y: f64, text: &str) {
        self.element(&format!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        ));
    }

    /// A grid line from (x1, y1) to (x2, y2).
    pub(crate) fn grid(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, faint: bool) {
        let class = if faint { "gf" } else { "g" };
        self.element(&format!("<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>"));
    }

    /// The left and bottom edges of the plotting area.
    pub(crate) fn frame(&mut self, area: Area) {
        let Area { left, top, .. } = area;
        self.element(&format!(
            "<path class=\"fr n\" d=\"M{left:.1} {top:.1}V{:.1}H{:.1}\"/>",
            area.bottom(),
            area.right()
        ));
    }

    /// What follows is cut off at the edges of `area`, until [`Picture::end_clip`].
    pub(crate) fn begin_clip(&mut self, area: Area) {
        let Area { left, top, width, height } = area;
        self.element(&format!(
            "<svg x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             viewBox=\"{left:.1} {top:.1} {width:.1} {height:.1}\">"
        ));
    }

    pub(crate) fn end_clip(&mut self) {
        self.element("</svg>");
    }

    /// Its width in pixels, with text of 13 pixels.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The file, in these colours.
    pub fn svg(&self, scheme: Scheme) -> String {
        let Picture { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tribo-chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" \
             font-size=\"{FONT_SIZE}\">\n{}{body}</svg>\n",
            scheme.style()
        )
    }
}

/// Check that `svg` is one well-formed element: tags balanced, attributes quoted, no stray `<` or `&`.
#[cfg(test)]
pub(crate) fn assert_well_formed(svg: &str) {
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
        let entity = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].iter().any(|e| svg[at..].starts_with(e));
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
        assert_eq!(escaped("\u{1b}[31mred\u{9b}31m'\u{202e}"), "[31mred31m&#39;");
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
