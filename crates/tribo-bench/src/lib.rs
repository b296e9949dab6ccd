//! What the benchmark program is made of: one file for each benchmark, and charts of their results.

pub mod chart;
pub mod data;
pub mod machine;
pub mod update;
