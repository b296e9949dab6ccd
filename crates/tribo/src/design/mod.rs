//! Designs: n points in a box, chosen before anything is known of the function.
//!
//! [`latin_hypercube`] puts one point in each of n slices of every coordinate, for any n. [`sobol`] does so
//! when n is a power of two, fills the space between coordinates better, and goes on where it stopped.
//! [`uniform`] has no structure.
//!
//! A box is two slices `low` and `high` of the same length. Designs are matrices of shape [n, d], one row a
//! point. Nothing here looks at data; choosing points given a model belongs to the strategies.

mod joe_kuo;
mod latin;
mod random;
mod sobol;

pub(crate) use latin::latin_cell;
pub use latin::latin_hypercube;
pub use random::uniform;
pub use sobol::{Sobol, TABLED, sobol};

use crate::error::{Error, Result};

/// Refuses what no design can fill: no points, no coordinates, and sides that are empty or not finite.
fn check(n: usize, low: &[f64], high: &[f64]) -> Result<()> {
    if n == 0 {
        return Err(Error::Empty { what: "design" });
    }
    if low.is_empty() {
        return Err(Error::Empty { what: "box of the design" });
    }
    check_box("the design's box", low, high)
}

/// Refuses a box without sides, called `what` in errors, and sides that are empty or not finite.
pub(crate) fn check_box(what: &'static str, low: &[f64], high: &[f64]) -> Result<()> {
    if low.is_empty() {
        return Err(Error::Empty { what });
    }
    if low.len() != high.len() {
        return Err(Error::Size { what: "length of high (of low)", expected: low.len(), found: high.len() });
    }
    for (index, (&low, &high)) in low.iter().zip(high).enumerate() {
        // The last one fails when both ends are finite and their difference is not.
        for (end, value) in [("low", low), ("high", high), ("high - low", high - low)] {
            if !value.is_finite() {
                return Err(Error::NotFinite { what: end, row: 0, column: index, value });
            }
        }
        if low >= high {
            return Err(Error::EmptyBox { what, index, low, high });
        }
    }
    Ok(())
}

/// The point of [low, high] at the fraction `u` in [0, 1]; rounding never carries it past `high`.
fn place(u: f64, low: f64, high: f64) -> f64 {
    (low + u * (high - low)).min(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_cannot_be_filled_are_refused() {
        assert_eq!(check(0, &[0.0], &[1.0]), Err(Error::Empty { what: "design" }));
        assert_eq!(check(1, &[], &[]), Err(Error::Empty { what: "box of the design" }));
        assert!(matches!(check(1, &[0.0, 0.0], &[1.0]), Err(Error::Size { expected: 2, found: 1, .. })));
        assert!(matches!(check(1, &[0.0, 2.0], &[1.0, 2.0]), Err(Error::EmptyBox { index: 1, .. })));
        assert!(matches!(check(1, &[1.0], &[0.0]), Err(Error::EmptyBox { index: 0, .. })));
        assert!(matches!(check(1, &[f64::NAN], &[0.0]), Err(Error::NotFinite { what: "low", .. })));
        assert!(matches!(check(1, &[0.0], &[f64::INFINITY]), Err(Error::NotFinite { what: "high", .. })));
        let wide = check(1, &[-f64::MAX], &[f64::MAX]);
        assert!(matches!(wide, Err(Error::NotFinite { what: "high - low", column: 0, .. })));
        assert_eq!(check(1, &[-1.0, 0.0], &[1.0, 1e300]), Ok(()));
    }
}
