//! Horizontal bars from zero, each with its name, its number and how sure that is.

use crate::Chart;
use crate::axis::{Range, Scale, is_drawable};
use crate::picture::{Anchor, Area, FONT_SIZE, Picture, TITLE_SIZE, text_width, wrapped};

/// One bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// The interval that the true value is expected in, if it is known.
    pub interval: Option<(f64, f64)>,
    /// A part of it, drawn darker inside.
    pub part: Option<f64>,
    /// What stands beside it.
    pub label: String,
    /// What it says when pointed at.
    pub title: String,
}

/// Named numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// What the bars measure.
    pub label: String,
    /// The bars, from the top.
    pub bars: Vec<Measure>,
    /// The end of the axis, where it is not that of the longest bar.
    pub end: Option<f64>,
}

const PLOT_WIDTH: f64 = 420.0;
const ROW: f64 = 26.0;
/// Longer names are cut: the whole name is said when pointed at.
const LONGEST_NAME: usize = 28;

impl Chart for Bars {
    fn picture(&self) -> Picture {
        let bars: Vec<&Measure> =
            self.bars.iter().filter(|bar| is_drawable(Scale::Linear, bar.value)).collect();
        let ends = bars.iter().flat_map(|bar| [bar.value, bar.interval.map_or(0.0, |(_, high)| high)]);
        let range = match self.end {
            Some(end) => Range::tightly([0.0, end].into_iter()),
            None => Range::covering(Scale::Linear, ends.chain([0.0])),
        };
        let widest = bars.iter().map(|bar| text_width(&cut(&bar.name), FONT_SIZE)).fold(0.0, f64::max);
        let widest_label = bars.iter().map(|bar| text_width(&bar.label, FONT_SIZE)).fold(0.0, f64::max);
        let (left, right) = (22.0 + widest, 30.0 + widest_label);
        let title = wrapped(&self.title, TITLE_SIZE, PLOT_WIDTH + right - 20.0);
        let top = 22.0 + 1.3 * TITLE_SIZE * title.len() as f64;
        let area = Area { left, top, width: PLOT_WIDTH, height: ROW * bars.len().max(1) as f64 };
        let mut picture =
            Picture::new(area.right() + right, area.bottom() + 58.0, &self.title, &self.description);
        picture.title(left.min(22.0), 12.0 + TITLE_SIZE, &title);
        let place = |value: f64| area.left + area.width * range.place(value).clamp(0.0, 1.0);
        for tick in range.ticks_along(area.width) {
            let at = place(tick.value);
            picture.grid(at, area.top, at, area.bottom() + 5.0, false);
            picture.text(at, area.bottom() + 20.0, Anchor::Middle, &tick.label);
        }
        picture.text(area.left + area.width / 2.0, area.bottom() + 44.0, Anchor::Middle, &self.label);
        for (i, bar) in bars.iter().enumerate() {
            let middle = area.top + (i as f64 + 0.5) * ROW;
            picture.text(area.left - 9.0, middle + 0.35 * FONT_SIZE, Anchor::End, &cut(&bar.name));
            let zero = place(0.0);
            let rect = |value: f64, opacity: f64| {
                let (from, to) = (zero.min(place(value)), zero.max(place(value)));
                format!(
                    "<rect class=\"f0\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill-opacity=\"{opacity}\"",
                    middle - 0.32 * ROW,
                    (to - from).max(0.5),
                    0.64 * ROW
                )
            };
            picture.mark(&rect(bar.value, if bar.part.is_some() { 0.45 } else { 1.0 }), &bar.title);
            if let Some(part) = bar.part.filter(|part| part.is_finite()) {
                picture.mark(&rect(part, 1.0), &bar.title);
            }
            let mut end = place(bar.value);
            if let Some((low, high)) = bar.interval.filter(|(low, high)| (low + high).is_finite()) {
                let (low, high) = (place(low), place(high));
                picture.element(&format!(
                    "<path class=\"n fr\" d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v8M{high:.1} {:.1}v8\" stroke-width=\"1.3\"/>",
                    middle - 4.0,
                    middle - 4.0
                ));
                end = end.max(high);
            }
            picture.text(end + 8.0, middle + 0.35 * FONT_SIZE, Anchor::Start, &bar.label);
        }
        picture.frame(area);
        picture
    }
}

/// A name that is not too long.
pub(crate) fn cut(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(LONGEST_NAME - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    #[test]
    fn bars_without_a_length_are_left_out_and_long_names_cut() {
        let bar = |name: &str, value| Measure { name: name.to_owned(), value, ..Measure::default() };
        let long = "a<b".repeat(20);
        let bars = Bars { bars: vec![bar("a", 0.4), bar("b", f64::NAN), bar(&long, 0.1)], ..Bars::default() };
        let svg = bars.to_svg();
        assert_well_formed(&svg);
        assert_eq!(svg.matches("class=\"f0\"").count(), 2);
        assert!(svg.contains("…</text>"));
        assert_well_formed(&Bars::default().to_svg());
    }
}
