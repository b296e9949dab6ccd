//! What an ask decided besides the point, kept with the trial it was asked for.
//!
//! A study's later proposals follow from its events: trials asked, outcomes told. Two things an ask decides on the way
//! cannot be computed again cheaply: the hyper-parameters it fitted, and that a local search is over. A third should
//! not happen and is never computed again: that the strategy broke. They are kept
//! here as plain numbers, so that a study restored from its records goes on with the same bits and without running
//! one earlier ask again. Everything else in memory is made from the events when it is needed.
//!
//! Most trials carry none of it. A fit takes some 20 bytes per coordinate and a hundred more, in JSON.

/// What was decided when a trial was asked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// Results of the trial's embedding there were. Records that are missing or out of order show here.
    pub results: usize,
    /// The model was fitted.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fit: Option<Fit>,
    /// A local search ended, and the next one begins with this trial.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ended: Option<Ended>,
    /// Why the strategy could not make its own proposal; the point is a makeshift then.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fell_back: Option<String>,
    /// What each function of a portfolio would have proposed, in coordinates of the unit cube, in the order of
    /// [`FUNCTIONS`](crate::acquisition::portfolio::FUNCTIONS).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub nominees: Option<Vec<Vec<f64>>>,
}

/// What a fit found. With the results, it makes the same model again.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fit {
    /// ℓ (one, or one for each coordinate), s² and σ²: themselves, since logarithms do not come back exactly.
    pub hyper: Vec<f64>,
    /// Whether results are taken to carry noise.
    pub noisy: bool,
    /// The model sees a value y as (w(y) - shift)/scale.
    pub shift: f64,
    /// See `shift`.
    pub scale: f64,
    /// Base and unit of the logarithmic w; w(y) = y without.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub log: Option<[f64; 2]>,
    /// The median of all values.
    pub middle: f64,
    /// Points closer than this to better ones were left out; 0 if none were.
    pub spacing: f64,
    /// Hyper-parameters at which greedy inducing points were chosen, as in `hyper`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub chosen_at: Option<Vec<f64>>,
    /// The matrix that points are seen through, by rows, and s² there; points are seen as they are without.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub metric: Option<Vec<f64>>,
    /// Results of the embedding it was made of: the first ones. All that the decision counts without; fewer where the fit was
    /// made beside the asks, and others came in meanwhile.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub results: Option<usize>,
}

/// Where a local search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ended {
    /// At an optimum; later searches begin away from it.
    AtOptimum,
    /// Back at an optimum found before.
    AtKnownOptimum,
    /// Nowhere: it measured far above its best point, time and again.
    Astray,
}
