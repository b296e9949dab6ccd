//! Line charts: one or more series over linear or logarithmic axes, each with an optional band around its line.

use super::axis::{Axis, Range, is_drawable};
use super::svg::{
    Anchor, Area, FONT_SIZE, LEGEND_ROW, PALETTE, Picture, TITLE_SIZE, colour, text_width, wrapped,
};

/// Points joined by a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// (x, y) in the order of drawing. A point that has no place on the axes (not finite, or not positive on a
    /// logarithmic axis) is left out and breaks the line.
    pub points: Vec<(f64, f64)>,
    /// (x, low, high) of the shaded band, e.g. the quartiles when `points` are medians; empty for none. A low end
    /// that has no place on a logarithmic axis is drawn at the bottom.
    pub band: Vec<(f64, f64, f64)>,
}

/// A chart of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// Title above the chart.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

const PLOT_WIDTH: f64 = 540.0;
const PLOT_HEIGHT: f64 = 340.0;
/// Series of at most this many points get markers; on longer ones markers would hide the line.
const MOST_MARKERS: usize = 30;
/// Names beside the ends of lines are at least this far apart.
const LABEL_ROW: f64 = 17.0;

impl LineChart {
    /// The chart as an SVG file, with a legend beside it.
    pub fn to_svg(&self) -> String {
        self.draw(false)
    }

    /// The same with each name beside the end of its line instead of the legend: the better choice when many lines end
    /// at the right.
    pub fn to_svg_labelled(&self) -> String {
        self.draw(true)
    }

    fn draw(&self, is_labelled: bool) -> String {
        let (x, y) = (self.x_range(), self.y_range());
        let y_ticks = y.ticks(6);
        let widest_tick = y_ticks.iter().map(|tick| text_width(&tick.label, FONT_SIZE)).fold(0.0, f64::max);
        let widest_name = self.series.iter().map(|s| text_width(&s.name, FONT_SIZE)).fold(0.0, f64::max);
        let has_legend = widest_name > 0.0;

        let left = 24.0 + FONT_SIZE + widest_tick;
        let right = if has_legend { 62.0 + widest_name } else { 24.0 };
        let title = wrapped(&self.title, TITLE_SIZE, PLOT_WIDTH + right - 20.0);
        let top = 22.0 + 1.3 * TITLE_SIZE * title.len() as f64;
        let area = Area { left, top, width: PLOT_WIDTH, height: PLOT_HEIGHT };
        let legend_bottom =
            if has_legend { top + LEGEND_ROW * (self.series.len() as f64 + 0.5) } else { 0.0 };
        let height = (area.bottom() + 58.0).max(legend_bottom);

        let mut picture = Picture::new(area.right() + right, height, &self.title);
        picture.title(left, 12.0 + TITLE_SIZE, &title);
        let place_x = |value: f64| area.left + area.width * x.place(value);
        let place_y = |value: f64| area.bottom() - area.height * y.place(value);

        for value in x.minor_ticks() {
            picture.grid(place_x(value), area.top, place_x(value), area.bottom(), true);
        }
        for value in y.minor_ticks() {
            picture.grid(area.left, place_y(value), area.right(), place_y(value), true);
        }
        for tick in x.ticks_along(area.width) {
            let at = place_x(tick.value);
            picture.grid(at, area.top, at, area.bottom() + 5.0, false);
            picture.text(at, area.bottom() + 20.0, Anchor::Middle, &tick.label);
        }
        for tick in y_ticks {
            let at = place_y(tick.value);
            picture.grid(area.left - 5.0, at, area.right(), at, false);
            picture.text(area.left - 9.0, at + 0.35 * FONT_SIZE, Anchor::End, &tick.label);
        }
        picture.text(area.left + area.width / 2.0, area.bottom() + 44.0, Anchor::Middle, &self.x.label);
        picture.upward_text(8.0 + FONT_SIZE, area.top + area.height / 2.0, &self.y.label);

        for (i, series) in self.series.iter().enumerate() {
            for run in self.band_runs(series, y.low()) {
                let upper = run.iter().map(|(x, _, high)| (place_x(*x), place_y(*high)));
                let lower = run.iter().rev().map(|(x, low, _)| (place_x(*x), place_y(*low)));
                let outline = path(upper.chain(lower));
                picture.element(&format!(
                    "<path d=\"{outline}Z\" fill=\"{}\" fill-opacity=\"0.16\"/>",
                    colour(i)
                ));
            }
        }
        picture.frame(area);
        for (i, series) in self.series.iter().enumerate() {
            for run in self.line_runs(series) {
                let line = path(run.iter().map(|(x, y)| (place_x(*x), place_y(*y))));
                picture.element(&stroke(&line, i));
                for (x, y) in run.iter().filter(|_| series.points.len() <= MOST_MARKERS) {
                    picture.element(&marker(i, place_x(*x), place_y(*y)));
                }
            }
        }
        if is_labelled {
            let ends: Vec<Option<(f64, f64)>> = self
                .series
                .iter()
                .map(|series| self.line_runs(series).last().and_then(|run| run.last().copied()))
                .map(|end| end.map(|(x, y)| (place_x(x), place_y(y))))
                .collect();
            self.label_ends(&mut picture, &ends, area);
        } else if has_legend {
            self.legend(&mut picture, area);
        }
        picture.finish()
    }

