//! Marks: single results in a chart, which say their numbers when pointed at.

use crate::picture::{Picture, colour};

/// One result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Where.
    pub y: f64,
    /// What it says when pointed at.
    pub title: String,
    /// Its level between the best and the worst, from [`level`](crate::level); the colour of its group without one.
    pub level: Option<usize>,
}

/// A group of results that look alike.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dots {
    /// Name in the legend.
    pub name: String,
    /// Colour and shape: those of the series with this number.
    pub kind: usize,
    /// Whether they stand out: larger, in front, in the colour of the best.
    pub strong: bool,
    /// The results. One that lies beyond the ends of an axis is drawn at the edge, as a small arrow head.
    pub marks: Vec<Mark>,
}

/// The marker of series `kind` around (x, y), with an edge that parts it from lines below it; no end of the tag.
pub(crate) fn marker(kind: usize, x: f64, y: f64, scale: f64, fill: &str) -> String {
    let s = |size: f64| size * scale;
    let shape = match kind % 5 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"", s(4.0)),
        1 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"",
            x - s(3.6),
            y - s(3.6),
            s(7.2),
            s(7.2)
        ),
        2 => format!("<path d=\"M{x:.1} {:.1}l{:.1} {:.1}h{:.1}z\"", y - s(5.0), s(4.6), s(8.0), -s(9.2)),
        3 => format!(
            "<path d=\"M{x:.1} {:.1}l{a:.1} {a:.1}l-{a:.1} {a:.1}l-{a:.1} -{a:.1}z\"",
            y - s(5.0),
            a = s(5.0)
        ),
        _ => format!("<path d=\"M{x:.1} {:.1}l{:.1} {:.1}h{:.1}z\"", y + s(5.0), s(4.6), -s(8.0), -s(9.2)),
    };
    format!("{shape} class=\"{fill} e\"")
}

/// Which edges a mark lies beyond.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    No,
    Top,
    Bottom,
    Side,
}

impl Dots {
    /// Draws one mark at its place.
    pub(crate) fn draw(&self, picture: &mut Picture, mark: &Mark, x: f64, y: f64, beyond: Beyond) {
        let fill = match mark.level {
            _ if self.strong => "fb".to_owned(),
            Some(level) => format!("d{level}"),
            None => format!("f{}", colour(self.kind)),
        };
        let scale = match (self.strong, self.marks.len()) {
            (true, _) => 1.5,
            (false, 0..=60) => 1.0,
            (false, 61..=300) => 0.8,
            (false, _) => 0.6,
        };
        let start = match beyond {
            Beyond::No => marker(self.kind, x, y, scale, &fill),
            Beyond::Top => format!("<path d=\"M{x:.1} {y:.1}l3.5 7h-7z\" class=\"{fill} e\""),
            Beyond::Bottom => format!("<path d=\"M{x:.1} {y:.1}l3.5 -7h-7z\" class=\"{fill} e\""),
            Beyond::Side => return,
        };
        picture.mark(&start, &mark.title);
    }
}
