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
//! `bo` and `paper` are two settings of one machine ([`Settings`]). An `arm` for each embedding holds its `results`, its
//! local `searches` (in regions of `trust`) and its `forecast`: the `model`, updated between fits (`fitted`), with values
//! seen through a `warp`, and the posterior `ahead` of it, on which a `proposal` is made. `quota` shares workers between
//! exploiting and exploring; `fallback` is for when any of this breaks. `restore` takes trials of an earlier process, `predict` shows the model in the user's units.
//!
//! [`History`]: crate::trial::History

mod ahead;
mod arm;
mod auto;
mod fallback;
mod fitted;
mod forecast;
mod insight;
mod model;
mod predict;
mod proposal;
mod quota;
mod restore;
mod results;
mod searches;
mod settings;
mod study;
mod trust;
mod warp;

pub use auto::looks_at_budget;
pub use insight::{ActiveInput, DenseArm, Evidence, Fact, Finding, Insight, Verdict};
pub use predict::Predicted;
pub use quota::Quota;
pub use settings::{
    Acquisition, AutoSettings, Design, InducingPoints, Initial, Maximizer, Process, Settings, Strategy,
    SurrogateSettings,
};
pub use study::{Best, Study, Suggestion};
