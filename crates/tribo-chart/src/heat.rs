//! Heat maps: a value over two inputs, in steps of colour with contour lines between them, and results on top.

use crate::Chart;
use crate::axis::{Axis, Range};
use crate::contour;
use crate::frame::Frame;
use crate::mark::Dots;
use crate::picture::{Anchor, FONT_SIZE, Picture, text_width};
use crate::theme::{LEVELS, level};

/// A value over two inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// Horizontal axis, with its limits.
    pub x: Axis,
    /// Vertical axis, with its limits.
    pub y: Axis,
    /// Columns of the grid; its places are spread evenly along the axis, ends included.
    pub columns: usize,
    /// Rows of the grid.
    pub rows: usize,
    /// The values: rows from the bottom, each from the left.
    pub values: Vec<f64>,
    /// What the value is.
    pub value_label: String,
    /// Whether large values are the good ones.
    pub maximized: bool,
    /// Results on top.
    pub dots: Vec<Dots>,
    /// Width and height of the plotting area; the usual size without.
    pub size: Option<(f64, f64)>,
}

const SIZE: (f64, f64) = (400.0, 340.0);

impl Chart for HeatMap {
    fn picture(&self) -> Picture {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let range = Range::tightly(finite().collect::<Vec<_>>().into_iter());
        let key_ticks = range.ticks(5);
        let widest = key_ticks.iter().map(|tick| text_width(&tick.label, FONT_SIZE)).fold(0.0, f64::max);
        let right = 52.0 + widest + 1.6 * FONT_SIZE;
        let spread = |limits: Option<(f64, f64)>| {
            let (low, high) = limits.unwrap_or((0.0, 1.0));
            [low, high].into_iter()
        };
        let x = (&self.x, self.x.range(spread(self.x.limits)));
        let y = (&self.y, self.y.range(spread(self.y.limits)));
        let frame = Frame::new(&self.title, x, y, self.size.unwrap_or(SIZE), right);
        let area = frame.area;
        let mut picture = frame.picture(0.0, &self.title, &self.description);
        let is_whole = self.columns >= 2 && self.rows >= 2 && self.values.len() == self.columns * self.rows;
        if is_whole {
            picture.begin_clip(area);
            self.cells(&mut picture, &frame, &range);
            self.contours(&mut picture, &frame, &range);
            picture.end_clip();
        }
        frame.labels(&mut picture);
        picture.frame(area);
        for dots in &self.dots {
            frame.dots(&mut picture, dots);
        }

        // The key: steps of colour beside their values.
        let (left, width) = (area.right() + 14.0, 14.0);
        let height = area.height / LEVELS as f64;
        for step in 0..LEVELS {
            let part = (step as f64 + 0.5) / LEVELS as f64;
            picture.element(&format!(
                "<rect class=\"h{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width}\" height=\"{:.1}\"/>",
                self.step(part),
                area.bottom() - height * (step + 1) as f64,
                height + 0.3
            ));
        }
        for tick in key_ticks {
            let at = area.bottom() - area.height * range.place(tick.value);
            if (area.top - 1.0..=area.bottom() + 1.0).contains(&at) {
                picture.grid(left + width, at, left + width + 4.0, at, false);
                picture.text(left + width + 7.0, at + 0.35 * FONT_SIZE, Anchor::Start, &tick.label);
            }
        }
        let middle = area.top + area.height / 2.0;
        picture.upward_text(left + width + 12.0 + widest + FONT_SIZE, middle, &self.value_label);
        picture
    }
}

impl HeatMap {
    /// The step of colour of a place on the key.
    fn step(&self, part: f64) -> usize {
        level(if self.maximized { 1.0 - part } else { part })
    }

    /// Cells around the places of the grid; neighbours of one colour are one piece.
    fn cells(&self, picture: &mut Picture, frame: &Frame<'_>, range: &Range) {
        let area = frame.area;
        let (width, height) = (area.width / (self.columns - 1) as f64, area.height / (self.rows - 1) as f64);
        let mut paths: Vec<String> = vec![String::new(); LEVELS];
        for row in 0..self.rows {
            let y = area.bottom() - (row as f64 + 0.5) * height;
            let mut column = 0;
            while column < self.columns {
                let step_at = |column: usize| {
                    let value = self.values[row * self.columns + column];
                    value.is_finite().then(|| self.step(range.place(value)))
                };
                let step = step_at(column);
                let run = (column..self.columns).take_while(|&next| step_at(next) == step).count();
                if let Some(step) = step {
                    let x = area.left + (column as f64 - 0.5) * width;
                    // A hair more than a cell, or the ground shows between them.
                    paths[step] += &format!(
                        "M{x:.1} {y:.1}h{:.1}v{:.1}h-{:.1}z",
                        run as f64 * width + 0.4,
                        height + 0.4,
                        run as f64 * width + 0.4
                    );
                }
                column += run;
            }
        }
        for (step, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            picture.element(&format!("<path class=\"h{step}\" d=\"{path}\"/>"));
        }
    }

    /// Lines between the steps of colour.
    fn contours(&self, picture: &mut Picture, frame: &Frame<'_>, range: &Range) {
        let area = frame.area;
        let (width, height) = (area.width / (self.columns - 1) as f64, area.height / (self.rows - 1) as f64);
        let mut path = String::new();
        for step in 1..LEVELS {
            let value = range.low() + (range.high() - range.low()) * step as f64 / LEVELS as f64;
            for line in contour::lines(&self.values, self.columns, self.rows, value) {
                for (i, (x, y)) in line.iter().enumerate() {
                    let letter = if i == 0 { 'M' } else { 'L' };
                    path +=
                        &format!("{letter}{:.1} {:.1}", area.left + x * width, area.bottom() - y * height);
                }
            }
        }
        picture.element(&format!(
            "<path class=\"n e\" d=\"{path}\" stroke-width=\"0.7\" stroke-opacity=\"0.7\"/>"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    #[test]
    fn the_best_has_the_first_colour_in_either_direction() {
        let map = |maximized| HeatMap {
            columns: 2,
            rows: 2,
            values: vec![0.0, 0.0, 0.0, 1.0],
            maximized,
            ..HeatMap::default()
        };
        // The key has all colours; the cells those of the two values.
        let paths = |svg: &str, class: &str| svg.matches(&format!("<path class=\"{class}\"")).count();
        let low = map(false).picture().svg(crate::Scheme::Page);
        assert_eq!((paths(&low, "h0"), paths(&low, "h11")), (1, 1));
        assert!(low.find("<path class=\"h0\"").unwrap() < low.find("<path class=\"h11\"").unwrap());
        assert_well_formed(&low);
        assert_well_formed(&map(true).to_svg());
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        assert_well_formed(&HeatMap::default().to_svg());
        let hollow = HeatMap { columns: 2, rows: 2, values: vec![f64::NAN; 4], ..HeatMap::default() };
        assert_well_formed(&hollow.to_svg());
        let wrong = HeatMap { columns: 3, rows: 2, values: vec![1.0; 4], ..HeatMap::default() };
        assert_well_formed(&wrong.to_svg());
    }
}
