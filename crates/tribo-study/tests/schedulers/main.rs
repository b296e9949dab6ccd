//! Runners against processes and against scheduler programs that misbehave on demand. Tests are named after the rows of
//! the fault table in `docs`: what is injected, and what must come of it.

mod conformance;
mod local;
mod study;
