//! Parallel coordinates: an axis for each input and one for the value, a thread for each result through its places.

use crate::Chart;
use crate::bars::cut;
use crate::picture::{Anchor, FONT_SIZE, Picture, TITLE_SIZE, escaped, text_width, wrapped};

/// One axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParallelAxis {
    /// What it is.
    pub name: String,
    /// Labels at their places, 0 at the bottom and 1 at the top.
    pub ticks: Vec<(f64, String)>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thread {
    /// Its place on each axis, 0 to 1.
    pub places: Vec<f64>,
    /// Its level between the best and the worst, from [`level`](crate::level).
    pub level: usize,
    /// Whether it is the best one.
    pub strong: bool,
    /// What it says when pointed at.
    pub title: String,
}

/// Results as threads across the axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parallel {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// The axes, from the left.
    pub axes: Vec<ParallelAxis>,
    /// The results, those in front last. One without a place on each axis is left out.
    pub threads: Vec<Thread>,
}

const PLOT_HEIGHT: f64 = 300.0;
const WIDEST: f64 = 760.0;

impl Chart for Parallel {
    fn picture(&self) -> Picture {
        let n = self.axes.len();
        let gap = if n > 1 { (WIDEST / (n - 1) as f64).min(170.0) } else { 0.0 };
        let width = gap * n.saturating_sub(1) as f64;
        let title = wrapped(&self.title, TITLE_SIZE, width.max(300.0));
        let top = 46.0 + 1.3 * TITLE_SIZE * title.len() as f64;
        let left =
            self.axes.first().map_or(0.0, |axis| text_width(&cut(&axis.name), FONT_SIZE) / 2.0).max(46.0);
        let last = self.axes.last();
        let tick_width = |axis: &ParallelAxis| {
            axis.ticks.iter().map(|(_, label)| text_width(label, FONT_SIZE)).fold(0.0, f64::max)
        };
        let right = last
            .map_or(0.0, |axis| tick_width(axis).max(text_width(&cut(&axis.name), FONT_SIZE) / 2.0))
            + 24.0;
        let mut picture =
            Picture::new(left + width + right, top + PLOT_HEIGHT + 30.0, &self.title, &self.description);
        picture.title(left.min(22.0), 12.0 + TITLE_SIZE, &title);
        let at = |i: usize| left + i as f64 * gap;
        let height = |place: f64| top + PLOT_HEIGHT * (1.0 - place.clamp(0.0, 1.0));
        for thread in &self.threads {
            if thread.places.len() != n || thread.places.iter().any(|place| !place.is_finite()) {
                continue;
            }
            let line: String = thread
                .places
                .iter()
                .enumerate()
                .map(|(i, &place)| {
                    format!("{}{:.0} {:.1}", if i == 0 { 'M' } else { 'L' }, at(i), height(place))
                })
                .collect();
            let (width, class) =
                if thread.strong { ("2.6", "b".to_owned()) } else { ("1.1", format!("t{}", thread.level)) };
            picture.mark(
                &format!("<path class=\"n {class}\" d=\"{line}\" stroke-width=\"{width}\""),
                &thread.title,
            );
        }
        // Room for a name between its neighbours; when there is none, every other one stands higher.
        let narrow = self.axes.iter().any(|axis| text_width(&cut(&axis.name), FONT_SIZE) > gap - 8.0);
        for (i, axis) in self.axes.iter().enumerate() {
            picture.element(&format!(
                "<path class=\"fr\" d=\"M{:.1} {top:.1}v{PLOT_HEIGHT}\" stroke-width=\"1.2\"/>",
                at(i)
            ));
            let up = if narrow && i % 2 == 1 { 26.0 } else { 10.0 };
            picture.text(at(i), top - up, Anchor::Middle, &cut(&axis.name));
            // Labels lie on threads: a ground of their own keeps them readable.
            for (place, label) in axis.ticks.iter().filter(|(place, _)| place.is_finite()) {
                let (y, width) = (height(*place), text_width(label, 11.0));
                let (x, anchor) = (at(i) + 5.0, "");
                picture.element(&format!(
                    "<rect class=\"bg\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\" fill-opacity=\"0.75\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"11\"{anchor}>{}</text>",
                    x - 1.0,
                    y - 7.0,
                    y + 4.0,
                    escaped(label)
                ));
            }
        }
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    #[test]
    fn threads_that_miss_an_axis_are_left_out() {
        let axis =
            |name: &str| ParallelAxis { name: name.to_owned(), ticks: vec![(0.0, "low & so".to_owned())] };
        let thread = |places: &[f64]| Thread { places: places.to_vec(), ..Thread::default() };
        let chart = Parallel {
            axes: vec![axis("a<b"), axis("value")],
            threads: vec![thread(&[0.1, 0.9]), thread(&[0.5]), thread(&[0.5, f64::NAN])],
            ..Parallel::default()
        };
        let svg = chart.to_svg();
        assert_well_formed(&svg);
        assert_eq!(svg.matches("class=\"n t0\"").count(), 1);
        assert_well_formed(&Parallel::default().to_svg());
        assert_well_formed(&Parallel { axes: vec![axis("one")], ..Parallel::default() }.to_svg());
    }
}
