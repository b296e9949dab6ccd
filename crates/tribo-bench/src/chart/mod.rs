//! SVG charts of benchmark results: lines with an optional quartile band, and worker schedules.
//!
//! A chart is plain data with public fields; `to_svg` lays it out and returns the whole file. The same data give
//! the same bytes. The plotting area has a fixed size and the picture grows around it by what its labels need, so
//! labels and legend never cover the data. Colours are those of Okabe and Ito, told apart by colour-blind readers;
//! series also differ by marker.
//!
//! Written here rather than taken from a crate: kuva 0.6, the best fit found, is 77,000 lines and takes two CPU
//! minutes to build optimised, as long as the rest of the benchmark program, for three kinds of figure.
//! Deliberately absent: PNG (any browser or rsvg converts), themes, second axes, interaction.

mod axis;
mod line;
mod schedule;
mod svg;

pub use axis::{Axis, Scale};
pub use line::{LineChart, Series};
pub use schedule::{Bar, Schedule};