    fn legend(&self, picture: &mut Picture, area: Area) {
        for (i, series) in self.series.iter().enumerate() {
            let (at, y) = (area.right() + 16.0, area.top + LEGEND_ROW * (i as f64 + 0.5));
            picture.element(&stroke(&path([(at, y), (at + 26.0, y)].into_iter()), i));
            if series.points.len() <= MOST_MARKERS {
                picture.element(&marker(i, at + 13.0, y));
            }
            picture.text(at + 34.0, y + 0.35 * FONT_SIZE, Anchor::Start, &series.name);
        }
    }

    /// The names beside `ends`, where the lines end, spread so that none covers another; a name that had to move is
    /// joined to its line. Names of lines that are not drawn are left out.
    fn label_ends(&self, picture: &mut Picture, ends: &[Option<(f64, f64)>], area: Area) {
        let mut order: Vec<(usize, f64, f64)> =
            ends.iter().enumerate().filter_map(|(i, end)| end.map(|(x, y)| (i, x, y))).collect();
        order.sort_by(|a, b| a.2.total_cmp(&b.2));
        let wanted: Vec<f64> = order.iter().map(|(_, _, y)| *y).collect();
        for ((i, x, y), at) in order.into_iter().zip(spread(&wanted, LABEL_ROW, area.top, area.bottom())) {
            let left = area.right() + 26.0;
            let joint = path([(x, y), (area.right() + 6.0, y), (left - 4.0, at)].into_iter());
            picture.element(&format!(
                "<path d=\"{joint}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\"/>",
                colour(i)
            ));
            picture.text(left, at + 0.35 * FONT_SIZE, Anchor::Start, &self.series[i].name);
        }
    }

    fn x_range(&self) -> Range {
        let on_lines = self.series.iter().flat_map(|s| s.points.iter().map(|(x, _)| *x));
        let on_bands = self.series.iter().flat_map(|s| s.band.iter().map(|(x, _, _)| *x));
        Range::covering(self.x.scale, on_lines.chain(on_bands))
    }

    fn y_range(&self) -> Range {
        let on_lines = self.series.iter().flat_map(|s| s.points.iter().map(|(_, y)| *y));
        let on_bands =
            self.series.iter().flat_map(|s| s.band.iter().flat_map(|(_, low, high)| [*low, *high]));
        Range::covering(self.y.scale, on_lines.chain(on_bands))
    }

