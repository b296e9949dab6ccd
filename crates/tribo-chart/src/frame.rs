//! The frame of charts with two axes: room for labels, grid, ticks, and the places of values.

use crate::axis::{Axis, Range, is_drawable};
use crate::mark::{Beyond, Dots};
use crate::picture::{Anchor, Area, FONT_SIZE, Picture, TITLE_SIZE, text_width, wrapped};

/// Two axes around a plotting area.
pub(crate) struct Frame<'a> {
    pub(crate) area: Area,
    pub(crate) x_range: Range,
    pub(crate) y_range: Range,
    x: &'a Axis,
    y: &'a Axis,
    title: Vec<String>,
    /// Room at the right of the plotting area.
    right: f64,
}

impl<'a> Frame<'a> {
    /// A frame around a plotting area of `size`, with room for `right` beside it.
    pub(crate) fn new(
        title: &str,
        (x, x_range): (&'a Axis, Range),
        (y, y_range): (&'a Axis, Range),
        (width, height): (f64, f64),
        right: f64,
    ) -> Self {
        let ticks = y.ticks_above(&y_range, 6);
        let widest_tick = ticks.iter().map(|tick| text_width(&tick.label, FONT_SIZE)).fold(0.0, f64::max);
        let left = 24.0 + FONT_SIZE + widest_tick;
        let title = wrapped(title, TITLE_SIZE, width + right - 20.0);
        let top = 22.0 + 1.3 * TITLE_SIZE * title.len() as f64;
        let area = Area { left, top, width, height };
        Frame { area, x_range, y_range, x, y, title, right }
    }

    /// The picture with nothing in it yet but the title, at least `height` high.
    pub(crate) fn picture(&self, height: f64, title: &str, description: &str) -> Picture {
        let height = (self.area.bottom() + 58.0).max(height);
        let mut picture = Picture::new(self.area.right() + self.right, height, title, description);
        picture.title(self.area.left, 12.0 + TITLE_SIZE, &self.title);
        picture
    }

    pub(crate) fn place_x(&self, value: f64) -> f64 {
        self.area.left + self.area.width * self.x_range.place(value)
    }

    pub(crate) fn place_y(&self, value: f64) -> f64 {
        self.area.bottom() - self.area.height * self.y_range.place(value)
    }

    /// Grid lines.
    pub(crate) fn grid(&self, picture: &mut Picture) {
        let area = self.area;
        for value in self.x_range.minor_ticks() {
            picture.grid(self.place_x(value), area.top, self.place_x(value), area.bottom(), true);
        }
        for value in self.y_range.minor_ticks() {
            picture.grid(area.left, self.place_y(value), area.right(), self.place_y(value), true);
        }
        for tick in self.x.ticks_along(&self.x_range, area.width) {
            let at = self.place_x(tick.value);
            picture.grid(at, area.top, at, area.bottom() + 5.0, false);
        }
        for tick in self.y.ticks_above(&self.y_range, 6) {
            let at = self.place_y(tick.value);
            picture.grid(area.left - 5.0, at, area.right(), at, false);
        }
    }

    /// Tick labels and what the axes are.
    pub(crate) fn labels(&self, picture: &mut Picture) {
        let area = self.area;
        for tick in self.x.ticks_along(&self.x_range, area.width) {
            picture.text(self.place_x(tick.value), area.bottom() + 20.0, Anchor::Middle, &tick.label);
        }
        for tick in self.y.ticks_above(&self.y_range, 6) {
            let at = self.place_y(tick.value);
            picture.text(area.left - 9.0, at + 0.35 * FONT_SIZE, Anchor::End, &tick.label);
        }
        picture.text(area.left + area.width / 2.0, area.bottom() + 44.0, Anchor::Middle, &self.x.label);
        picture.upward_text(8.0 + FONT_SIZE, area.top + area.height / 2.0, &self.y.label);
    }

    /// Results; those beyond the top and the bottom as arrow heads at the edge, those that have no place not at all.
    pub(crate) fn dots(&self, picture: &mut Picture, dots: &Dots) {
        for mark in &dots.marks {
            if !is_drawable(self.x.scale, mark.x) || mark.y.is_nan() {
                continue;
            }
            let inside = (-0.001..=1.001).contains(&self.x_range.place(mark.x));
            let (beyond, y) = match mark.y {
                _ if !inside => (Beyond::Side, 0.0),
                y if y > self.y_range.high() => (Beyond::Top, self.area.top),
                y if y < self.y_range.low() => (Beyond::Bottom, self.area.bottom()),
                y => (Beyond::No, self.place_y(y)),
            };
            dots.draw(picture, mark, self.place_x(mark.x), y, beyond);
        }
    }
}
