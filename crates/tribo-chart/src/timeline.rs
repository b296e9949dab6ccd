//! Worker schedules: one row a worker, a bar from start to end of each piece of work, coloured by kind.

use crate::Chart;
use crate::axis::{Range, Scale, is_drawable};
use crate::picture::{Anchor, Area, FONT_SIZE, LEGEND_ROW, Picture, TITLE_SIZE, colour, text_width, wrapped};

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// Which worker, from 0.
    pub worker: usize,
    /// When it started, in the unit of the time axis.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// Which of the schedule's kinds it is.
    pub kind: usize,
    /// What it says when pointed at.
    pub title: String,
}

/// Who worked when on what.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// Label of the time axis, with the unit.
    pub time_label: String,
    /// Number of rows.
    pub n_workers: usize,
    /// Names of the kinds, in the order of the legend.
    pub kinds: Vec<String>,
    /// The work. A bar that is not finite, ends before it starts, or names no worker or kind, is left out.
    pub bars: Vec<Bar>,
}

const PLOT_WIDTH: f64 = 640.0;
/// Height of a row while there are few; many share `TALLEST`.
const ROW_HEIGHT: f64 = 19.0;
const TALLEST: f64 = 640.0;

impl Chart for Schedule {
    fn picture(&self) -> Picture {
        let bars: Vec<&Bar> = self.bars.iter().filter(|bar| self.is_shown(bar)).collect();
        // From the first start to the last end, without room: an empty margin would read as idle time.
        let time = Range::tightly(bars.iter().flat_map(|bar| [bar.start, bar.end]));
        let n_rows = self.n_workers.max(1) as f64;
        let row_height = ROW_HEIGHT.min(TALLEST / n_rows);

        let widest_row = text_width(&self.n_workers.to_string(), FONT_SIZE);
        let widest_kind = self.kinds.iter().map(|kind| text_width(kind, FONT_SIZE)).fold(0.0, f64::max);
        let left = 24.0 + FONT_SIZE + widest_row;
        let right = if widest_kind > 0.0 { 52.0 + widest_kind } else { 30.0 };
        let title = wrapped(&self.title, TITLE_SIZE, PLOT_WIDTH + right - 20.0);
        let top = 22.0 + 1.3 * TITLE_SIZE * title.len() as f64;
        // Low enough for the upward label, however few the rows.
        let area = Area { left, top, width: PLOT_WIDTH, height: (n_rows * row_height).max(60.0) };
        let row_height = if n_rows * row_height < area.height { area.height / n_rows } else { row_height };
        let legend_bottom = top + LEGEND_ROW * (self.kinds.len() as f64 + 0.5);
        let height = (area.bottom() + 58.0).max(legend_bottom);

        let mut picture = Picture::new(area.right() + right, height, &self.title, &self.description);
        picture.title(left, 12.0 + TITLE_SIZE, &title);
        let place = |value: f64| area.left + area.width * time.place(value);
        for tick in time.ticks_along(area.width) {
            let at = place(tick.value);
            picture.grid(at, area.top, at, area.bottom() + 5.0, false);
            picture.text(at, area.bottom() + 20.0, Anchor::Middle, &tick.label);
        }
        picture.text(area.left + area.width / 2.0, area.bottom() + 44.0, Anchor::Middle, &self.time_label);
        picture.upward_text(8.0 + FONT_SIZE, area.top + area.height / 2.0, "worker");

        // Rows are numbered from 1; when they are thin, only every so many has room for its number.
        let stride = label_stride(row_height);
        for worker in (0..self.n_workers).filter(|worker| (worker + 1) % stride == 0) {
            let middle = area.top + (worker as f64 + 0.5) * row_height;
            picture.text(area.left - 8.0, middle + 0.35 * FONT_SIZE, Anchor::End, &(worker + 1).to_string());
        }

        let gap = if row_height > 6.0 { 0.12 * row_height } else { 0.0 };
        for bar in bars {
            let (x, y) = (place(bar.start), area.top + bar.worker as f64 * row_height);
            // A piece of work too short for the scale still shows as a hair line.
            let width = (place(bar.end) - x).max(0.5);
            // The edge parts bars that follow each other; on narrow bars it would leave nothing.
            let edge = if width > 4.0 && gap > 0.0 { " e" } else { "" };
            // Told apart in grey, too: every other kind is thinner.
            let inset = if bar.kind % 2 == 1 { gap + 0.2 * row_height } else { gap };
            let start = format!(
                "<rect class=\"f{}{edge}\" x=\"{x:.2}\" y=\"{:.2}\" width=\"{width:.2}\" height=\"{:.2}\" stroke-width=\"0.8\"",
                colour(bar.kind),
                y + inset,
                row_height - 2.0 * inset
            );
            picture.mark(&start, &bar.title);
        }
        picture.frame(area);
        for (i, kind) in self.kinds.iter().enumerate() {
            let (at, y) = (area.right() + 16.0, area.top + LEGEND_ROW * (i as f64 + 0.5));
            picture.element(&format!(
                "<rect class=\"f{}\" x=\"{at:.1}\" y=\"{:.1}\" width=\"16\" height=\"{}\"/>",
                colour(i),
                if i % 2 == 1 { y - 3.5 } else { y - 6.0 },
                if i % 2 == 1 { 7 } else { 12 }
            ));
            picture.text(at + 24.0, y + 0.35 * FONT_SIZE, Anchor::Start, kind);
        }
        picture
    }
}

