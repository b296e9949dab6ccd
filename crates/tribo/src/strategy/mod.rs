//! Strategies: which points to evaluate next. Ask for as many as there are free workers, tell outcomes in any order.
//!
//! [`Study`] is the way in: it joins a space, a direction and a [`Strategy`] and keeps the [`History`]. What a study
//! proposes is decided by its seed and the order of asks and tells alone, at any number of threads.
//!
//! | strategy | what it does |
//! |----------|--------------|
//! | `random` | uniform points |
//! | `bo`     | Gaussian process, log expected improvement; exact, then sparse |
//! | `paper`  | random embedding, sparse process, confidence bound, CMA-ES, quotas `[@tran2021]` |
//! | `auto`   | finds the inputs that matter and optimises those; `bo` where inputs are few |
//!
//! What every strategy is stands in `engine`; `random`, `bo` (which is `paper` with other [`Settings`]) and `auto` are such.
//! `study` keeps the history, hands out points and takes outcomes; `fallback` is for when a strategy breaks inside.
//!
//! [`History`]: crate::trial::History

mod auto;
mod bo;
mod decoder;
mod digest;
mod engine;
mod fallback;
mod limits;
mod random;
mod settings;
mod study;

pub use auto::looks_at_budget;
pub use bo::Quota;
pub use decoder::Decoder;
pub use digest::Digest;
pub use engine::{Hint, Version};
pub use limits::{BestExpected, LimitsLook};
pub use settings::{
    Acquisition, AutoSettings, Design, InducingPoints, Initial, Maximizer, Process, Settings, Strategy,
    SurrogateSettings,
};
pub use study::{
    ActiveInput, Best, DenseArm, DrivenOutput, Evidence, Expected, Fact, Finding, Insight, LimitKnown,
    LimitState, Look, Predicted, Recommended, Refit, Refitted, Study, Suggestion, Verdict,
};