    /// The points that have a place, in runs without a gap.
    fn line_runs(&self, series: &Series) -> Vec<Vec<(f64, f64)>> {
        runs(
            series.points.iter().map(|&(x, y)| {
                (is_drawable(self.x.scale, x) && is_drawable(self.y.scale, y)).then_some((x, y))
            }),
        )
    }

    /// The band in runs without a gap, low ends without a place put at `bottom`.
    fn band_runs(&self, series: &Series, bottom: f64) -> Vec<Vec<(f64, f64, f64)>> {
        runs(series.band.iter().map(|&(x, low, high)| {
            let drawable = is_drawable(self.x.scale, x) && is_drawable(self.y.scale, high) && !low.is_nan();
            let low = if is_drawable(self.y.scale, low) { low } else { bottom };
            drawable.then_some((x, low, high))
        }))
    }
}

/// Places near `wanted`, which increase, at least `gap` apart and from `low` on; up to `high` if there is room.
fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    // Each stands at the mean of what its cluster wants; clusters that touch become one.
    let mut clusters: Vec<(f64, usize)> = Vec::new();
    let centre = |middle: f64, n: usize| {
        let half = 0.5 * gap * (n - 1) as f64;
        middle.min(high - half).max(low + half)
    };
    for &place in wanted {
        let (mut middle, mut n) = (centre(place, 1), 1);
        while let Some(&(before, k)) = clusters.last()
            && middle - before < 0.5 * gap * (n + k) as f64
        {
            middle = centre((before * k as f64 + middle * n as f64) / (n + k) as f64, n + k);
            n += k;
            clusters.pop();
        }
        clusters.push((middle, n));
    }
    let first = |middle: f64, n: usize| middle - 0.5 * gap * (n - 1) as f64;
    clusters.iter().flat_map(|&(m, n)| (0..n).map(move |i| first(m, n) + gap * i as f64)).collect()
}

/// Consecutive present items, cut at the absent ones.
fn runs<T>(items: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut found = vec![Vec::new()];
    for item in items {
        match (item, found.last_mut()) {
            (Some(item), Some(run)) => run.push(item),
            _ => found.push(Vec::new()),
        }
    }
    found.retain(|run| !run.is_empty());
    found
}

/// Path data through `places`. A single place becomes a line of no length, which round caps show as a dot.
fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut data: String = places
        .enumerate()
        .map(|(i, (x, y))| format!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' }))
        .collect();
    if !data.contains('L') {
        data.push_str("h0");
    }
    data
}

/// A line in the colour of series `index`; dashed when the colours have been used once.
fn stroke(line: &str, index: usize) -> String {
    let dashes = if (index / PALETTE.len()) % 2 == 1 { " stroke-dasharray=\"6 5\"" } else { "" };
    format!(
        "<path d=\"{line}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\" \
         stroke-linecap=\"round\"{dashes}/>",
        colour(index)
    )
}