impl Schedule {
    fn is_shown(&self, bar: &Bar) -> bool {
        let placed = is_drawable(Scale::Linear, bar.start) && is_drawable(Scale::Linear, bar.end);
        placed && bar.end >= bar.start && bar.worker < self.n_workers && bar.kind < self.kinds.len()
    }
}

/// The smallest of 1, 2, 5, 10, 20, … rows that is as high as a label.
fn label_stride(row_height: f64) -> usize {
    let needed = (1.2 * FONT_SIZE / row_height).ceil() as usize;
    let mut power = 1;
    loop {
        for multiple in [1, 2, 5] {
            if power * multiple >= needed {
                return power * multiple;
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    fn schedule(n_workers: usize, bars: Vec<Bar>) -> Schedule {
        Schedule {
            title: "Who & when".to_owned(),
            time_label: "time [s]".to_owned(),
            n_workers,
            kinds: vec!["exploit".to_owned(), "explore <far>".to_owned()],
            bars,
            ..Schedule::default()
        }
    }

    /// Bars drawn: every rectangle but the background and the two of the legend.
    fn n_drawn(svg: &str) -> usize {
        svg.matches("<rect").count() - 3
    }

    #[test]
    fn good_bars_are_drawn_and_others_left_out() {
        let bar = |worker, start, end, kind| Bar { worker, start, end, kind, ..Bar::default() };
        let bars = vec![
            bar(0, 0.0, 5.0, 0),
            bar(1, 5.0, 5.0, 1),
            bar(2, 0.0, 1.0, 0),
            bar(0, f64::NAN, 1.0, 0),
            bar(0, 3.0, 2.0, 0),
            bar(0, 0.0, f64::INFINITY, 0),
            bar(0, 0.0, 1.0, 2),
        ];
        let schedule = schedule(2, bars);
        let svg = schedule.to_svg();
        assert_well_formed(&svg);
        assert_eq!(n_drawn(&svg), 2);
        assert!(svg.contains("explore &lt;far&gt;"));
        assert_eq!(svg, schedule.clone().to_svg());
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        assert_well_formed(&schedule(0, Vec::new()).to_svg());
        assert_well_formed(&schedule(3, Vec::new()).to_svg());
        for (start, end) in [(7.0, 7.0), (0.0, 1e-320), (1e12, 1e12 + 1e-3)] {
            assert_well_formed(&schedule(1, vec![Bar { start, end, ..Bar::default() }]).to_svg());
        }
    }

    #[test]
    fn labels_of_thin_rows_are_thinned() {
        assert_eq!(label_stride(ROW_HEIGHT), 1);
        assert_eq!(label_stride(8.0), 2);
        assert_eq!(label_stride(TALLEST / 1000.0), 50);
        let svg = schedule(1000, Vec::new()).to_svg();
        assert_well_formed(&svg);
        assert!(svg.contains(">1000<") && svg.contains(">50<") && !svg.contains(">37<"));
    }
}
