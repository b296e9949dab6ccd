//! The search space: parameters in the user's units, and their map to and from the unit cube.
//!
//! Every parameter element takes one coordinate or more of [0, 1]^d, in the order of declaration:
//!
//! | kind | coordinates | decoded by | encoded as |
//! |---|---|---|---|
//! | float | 1 | the map of `interval` | a u that decodes to the same bits |
//! | int, k values | 1 | low + floor(k u) | centre of its cell |
//! | log int | 1 | nearest integer of the log map of [low - ½, high + ½] | its logarithm |
//! | 2 categories | 1 | u < ½ or not | ¼ or ¾ |
//! | k > 2 categories | k | position of the largest, the first of equals | 1 there, 0 elsewhere |
//!
//! Categories have no order. One-hot coordinates make every pair equally far for a stationary kernel, where
//! bins on a line would invent neighbours `[@garridomerchan2020]`; for two categories a line says the same at
//! half the coordinates, which matters for a vector of ten thousand switches. The price: in a hashing
//! embedding two coordinates of one element can share a bin and a sign, and the later category of the two is
//! then out of reach in that embedding (several embeddings cover it). Cells on one coordinate are always within
//! reach; who needs that declares an int.
//!
//! Promises, tested below: decoded values never leave their bounds; 0 gives low and 1 gives high; for every
//! point that decoding gives, decode(encode(p)) = p bit for bit; [`Space::snap`] is idempotent; the same bits
//! on every machine. Memory of a space: O(1) per parameter, whatever its size. Time: O(d) per point.
//!
//! Not here: transforms of the objective, and conditional parameters.

mod direction;
pub mod formula;
mod interval;
mod log_scale;
mod parameter;
mod point;

pub use direction::Direction;
pub use parameter::{Kind, Parameter, Scale};
pub use point::{Point, UnitPoint, Value, Values};

use crate::error::{Error, ParameterFault, Result};
use formula::{Formula, Region};
use interval::Interval;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An ordered list of checked parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    parameters: Vec<Parameter>,
    codecs: Vec<Codec>,
    /// First coordinate of each parameter, then the total.
    offsets: Vec<usize>,
    n_inputs: usize,
    /// What is known to hold between inputs.
    formulas: Option<Arc<formula::Formulas>>,
}

/// Where a coordinate of the unit cube belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate {
    /// Index of the parameter.
    pub parameter: usize,
    /// Element of the parameter, 0 for a scalar.
    pub element: usize,
    /// The category it stands for, if the parameter is one-hot.
    pub category: Option<usize>,
}

/// How an element of a parameter becomes coordinates.
#[derive(Debug, Clone, PartialEq)]
enum Codec {
    Float(Interval),
    Int { low: i64, high: i64 },
    LogInt { low: i64, high: i64, interval: Interval },
    TwoCategories,
    OneHot { count: usize },
}

impl Space {
    /// Checks the parameters, alone and together. The error names the first parameter that is wrong.
    pub fn new(parameters: Vec<Parameter>) -> Result<Self> {
        if parameters.is_empty() {
            return Err(Error::Empty { what: "the list of parameters" });
        }
        let mut names = BTreeSet::new();
        let (mut codecs, mut offsets) = (Vec::new(), vec![0]);
        let (mut end, mut n_inputs) = (0_usize, 0_usize);
        for (index, parameter) in parameters.iter().enumerate() {
            parameter.check(index)?;
            if !names.insert(parameter.name()) {
                return Err(parameter.error(ParameterFault::DuplicateName));
            }
            let codec = Codec::of(parameter.kind());
            let size = parameter.n_elements();
            end = codec
                .width()
                .checked_mul(size)
                .and_then(|width| end.checked_add(width))
                .ok_or_else(|| parameter.error(ParameterFault::TooManyElements { size }))?;
            // No overflow: an element takes at least one coordinate.
            n_inputs += size;
            codecs.push(codec);
            offsets.push(end);
        }
        Ok(Space { parameters, codecs, offsets, n_inputs, formulas: None })
    }

