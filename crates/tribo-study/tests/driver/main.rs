//! The driver on virtual time: its ordinary work, every fault of a scheduler, and death at every operation.

mod beside;
mod faults;
mod kill;
mod ordinary;
mod outages;
mod stops;
mod waits;
mod world;
