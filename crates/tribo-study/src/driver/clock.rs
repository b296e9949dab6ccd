//! The driver's clock, as a trait, so that the same loop runs on a virtual one.

use crate::store::disk;
use std::time::{Duration, Instant};

/// Time.
pub trait Clock {
    /// Seconds since some start; never goes back.
    fn now(&self) -> f64;
    /// Milliseconds since 1970, UTC; may jump.
    fn utc_ms(&self) -> u64;
    /// Lets time pass. A signal may end it early.
    fn sleep(&self, seconds: f64);
    /// Whether time passes by itself. Where it does not nobody waits, and work beside would end at any moment.
    fn passes(&self) -> bool {
        true
    }
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that starts now.
    #[allow(clippy::new_without_default, reason = "a default that reads the time would surprise")]
    pub fn new() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    fn utc_ms(&self) -> u64 {
        disk::utc_ms()
    }

    fn sleep(&self, seconds: f64) {
        if let Ok(duration) = Duration::try_from_secs_f64(seconds) {
            std::thread::sleep(duration);
        }
    }
}