    /// The same space with constraints between its inputs, such as `x + y <= 1`, which all proposals meet. The error says
    /// what is wrong with one of them, and where; or that no point meets all.
    pub fn constrained<T: AsRef<str>>(self, constraints: &[T]) -> Result<Space> {
        let parse = |text: &T| Formula::parse(text.as_ref(), &self.parameters);
        let formulas = constraints.iter().map(parse).collect::<Result<Vec<Formula>>>()?;
        if formulas.is_empty() {
            return Ok(self);
        }
        // Inputs of formulas are numbers, which have one coordinate each.
        let locate =
            |index: usize, element: usize| (self.offsets[index] + element, self.codecs[index].clone());
        let formulas = formula::Formulas::new(formulas, locate)?;
        Ok(Space { formulas: Some(Arc::new(formulas)), ..self })
    }

    /// The constraints between inputs, as they were written.
    pub fn constraints(&self) -> &[Formula] {
        self.formulas.as_ref().map_or(&[], |formulas| formulas.all())
    }

    /// Where all constraints between inputs are met; None if there are none.
    pub fn region(&self) -> Option<Region> {
        self.formulas.as_ref().map(Region::whole)
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of values in a point: elements of all parameters.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of coordinates of the unit cube.
    pub fn dim(&self) -> usize {
        self.offsets[self.parameters.len()]
    }

    /// What a coordinate stands for; `None` if there is no such coordinate.
    pub fn coordinate(&self, coordinate: usize) -> Option<Coordinate> {
        if coordinate >= self.dim() {
            return None;
        }
        let parameter = self.offsets.partition_point(|&offset| offset <= coordinate) - 1;
        let width = self.codecs[parameter].width();
        let within = coordinate - self.offsets[parameter];
        let category = (width > 1).then_some(within % width);
        Some(Coordinate { parameter, element: within / width, category })
    }

    /// A point from the user's values, one column per parameter; refused by name if one does not fit.
    pub fn point(&self, columns: Vec<Values>) -> Result<Point> {
        let (expected, found) = (self.parameters.len(), columns.len());
        if expected != found {
            return Err(Error::Size {
                what: "columns of the point (parameters of the space)",
                expected,
                found,
            });
        }
        for ((parameter, codec), values) in self.parameters.iter().zip(&self.codecs).zip(&columns) {
            codec.check(parameter, values).map_err(|fault| parameter.error(fault))?;
        }
        Ok(Point::new(columns))
    }

    /// The canonical unit coordinates of a point.
    pub fn encode(&self, point: &Point) -> Result<UnitPoint> {
        let columns = point.columns();
        let (expected, found) = (self.parameters.len(), columns.len());
        if expected != found {
            return Err(Error::Size {
                what: "columns of the point (parameters of the space)",
                expected,
                found,
            });
        }
        let mut coordinates = Vec::with_capacity(self.dim());
        for ((parameter, codec), values) in self.parameters.iter().zip(&self.codecs).zip(columns) {
            // A point of another space is caught here rather than encoded into nonsense.
            codec.check(parameter, values).map_err(|fault| parameter.error(fault))?;
            codec.encode(values, &mut coordinates);
        }
        Ok(UnitPoint::trusted(coordinates))
    }

    /// The user's values at a point of the unit cube.
    pub fn decode(&self, point: &UnitPoint) -> Result<Point> {
        let (expected, found) = (self.dim(), point.as_slice().len());
        if expected != found {
            return Err(Error::Size { what: "coordinates of the unit point", expected, found });
        }
        let ranges = self.offsets.windows(2).map(|ends| &point.as_slice()[ends[0]..ends[1]]);
        Ok(Point::new(self.codecs.iter().zip(ranges).map(|(codec, u)| codec.decode(u)).collect()))
    }

    /// encode(decode(u)): the one representative of all unit points with the same user values.
    pub fn snap(&self, point: &UnitPoint) -> Result<UnitPoint> {
        self.encode(&self.decode(point)?)
    }
}

/// What the unit cube is to one input: its coordinates, and how many values it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its coordinates: one, or one for each category.
    pub coordinates: std::ops::Range<usize>,
    /// How many values it takes, if it is an integer or a category: small steps can be lost in rounding.
    pub n_values: Option<u64>,
}

