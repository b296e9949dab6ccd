//! An input as an axis: its ends, its scale, and where a value lies on it.

use tribo::space::{Kind, Point, Scale, Space, Value};
use tribo_chart::{Axis, ParallelAxis, plain};

/// An input of the space.
#[derive(Debug, Clone, PartialEq)]
pub struct InputAxis {
    /// Its number, over the elements of all parameters.
    pub input: usize,
    /// Its name.
    pub name: String,
    kind: Kind,
    parameter: usize,
    element: usize,
}

impl InputAxis {
    /// Input number `input`; the last one if there are fewer.
    pub fn of(space: &Space, input: usize) -> InputAxis {
        let mut left = input.min(space.n_inputs().saturating_sub(1));
        let mut parameter = 0;
        while left >= space.parameters()[parameter].n_elements() {
            left -= space.parameters()[parameter].n_elements();
            parameter += 1;
        }
        let owner = &space.parameters()[parameter];
        let (name, kind) = (owner.element_name(left), owner.kind().clone());
        InputAxis { input, name, kind, parameter, element: left }
    }

    /// The input of this name.
    pub fn named(space: &Space, name: &str) -> Option<InputAxis> {
        let mut first = 0;
        for parameter in space.parameters() {
            let n = parameter.n_elements();
            if let Some(element) = (0..n).find(|&element| parameter.element_name(element) == name) {
                return Some(InputAxis::of(space, first + element));
            }
            first += n;
        }
        None
    }

    /// Whether its values are names without an order.
    pub fn is_categorical(&self) -> bool {
        matches!(self.kind, Kind::Categorical { .. })
    }

    /// The names, if its values are names.
    pub fn categories(&self) -> &[String] {
        match &self.kind {
            Kind::Categorical { categories } => categories,
            _ => &[],
        }
    }

    /// How many values it has, evenly spaced, if it has so few that one steps from one to the next.
    pub fn n_steps(&self) -> Option<u64> {
        match &self.kind {
            Kind::Int { low, high, scale: Scale::Linear } => {
                Some(high.abs_diff(*low) + 1).filter(|n| (2..=200).contains(n))
            }
            _ => None,
        }
    }

    /// Its value in a point, a category as its index.
    pub fn number(&self, point: &Point) -> f64 {
        match point.columns()[self.parameter].get(self.element) {
            Some(Value::Float(value)) => value,
            Some(Value::Int(value)) => value as f64,
            Some(Value::Category(index)) => index as f64,
            None => f64::NAN,
        }
    }

    /// Where its value in a point lies between its ends, 0 to 1.
    pub fn place(&self, point: &Point) -> f64 {
        self.place_of(self.number(point))
    }

    /// Where a value lies between its ends.
    pub fn place_of(&self, value: f64) -> f64 {
        let (low, high) = self.ends();
        let place = match self.is_log() {
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        if high > low { place } else { 0.5 }
    }

    /// The value at a place.
    pub fn value_at(&self, place: f64) -> f64 {
        let (low, high) = self.ends();
        if self.is_log() { low * (high / low).powf(place) } else { low + place * (high - low) }
    }

    fn ends(&self) -> (f64, f64) {
        match &self.kind {
            Kind::Float { low, high, .. } => (*low, *high),
            Kind::Int { low, high, .. } => (*low as f64, *high as f64),
            Kind::Categorical { categories } => (0.0, (categories.len() - 1) as f64),
        }
    }

    fn is_log(&self) -> bool {
        matches!(self.kind, Kind::Float { scale: Scale::Log, .. } | Kind::Int { scale: Scale::Log, .. })
    }

    /// The axis of a chart.
    pub fn axis(&self) -> Axis {
        let (low, high) = self.ends();
        match &self.kind {
            Kind::Categorical { categories } => {
                let named = categories.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect();
                Axis { named, ..Axis::linear(&self.name).within(-0.5, high + 0.5) }
            }
            _ if self.is_log() => Axis::log(&self.name).within(low, high),
            _ => Axis::linear(&self.name).within(low, high),
        }
    }

    /// The axis of parallel coordinates.
    pub fn parallel(&self) -> ParallelAxis {
        let ticks = match &self.kind {
            Kind::Categorical { categories } => {
                let last = (categories.len() - 1).max(1) as f64;
                categories.iter().enumerate().map(|(i, name)| (i as f64 / last, name.clone())).collect()
            }
            _ => [0.0, 1.0].map(|place| (place, plain(self.value_at(place)))).to_vec(),
        };
        ParallelAxis { name: self.name.clone(), ticks }
    }

    /// The end that a value lies at, if it does so closely that a wider range might be better: `lower` or `upper`.
    pub fn end_at(&self, value: f64) -> Option<&'static str> {
        if self.is_categorical() {
            return None;
        }
        match self.place_of(value) {
            place if place <= 0.01 => Some("lower"),
            place if place >= 0.99 => Some("upper"),
            _ => None,
        }
    }
}
