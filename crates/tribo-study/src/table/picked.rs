//! What is expected in the columns of a table, and what is wrong with a row that has something else.

use super::number;
use crate::report::point::Cell;

/// Numbers are at most this large: their squares, and sums of many, are still numbers.
pub(super) const LARGEST: f64 = 1e70;

/// What is expected in a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// Any number.
    Numbers,
    /// Numbers between two bounds.
    Floats {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Whole numbers between two bounds.
    Integers {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Categories, whose positions are the numbers.
    Categories(Vec<String>),
}

/// A column that is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked {
    /// Its place.
    pub place: usize,
    /// Its name, for a message.
    pub name: String,
    /// What is expected in it.
    pub expected: Expected,
}

impl Picked {
    /// Whether such a number is expected.
    pub(super) fn takes(&self, value: f64) -> bool {
        match self.expected {
            Expected::Numbers => value.abs() <= LARGEST,
            Expected::Floats { low, high } => low <= value && value <= high,
            Expected::Integers { low, high } => low <= value && value <= high && value.fract() == 0.0,
            Expected::Categories(_) => false,
        }
    }

    /// The number of a cell; None if it is empty.
    pub(super) fn number(&self, cell: &Cell) -> std::result::Result<Option<f64>, Bad> {
        let Expected::Categories(categories) = &self.expected else {
            return number(cell).map_err(Bad::Wrong);
        };
        let text = match cell {
            Cell::Null => return Ok(None),
            Cell::Text(text) => text.clone(),
            cell => cell.json().to_string(),
        };
        match categories.iter().position(|category| *category == text) {
            Some(place) => Ok(Some(place as f64)),
            None => Err(Bad::Outside(format!("there is no category {text:?}; there are {categories:?}"))),
        }
    }
}

/// What is wrong with a row.
pub(super) enum Bad {
    /// There is no output.
    NoOutput(String),
    /// A number is not one of its column.
    Outside(String),
    /// It is not a row of numbers.
    Wrong(String),
}

impl Bad {
    pub(super) fn text(&self) -> &str {
        let (Bad::NoOutput(text) | Bad::Outside(text) | Bad::Wrong(text)) = self;
        text
    }
}

/// Rows that were left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Without an output.
    pub n_without_output: usize,
    /// With a number that is not one of its column.
    pub n_outside: usize,
    /// With something that is no number.
    pub n_wrong: usize,
}

impl LeftOut {
    pub(super) fn all(&self) -> usize {
        self.n_without_output + self.n_outside + self.n_wrong
    }
}
