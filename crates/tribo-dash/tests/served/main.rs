//! The live page over a real socket: what it shows, how soon, and what it refuses.

// An unwrap that fails in a test is a failed test.
#![allow(clippy::unwrap_used)]

mod live;
mod pages;
mod safe;
mod support;
