//! The two kinds of point, as two types: user units and the unit cube cannot be mistaken for each other.

use crate::error::{Error, Result};

/// One value in user units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Of a float parameter.
    Float(f64),
    /// Of an int parameter.
    Int(i64),
    /// Of a categorical parameter: index into its categories.
    Category(usize),
}

/// All values of one parameter in user units; a scalar has one.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Of a float parameter.
    Float(Vec<f64>),
    /// Of an int parameter.
    Int(Vec<i64>),
    /// Of a categorical parameter: indices into its categories.
    Category(Vec<usize>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Category(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of one element, if there is such an element.
    pub fn get(&self, element: usize) -> Option<Value> {
        match self {
            Values::Float(values) => values.get(element).copied().map(Value::Float),
            Values::Int(values) => values.get(element).copied().map(Value::Int),
            Values::Category(values) => values.get(element).copied().map(Value::Category),
        }
    }

    /// The word for its kind in messages.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Values::Float(_) => "float",
            Values::Int(_) => "int",
            Values::Category(_) => "categorical",
        }
    }
}

/// A point in user units: one column per parameter, in the order of the space. Only a
/// [`Space`](super::Space) makes one, so its values are within bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    columns: Vec<Values>,
}

impl Point {
    pub(super) fn new(columns: Vec<Values>) -> Self {
        Point { columns }
    }

    /// The values of each parameter.
    pub fn columns(&self) -> &[Values] {
        &self.columns
    }

    /// All values in order as numbers: what a function of plain numbers takes. A category counts as its index.
    pub fn numbers(&self) -> Vec<f64> {
        let number = |value| match value {
            Value::Float(value) => value,
            Value::Int(value) => value as f64,
            Value::Category(index) => index as f64,
        };
        self.columns
            .iter()
            .flat_map(|column| (0..column.len()).filter_map(|i| column.get(i)).map(number))
            .collect()
    }
}

/// A point of the unit cube [0, 1]^d.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitPoint(Vec<f64>);

impl UnitPoint {
    /// Clips each coordinate to [0, 1]. A coordinate that is not finite is an error, not a corner.
    pub fn new(mut coordinates: Vec<f64>) -> Result<Self> {
        for (column, u) in coordinates.iter_mut().enumerate() {
            if !u.is_finite() {
                return Err(Error::NotFinite { what: "unit point", row: 0, column, value: *u });
            }
            // Adding zero turns -0 into 0, so that equal points have equal bits.
            *u = u.clamp(0.0, 1.0) + 0.0;
        }
        Ok(UnitPoint(coordinates))
    }

    /// Coordinates known to lie in [0, 1].
    pub(super) fn trusted(coordinates: Vec<f64>) -> Self {
        debug_assert!(coordinates.iter().all(|u| (0.0..=1.0).contains(u)));
        UnitPoint(coordinates)
    }

    /// The coordinates.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// The coordinates, given away.
    pub fn into_vec(self) -> Vec<f64> {
        self.0
    }
}
