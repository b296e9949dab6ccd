//! Line charts and scatters: series over linear or logarithmic axes, each with an optional band around its line, single
//! results, and rules that mark a value.

use crate::Chart;
use crate::axis::{Axis, Range, is_drawable};
use crate::frame::Frame;
use crate::mark::{Dots, marker};
use crate::picture::{Anchor, Area, FONT_SIZE, LEGEND_ROW, Picture, colour, is_dashed, text_width};

/// Points joined by a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// (x, y) in the order of drawing. A point that has no place on the axes (not finite, or not positive on a
    /// logarithmic axis) is left out and breaks the line.
    pub points: Vec<(f64, f64)>,
    /// (x, low, high) of the shaded band, e.g. the quartiles when `points` are medians; empty for none. A low end
    /// that has no place on a logarithmic axis is drawn at the bottom.
    pub band: Vec<(f64, f64, f64)>,
    /// Whether the value stays until the next point, as the best so far does.
    pub stepped: bool,
}

/// A line across the chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// At this x, with a name at its upper end.
    X(f64, String),
    /// At this y, with a name at its left end.
    Y(f64, String),
    /// Where x = y.
    Diagonal,
}

/// Where the names of series stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// In a list beside the chart.
    #[default]
    Legend,
    /// Beside the ends of their lines: the better choice when many lines end at the right.
    Ends,
}

/// A chart of lines and results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineChart {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// Single results, in front of the lines.
    pub dots: Vec<Dots>,
    /// Lines across the chart, behind everything.
    pub rules: Vec<Rule>,
    /// Where the names of the series stand.
    pub names: Names,
    /// Width and height of the plotting area; the usual size without.
    pub size: Option<(f64, f64)>,
}

const SIZE: (f64, f64) = (540.0, 340.0);
/// Series of at most this many points get markers; on longer ones markers would hide the line.
const MOST_MARKERS: usize = 30;
/// Names beside the ends of lines are at least this far apart.
const LABEL_ROW: f64 = 17.0;

impl Chart for LineChart {
    fn picture(&self) -> Picture {
        let widest_name = self.names().map(|name| text_width(name, FONT_SIZE)).fold(0.0, f64::max);
        let has_legend = widest_name > 0.0;
        let right = if has_legend { 62.0 + widest_name } else { 24.0 };
        let (x, y) = ((&self.x, self.x_range()), (&self.y, self.y_range()));
        let frame = Frame::new(&self.title, x, y, self.size.unwrap_or(SIZE), right);
        let area = frame.area;
        let rows = self.names().filter(|name| !name.is_empty()).count();
        let legend_bottom = if has_legend { area.top + LEGEND_ROW * (rows as f64 + 0.5) } else { 0.0 };
        let mut picture = frame.picture(legend_bottom, &self.title, &self.description);
        frame.grid(&mut picture);
        frame.labels(&mut picture);
        let place = |(x, y): (f64, f64)| (frame.place_x(x), frame.place_y(y));

        picture.begin_clip(area);
        for rule in &self.rules {
            self.rule(&mut picture, &frame, rule);
        }
        for (i, series) in self.series.iter().enumerate() {
            for run in self.band_runs(series, frame.y_range.low()) {
                let upper = run.iter().map(|(x, _, high)| place((*x, *high)));
                let lower = run.iter().rev().map(|(x, low, _)| place((*x, *low)));
                let outline = path(upper.chain(lower));
                picture.element(&format!(
                    "<path class=\"f{}\" d=\"{outline}Z\" fill-opacity=\"0.18\"/>",
                    colour(i)
                ));
            }
        }
        for (i, series) in self.series.iter().enumerate() {
            for run in self.line_runs(series) {
                let places = run.iter().map(|&point| place(point));
                let line = if series.stepped { steps(places) } else { path(places) };
                picture.element(&stroke(&line, i));
            }
        }
        picture.end_clip();
        picture.frame(area);
        for (i, series) in self.series.iter().enumerate() {
            let shown = series.points.len() <= MOST_MARKERS && self.dots.is_empty();
            for run in self.line_runs(series).iter().filter(|_| shown) {
                for (x, y) in run {
                    let title = format!("{}, {}", crate::plain(*x), crate::plain(*y));
                    let (at, up) = place((*x, *y));
                    picture.mark(&marker(i, at, up, 1.0, &format!("f{}", colour(i))), &title);
                }
            }
        }
        for dots in self.dots.iter().filter(|dots| !dots.strong) {
            frame.dots(&mut picture, dots);
        }
        for dots in self.dots.iter().filter(|dots| dots.strong) {
            frame.dots(&mut picture, dots);
        }
        if self.names == Names::Ends {
            let ends: Vec<Option<(f64, f64)>> = self
                .series
                .iter()
                .map(|series| self.line_runs(series).last().and_then(|run| run.last().copied()))
                .map(|end| end.map(place))
                .collect();
            self.label_ends(&mut picture, &ends, area);
        } else if has_legend {
            self.legend(&mut picture, area);
        }
        picture
    }
}

impl LineChart {
    fn names(&self) -> impl Iterator<Item = &str> {
        let series = self.series.iter().map(|series| series.name.as_str());
        series.chain(self.dots.iter().map(|dots| dots.name.as_str()))
    }