impl Space {
    /// All inputs: the elements of all parameters, in order.
    pub fn inputs(&self) -> impl Iterator<Item = Input> {
        let elements =
            |index: usize| (0..self.parameters[index].n_elements()).map(move |element| (index, element));
        (0..self.parameters.len()).flat_map(elements).map(|(index, element)| {
            let width = self.codecs[index].width();
            let first = self.offsets[index] + element * width;
            let n_values = match self.codecs[index] {
                Codec::Float(_) => None,
                Codec::Int { low, high } | Codec::LogInt { low, high, .. } => Some(high.abs_diff(low) + 1),
                Codec::TwoCategories => Some(2),
                Codec::OneHot { count } => Some(count as u64),
            };
            Input { coordinates: first..first + width, n_values }
        })
    }

    /// How the input of a coordinate is written in messages: `x`, `x[3]`, `solver`.
    pub fn input_name(&self, coordinate: usize) -> Option<String> {
        let Coordinate { parameter, element, .. } = self.coordinate(coordinate)?;
        Some(self.parameters[parameter].element_name(element))
    }

    /// Appends the coordinates of one value of the input whose first coordinate is `first`, as a table has it: a number, a whole
    /// one for an integer, and the position of a category. Refused by name if it does not fit.
    pub fn encode_input(&self, first: usize, value: f64, coordinates: &mut Vec<f64>) -> Result<()> {
        let of = self.coordinate(first).ok_or(Error::Size {
            what: "coordinate of an input (coordinates of the space)",
            expected: self.dim(),
            found: first,
        })?;
        let (parameter, codec) = (&self.parameters[of.parameter], &self.codecs[of.parameter]);
        let is_whole = value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
        let values = match codec {
            Codec::Float(_) => Values::Float(vec![value]),
            Codec::Int { .. } | Codec::LogInt { .. } if is_whole => Values::Int(vec![value as i64]),
            Codec::TwoCategories | Codec::OneHot { .. } if is_whole && value >= 0.0 => {
                Values::Category(vec![value as usize])
            }
            _ => {
                let (expected, found) = (parameter.kind().word(), "a number with a fraction or a sign");
                return Err(parameter.error(ParameterFault::WrongKind { expected, found }));
            }
        };
        codec.check_values(parameter, &values).map_err(|fault| parameter.error(fault))?;
        codec.encode(&values, coordinates);
        Ok(())
    }

    /// The value that the coordinates of one input stand for, as [`Space::encode_input`] takes it; `first` is the first of them.
    pub fn decode_input(&self, first: usize, coordinates: &[f64]) -> Option<f64> {
        let codec = &self.codecs[self.coordinate(first)?.parameter];
        if codec.width() != coordinates.len() {
            return None;
        }
        match codec.decode(coordinates) {
            Values::Float(values) => values.first().copied(),
            Values::Int(values) => values.first().map(|&value| value as f64),
            Values::Category(values) => values.first().map(|&value| value as f64),
        }
    }

    /// Puts the coordinates of one input, the first of which is `first`, where [`Space::snap`] would.
    pub fn snap_input(&self, first: usize, coordinates: &mut [f64]) {
        let Some(Coordinate { parameter, .. }) = self.coordinate(first) else { return };
        let codec = &self.codecs[parameter];
        if codec.width() == coordinates.len() {
            let mut snapped = Vec::with_capacity(coordinates.len());
            codec.encode(&codec.decode(coordinates), &mut snapped);
            coordinates.copy_from_slice(&snapped);
        }
    }
}

impl Codec {
    /// The codec of a checked kind.
    fn of(kind: &Kind) -> Self {
        match *kind {
            Kind::Float { low, high, scale: Scale::Linear } => Codec::Float(Interval::linear(low, high)),
            Kind::Float { low, high, scale: Scale::Log } => Codec::Float(Interval::log(low, high)),
            Kind::Int { low, high, scale: Scale::Linear } => Codec::Int { low, high },
            Kind::Int { low, high, scale: Scale::Log } => {
                // Half a unit more on each side, so that the first and last integer have whole cells.
                let interval = Interval::log(low as f64 - 0.5, high as f64 + 0.5);
                Codec::LogInt { low, high, interval }
            }
            Kind::Categorical { ref categories } if categories.len() == 2 => Codec::TwoCategories,
            Kind::Categorical { ref categories } => Codec::OneHot { count: categories.len() },
        }
    }

    /// Coordinates per element.
    fn width(&self) -> usize {
        match self {
            Codec::OneHot { count } => *count,
            _ => 1,
        }
    }

