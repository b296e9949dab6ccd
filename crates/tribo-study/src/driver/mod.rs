//! The one loop: asks for points, keeps workers busy, takes answers in.
pub mod clock;
pub mod notice;
pub mod retry;
pub mod sight;