/// The marker of series `index`, with a white edge that parts it from lines below it.
fn marker(index: usize, x: f64, y: f64) -> String {
    let shape = match index % 5 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7.2\" height=\"7.2\"", x - 3.6, y - 3.6),
        2 => format!("<path d=\"M{x:.1} {:.1}l4.6 8h-9.2z\"", y - 5.0),
        3 => format!("<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l4.6 -8h-9.2z\"", y + 5.0),
    };
    format!("{shape} fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"1\"/>", colour(index))
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec(), band: Vec::new() }
    }

    fn chart(x: Axis, y: Axis, series: Vec<Series>) -> LineChart {
        LineChart { title: "Time & <memory>".to_owned(), x, y, series }
    }

    #[test]
    fn a_chart_is_well_formed_and_the_same_every_time() {
        let mut median = series("m < 300 & \"so\"", &[(10.0, 1.0), (100.0, 0.1), (1000.0, 1e-3)]);
        median.band = vec![(10.0, 0.5, 2.0), (100.0, 0.0, 0.2), (1000.0, 1e-4, 2e-3)];
        let chart = chart(Axis::log("n"), Axis::log("regret"), vec![median, series("other", &[(10.0, 3.0)])]);
        let svg = chart.to_svg();
        assert_well_formed(&svg);
        assert!(svg.contains("m &lt; 300 &amp; &quot;so&quot;") && svg.contains(">10⁻³<"));
        assert_eq!(svg.matches("fill-opacity").count(), 1);
        assert_eq!(svg, chart.clone().to_svg());
    }

    #[test]
    fn points_without_a_place_are_left_out_and_break_the_line() {
        let points = [(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0), (f64::INFINITY, 1.0), (5.0, -1.0), (6.0, 2.0)];
        let linear = chart(Axis::linear("x"), Axis::linear("y"), vec![series("s", &points)]);
        assert_eq!(linear.line_runs(&linear.series[0]).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 2]);
        let log = chart(Axis::linear("x"), Axis::log("y"), vec![series("s", &points)]);
        assert_eq!(log.line_runs(&log.series[0]).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert_well_formed(&linear.to_svg());
        assert_well_formed(&log.to_svg());
        // One marker for each point that has a place, and one in the legend.
        assert_eq!(log.to_svg().matches("<circle").count(), 3 + 1);
    }

    #[test]
    fn a_band_without_a_low_end_reaches_the_bottom() {
        let mut s = series("s", &[(1.0, 1.0), (2.0, 2.0)]);
        s.band = vec![(1.0, 0.0, 2.0), (2.0, 1.0, 3.0), (3.0, f64::NAN, 3.0)];
        let chart = chart(Axis::linear("x"), Axis::log("y"), vec![s]);
        let runs = chart.band_runs(&chart.series[0], 0.5);
        assert_eq!(runs, [[(1.0, 0.5, 2.0), (2.0, 1.0, 3.0)]]);
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        for y in [Axis::linear("y"), Axis::log("y")] {
            assert_well_formed(&chart(Axis::linear("x"), y.clone(), Vec::new()).to_svg());
            let hollow = vec![series("", &[]), series("empty", &[]), series("bad", &[(f64::NAN, f64::NAN)])];
            assert_well_formed(&chart(Axis::log("x"), y, hollow).to_svg());
        }
    }

    #[test]
    fn labels_stand_beside_the_ends_and_apart() {
        assert_eq!(spread(&[50.0], 10.0, 0.0, 100.0), [50.0]);
        assert_eq!(spread(&[20.0, 50.0, 52.0, 90.0], 10.0, 0.0, 100.0), [20.0, 46.0, 56.0, 90.0]);
        assert_eq!(spread(&[1.0, 1.0, 2.0], 10.0, 0.0, 100.0), [0.0, 10.0, 20.0]);
        assert_eq!(spread(&[85.0, 99.0, 99.0], 10.0, 0.0, 100.0), [80.0, 90.0, 100.0]);
        assert!(spread(&[], 10.0, 0.0, 100.0).is_empty());
        let ends = vec![series("a & b", &[(1.0, 1.0), (2.0, 3.0)]), series("c", &[(1.0, 1.0), (2.0, 3.0)])];
        let svg = chart(Axis::linear("x"), Axis::linear("y"), ends).to_svg_labelled();
        assert_well_formed(&svg);
        assert!(svg.contains(">a &amp; b</text>") && svg.contains(">c</text>"));
        let hollow = vec![series("bad", &[(f64::NAN, f64::NAN)]), series("", &[])];
        assert_well_formed(&chart(Axis::log("x"), Axis::log("y"), hollow).to_svg_labelled());
    }

    #[test]
    fn long_series_have_no_markers() {
        let points: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let svg = chart(Axis::linear("x"), Axis::linear("y"), vec![series("s", &points)]).to_svg();
        assert_eq!(svg.matches("<circle").count(), 0);
    }
}
