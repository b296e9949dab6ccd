//! What the benchmark program is made of: charts of its results.

pub mod chart;
