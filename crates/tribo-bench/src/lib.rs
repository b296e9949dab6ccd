//! What the benchmark program is made of: one file for each benchmark.

pub mod ask;
pub mod chaos;
pub mod constraints;
pub mod data;
pub mod dimension;
pub mod foresight;
pub mod fuzz;
pub mod honesty;
pub mod known;
pub mod local;
pub mod machine;
pub mod objective;
pub mod paper;
pub mod processes;
pub mod program;
pub mod projection;
pub mod rivals;
pub mod seeds;
pub mod soak;
pub mod table;
pub mod three;
pub mod update;
pub mod workers;