    fn legend(&self, picture: &mut Picture, area: Area) {
        let at = area.right() + 16.0;
        let mut y = area.top + 0.5 * LEGEND_ROW;
        for (i, series) in self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()) {
            picture.element(&stroke(&path([(at, y), (at + 26.0, y)].into_iter()), i));
            if series.points.len() <= MOST_MARKERS && self.dots.is_empty() {
                picture.mark(&marker(i, at + 13.0, y, 1.0, &format!("f{}", colour(i))), "");
            }
            picture.text(at + 34.0, y + 0.35 * FONT_SIZE, Anchor::Start, &series.name);
            y += LEGEND_ROW;
        }
        for dots in self.dots.iter().filter(|dots| !dots.name.is_empty()) {
            let (scale, fill) =
                if dots.strong { (1.5, "fb".to_owned()) } else { (1.0, format!("f{}", colour(dots.kind))) };
            picture.mark(&marker(dots.kind, at + 13.0, y, scale, &fill), "");
            picture.text(at + 34.0, y + 0.35 * FONT_SIZE, Anchor::Start, &dots.name);
            y += LEGEND_ROW;
        }
    }

    fn rule(&self, picture: &mut Picture, frame: &Frame<'_>, rule: &Rule) {
        let area = frame.area;
        let (line, name, at, anchor) = match rule {
            Rule::X(x, name) if is_drawable(self.x.scale, *x) => {
                let x = frame.place_x(*x);
                let line = format!("M{x:.1} {:.1}V{:.1}", area.top, area.bottom());
                // On the side that has room.
                let right = x < area.left + 0.6 * area.width;
                let (x, anchor) = if right { (x + 5.0, Anchor::Start) } else { (x - 5.0, Anchor::End) };
                (line, name.as_str(), (x, area.top + FONT_SIZE), anchor)
            }
            Rule::Y(y, name) if is_drawable(self.y.scale, *y) => {
                let y = frame.place_y(*y);
                let line = format!("M{:.1} {y:.1}H{:.1}", area.left, area.right());
                // Below the line, where there is room.
                let below = y + 1.3 * FONT_SIZE < area.bottom();
                let y = if below { y + FONT_SIZE } else { y - 5.0 };
                (line, name.as_str(), (area.left + 6.0, y), Anchor::Start)
            }
            Rule::Diagonal => {
                let ends = [
                    frame.x_range.low().max(frame.y_range.low()),
                    frame.x_range.high().min(frame.y_range.high()),
                ];
                let line = path(ends.into_iter().map(|end| (frame.place_x(end), frame.place_y(end))));
                (line, "", (0.0, 0.0), Anchor::Start)
            }
            Rule::X(..) | Rule::Y(..) => return,
        };
        picture.element(&format!("<path class=\"n s7\" d=\"{line}\" stroke-dasharray=\"4 4\"/>"));
        if !name.is_empty() {
            picture.muted_text(at.0, at.1, anchor, name);
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
            picture.element(&format!("<path class=\"n s{}\" d=\"{joint}\"/>", colour(i)));
            picture.text(left, at + 0.35 * FONT_SIZE, Anchor::Start, &self.series[i].name);
        }
    }

    fn x_range(&self) -> Range {
        let on_lines = self.series.iter().flat_map(|s| s.points.iter().map(|(x, _)| *x));
        let on_bands = self.series.iter().flat_map(|s| s.band.iter().map(|(x, _, _)| *x));
        let on_dots = self.dots.iter().flat_map(|dots| dots.marks.iter().map(|mark| mark.x));
        self.x.range(on_lines.chain(on_bands).chain(on_dots))
    }

    fn y_range(&self) -> Range {
        let on_lines = self.series.iter().flat_map(|s| s.points.iter().map(|(_, y)| *y));
        let on_bands =
            self.series.iter().flat_map(|s| s.band.iter().flat_map(|(_, low, high)| [*low, *high]));
        let on_dots = self.dots.iter().flat_map(|dots| dots.marks.iter().map(|mark| mark.y));
        self.y.range(on_lines.chain(on_bands).chain(on_dots))
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

/// Path data of a value that stays until the next place.
fn steps(places: impl Iterator<Item = (f64, f64)>) -> String {
    let line: String = places
        .enumerate()
        .map(|(i, (x, y))| if i == 0 { format!("M{x:.1} {y:.1}h0") } else { format!("H{x:.1}V{y:.1}") })
        .collect();
    line
}

/// A line in the colour of series `index`; dashed when the colours have been used once.
fn stroke(line: &str, index: usize) -> String {
    let dashes = if is_dashed(index) { " stroke-dasharray=\"6 5\"" } else { "" };
    format!(
        "<path class=\"n s{}\" d=\"{line}\" stroke-width=\"2\" stroke-linejoin=\"round\" \
         stroke-linecap=\"round\"{dashes}/>",
        colour(index)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec(), ..Series::default() }
    }

    fn chart(x: Axis, y: Axis, series: Vec<Series>) -> LineChart {
        LineChart { title: "Time & <memory>".to_owned(), x, y, series, ..LineChart::default() }
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
        let labelled = |x, y, series| LineChart { names: Names::Ends, ..chart(x, y, series) }.to_svg();
        let svg = labelled(Axis::linear("x"), Axis::linear("y"), ends);
        assert_well_formed(&svg);
        assert!(svg.contains(">a &amp; b</text>") && svg.contains(">c</text>"));
        let hollow = vec![series("bad", &[(f64::NAN, f64::NAN)]), series("", &[])];
        assert_well_formed(&labelled(Axis::log("x"), Axis::log("y"), hollow));
    }

    #[test]
    fn long_series_have_no_markers() {
        let points: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let svg = chart(Axis::linear("x"), Axis::linear("y"), vec![series("s", &points)]).to_svg();
        assert_eq!(svg.matches("<circle").count(), 0);
    }
}
