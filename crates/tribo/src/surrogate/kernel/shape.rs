//! The form of a kernel, and how it is written: a curve, and after it any of the terms of a sum, each once.
//!
//!   matern32   matern52+additive   se+additive+pairs+constant   matern32+linear
//!
//! This is the only place that knows the words; programs and the Python package ask it.

use super::Curve;
use crate::error::{Error, Result};

/// The form of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Rough: continuous sample paths.
    Matern12,
    /// Once differentiable; the paper's choice.
    Matern32,
    /// Twice differentiable; the usual choice for optimisation.
    Matern52,
    /// Infinitely smooth.
    SquaredExponential,
    /// A sum: that curve of the distance in all inputs, and the terms named.
    Sum(Curve, Parts),
}

/// What a sum has beside the kernel of all inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// A kernel of each input alone.
    pub additive: bool,
    /// The products of the kernels of two inputs, for all pairs of them.
    pub pairs: bool,
    /// A number.
    pub constant: bool,
    /// A linear function.
    pub linear: bool,
}

/// The words of the terms, in the order of a name.
pub(super) const WORDS: [&str; 4] = ["additive", "pairs", "constant", "linear"];

/// Names of kernels, for messages.
pub const NAMES: &str = "matern12, matern32, matern52 or se, and after it any of +additive (a kernel of each input alone), \
                         +pairs (products of those of two inputs), +constant and +linear, as in matern32+additive+linear";

impl Parts {
    fn each(&mut self) -> [&mut bool; 4] {
        [&mut self.additive, &mut self.pairs, &mut self.constant, &mut self.linear]
    }

    /// Whether there are kernels of one input, with a length scale for each.
    pub(in crate::surrogate) fn of_one_input(self) -> bool {
        self.additive || self.pairs
    }
}

impl Shape {
    /// Every shape of a single kernel, roughest first.
    pub const ALL: [Shape; 4] =
        [Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::SquaredExponential];

    /// A curve with terms; the single kernel where there are none.
    pub fn new(curve: Curve, parts: Parts) -> Shape {
        match curve {
            _ if parts != Parts::default() => Shape::Sum(curve, parts),
            Curve::Matern12 => Shape::Matern12,
            Curve::Matern32 => Shape::Matern32,
            Curve::Matern52 => Shape::Matern52,
            Curve::SquaredExponential => Shape::SquaredExponential,
        }
    }

    /// The function of the distance in all inputs.
    pub fn curve(self) -> Curve {
        match self {
            Shape::Matern12 => Curve::Matern12,
            Shape::Matern32 => Curve::Matern32,
            Shape::Matern52 => Curve::Matern52,
            Shape::SquaredExponential => Curve::SquaredExponential,
            Shape::Sum(curve, _) => curve,
        }
    }

    /// The terms beside it.
    pub fn parts(self) -> Parts {
        if let Shape::Sum(_, parts) = self { parts } else { Parts::default() }
    }

    /// Whether there are terms beside the kernel of all inputs.
    pub fn is_sum(self) -> bool {
        self.parts() != Parts::default()
    }

    /// The name used in files and on the command line.
    pub fn name(self) -> String {
        let mut parts = self.parts();
        let words = WORDS.into_iter().zip(parts.each()).filter(|(_, is_there)| **is_there);
        std::iter::once(self.curve().name()).chain(words.map(|(word, _)| word)).collect::<Vec<_>>().join("+")
    }

    /// The shape of that name.
    pub fn from_name(name: &str) -> Result<Shape> {
        let unknown = || Error::UnknownKernel { name: name.to_owned(), known: NAMES };
        let mut words = name.split('+');
        let first = words.next().unwrap_or_default();
        let curve = Curve::ALL.into_iter().find(|curve| curve.name() == first).ok_or_else(unknown)?;
        let mut parts = Parts::default();
        for word in words {
            let place = WORDS.iter().position(|known| *known == word).ok_or_else(unknown)?;
            if std::mem::replace(parts.each()[place], true) {
                return Err(unknown());
            }
        }
        Ok(Shape::new(curve, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_refused_with_those_there_are() {
        for curve in Curve::ALL {
            for bits in 0..16 {
                let mut parts = Parts::default();
                parts.each().into_iter().enumerate().for_each(|(k, part)| *part = bits >> k & 1 == 1);
                let shape = Shape::new(curve, parts);
                assert_eq!(Shape::from_name(&shape.name()).unwrap(), shape);
                assert_eq!((shape.curve(), shape.parts(), shape.is_sum()), (curve, parts, bits > 0));
            }
        }
        let expected =
            Shape::Sum(Curve::Matern32, Parts { additive: true, linear: true, ..Parts::default() });
        assert_eq!(Shape::from_name("matern32+linear+additive").unwrap(), expected);
        assert_eq!(expected.name(), "matern32+additive+linear");
        for name in
            ["", "rbf", "matern32+", "+linear", "se+se", "se+linear+linear", "Matern32", "se + linear"]
        {
            let words = Shape::from_name(name).unwrap_err().to_string();
            assert!(words.starts_with(&format!("there is no kernel {name:?}")), "{words}");
            assert!(words.contains("matern12, matern32, matern52 or se"), "{words}");
            assert!(WORDS.iter().all(|word| words.contains(word)), "{words}");
        }
    }
}
