//! What a model can tell people: whether it is to be trusted, which inputs matter, what more evaluations would bring, and
//! whether a better valley may be elsewhere.
//!
//! All of it is computed from a [`Look`](crate::strategy::Look), and none of it has a part in what is proposed.

mod elsewhere;
mod foresight;
mod sensitivity;
mod validation;

pub use elsewhere::{Elsewhere, elsewhere, speaks_of};
pub use foresight::{Foresight, foresight};
pub use sensitivity::{Share, sensitivity, sensitivity_over};
pub use validation::{LeftOutResult, Trust, Validation, validation};
