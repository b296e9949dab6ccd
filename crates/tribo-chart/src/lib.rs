//! Charts as SVG: lines with bands, scatters, heat maps with contours, bars, parallel coordinates, timelines, matrices.
//!
//! A chart is plain data with public fields; [`Chart::picture`] lays it out, [`Chart::to_svg`] returns the whole file. The
//! same data give the same bytes. The plotting area has a fixed size and the picture grows around it by what its labels
//! need, so labels and legend never cover the data.
//!
//! - Light and dark: all colours are classes, and a [`Scheme`] says which are meant. By itself a file follows its reader.
//! - In grey: series differ by marker and dash as well as by colour, names stand beside the lines, and colours that mean a
//!   value change their lightness in one direction only.
//! - Without sight: each picture has a title and a sentence on what it shows; each mark says its numbers when pointed at.
//! - No script, no font, no request: what a strict content policy allows.
//!
//! Written here rather than taken from a crate: kuva 0.6, the best fit found, is 77,000 lines and takes two CPU minutes to
//! build optimised; libraries of browsers need scripts, and the smallest that draws all of these is a megabyte.
//! Deliberately absent: second axes, interaction, animation, files.

mod axis;
mod bars;
mod contour;
mod frame;
mod heat;
mod line;
mod mark;
mod matrix;
mod number;
mod parallel;
mod picture;
mod theme;
mod timeline;

pub use axis::{Axis, Scale};
pub use bars::{Bars, Measure};
pub use heat::HeatMap;
pub use line::{LineChart, Names, Rule, Series};
pub use mark::{Dots, Mark};
pub use matrix::Matrix;
pub use number::{digits, plain};
pub use parallel::{Parallel, ParallelAxis, Thread};
pub use picture::{Picture, escaped};
pub use theme::{LEVELS, Scheme, level, style_sheet};
pub use timeline::{Bar, Schedule};

/// Something that can be drawn.
pub trait Chart {
    /// The drawing.
    fn picture(&self) -> Picture;

    /// The drawing as a file of its own, in the colours that its reader prefers.
    fn to_svg(&self) -> String {
        self.picture().svg(Scheme::Reader)
    }
}