    fn check(&self, parameter: &Parameter, values: &Values) -> std::result::Result<(), ParameterFault> {
        let (expected, found) = (parameter.n_elements(), values.len());
        if expected != found {
            return Err(ParameterFault::WrongSize { expected, found });
        }
        self.check_values(parameter, values)
    }

    /// Whether values fit, however many there are.
    fn check_values(
        &self,
        parameter: &Parameter,
        values: &Values,
    ) -> std::result::Result<(), ParameterFault> {
        let of_vector = |element: usize| parameter.size().map(|_| element);
        match (self, values) {
            (Codec::Float(Interval { low, high, .. }), Values::Float(values)) => {
                match values.iter().position(|x| !(low..=high).contains(&x)) {
                    None => Ok(()),
                    Some(element) => {
                        let (low, high, value) = (*low, *high, values[element]);
                        let element = of_vector(element);
                        Err(ParameterFault::FloatOutside { element, value, low, high })
                    }
                }
            }
            (Codec::Int { low, high } | Codec::LogInt { low, high, .. }, Values::Int(values)) => {
                match values.iter().position(|i| !(low..=high).contains(&i)) {
                    None => Ok(()),
                    Some(element) => {
                        let (low, high, value) = (*low, *high, values[element]);
                        let element = of_vector(element);
                        Err(ParameterFault::IntOutside { element, value, low, high })
                    }
                }
            }
            (Codec::TwoCategories | Codec::OneHot { .. }, Values::Category(values)) => {
                let count = if let Codec::OneHot { count } = self { *count } else { 2 };
                match values.iter().position(|&index| index >= count) {
                    None => Ok(()),
                    Some(element) => {
                        let (index, element) = (values[element], of_vector(element));
                        Err(ParameterFault::CategoryOutside { element, index, count })
                    }
                }
            }
            _ => {
                let (expected, found) = (parameter.kind().word(), values.word());
                Err(ParameterFault::WrongKind { expected, found })
            }
        }
    }

    /// Appends the coordinates of checked values.
    fn encode(&self, values: &Values, coordinates: &mut Vec<f64>) {
        match (self, values) {
            (Codec::Float(interval), Values::Float(values)) => {
                coordinates.extend(values.iter().map(|&x| interval.encode(x)));
            }
            (Codec::Int { low, high }, Values::Int(values)) => {
                let count = (high - low + 1) as f64;
                coordinates.extend(values.iter().map(|&i| cell_centre((i - low) as f64, count)));
            }
            (Codec::LogInt { interval, .. }, Values::Int(values)) => {
                coordinates.extend(values.iter().map(|&i| interval.place(i as f64)));
            }
            (Codec::TwoCategories, Values::Category(values)) => {
                coordinates.extend(values.iter().map(|&index| cell_centre(index as f64, 2.0)));
            }
            (Codec::OneHot { count }, Values::Category(values)) => {
                for &index in values {
                    coordinates.extend((0..*count).map(|i| if i == index { 1.0 } else { 0.0 }));
                }
            }
            _ => unreachable!("the kind of the values was checked"),
        }
    }

    fn decode(&self, coordinates: &[f64]) -> Values {
        let each = coordinates.iter();
        match self {
            Codec::Float(interval) => Values::Float(each.map(|&u| interval.decode(u)).collect()),
            Codec::Int { low, high } => {
                let count = (high - low + 1) as f64;
                Values::Int(each.map(|&u| (low + (u * count).floor() as i64).min(*high)).collect())
            }
            Codec::LogInt { low, high, interval } => {
                Values::Int(each.map(|&u| (interval.decode(u).round() as i64).clamp(*low, *high)).collect())
            }
            Codec::TwoCategories => Values::Category(each.map(|&u| usize::from(u >= 0.5)).collect()),
            Codec::OneHot { count } => {
                Values::Category(coordinates.chunks(*count).map(first_largest).collect())
            }
        }
    }
}

/// The middle of cell number `cell` of `count` equal ones. Below 2^50 cells its rounding error, carried
/// through floor(count u), stays under a quarter of a cell.
fn cell_centre(cell: f64, count: f64) -> f64 {
    (cell + 0.5) / count
}

fn first_largest(coordinates: &[f64]) -> usize {
    let mut largest = 0;
    for (index, u) in coordinates.iter().enumerate() {
        if *u > coordinates[largest] {
            largest = index;
        }
    }
    largest
}

#[cfg(test)]
mod tests;
