//! What very many earlier results say, as a study keeps it: the inputs by name, and some rows in the user's units.
//!
//! A digest is for one space, and has coordinates; what is kept outlives changes of the study file. An input that the space does not
//! have any more is left out, and so is a row with a value that it does not have.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use tribo::space::{Kind, Space, UnitPoint, Values};
use tribo::strategy::Digest;

/// What earlier results say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// The file they were read from, for people.
    pub file: String,
    /// Rows that were read.
    pub rows: usize,
    /// Inputs that the values depend on.
    pub inputs: Vec<String>,
    /// For each the logarithm of the chance that an idle input looks like that.
    pub log_chances: Vec<f64>,
    /// Part of the variance of the values that they explain.
    pub explained: f64,
    /// Rows that are kept, each with a number or a category for every one of these inputs.
    pub points: Vec<Vec<Value>>,
    /// Their values.
    pub values: Vec<f64>,
    /// So many of them, the first ones, promise much; the others are any.
    pub promising: usize,
}

/// An input of a space.
struct Place<'a> {
    number: usize,
    /// Its first coordinate.
    first: usize,
    kind: &'a Kind,
}

impl Recalled {
    /// What a digest of rows in `space` says.
    pub fn of(space: &Space, digest: &Digest, file: &str) -> tribo::Result<Recalled> {
        let inputs: Vec<_> = space.inputs().map(|input| input.coordinates).collect();
        let own: Vec<_> = digest.inputs.iter().map(|&input| inputs[input].clone()).collect();
        let mut points = Vec::with_capacity(digest.points.len());
        for point in &digest.points {
            let mut whole = vec![0.5; space.dim()];
            let mut from = 0;
            for coordinates in &own {
                let width = coordinates.len();
                whole[coordinates.clone()].copy_from_slice(&point[from..from + width]);
                from += width;
            }
            let decoded = space.decode(&UnitPoint::new(whole)?)?;
            let value = |first: usize| {
                let at = space.coordinate(first)?;
                json(space.parameters()[at.parameter].kind(), &decoded.columns()[at.parameter], at.element)
            };
            points.push(own.iter().filter_map(|coordinates| value(coordinates.start)).collect());
        }
        Ok(Recalled {
            file: file.to_owned(),
            rows: digest.n_rows,
            inputs: own.iter().filter_map(|coordinates| space.input_name(coordinates.start)).collect(),
            // JSON has no infinities.
            log_chances: digest.log_chances.iter().map(|log| log.max(f64::MIN)).collect(),
            explained: digest.explained,
            points,
            values: digest.values.clone(),
            promising: digest.n_promising,
        })
    }

    /// The digest for a space.
    pub fn digest(&self, space: &Space) -> Digest {
        let mut places: HashMap<String, Place<'_>> = HashMap::new();
        for (number, input) in space.inputs().enumerate() {
            let first = input.coordinates.start;
            if let (Some(name), Some(at)) = (space.input_name(first), space.coordinate(first)) {
                places.insert(name, Place { number, first, kind: space.parameters()[at.parameter].kind() });
            }
        }
        // Columns of the kept rows, in the order of the space.
        let mut columns: Vec<(usize, Place<'_>)> = self
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(column, name)| Some((column, places.remove(name)?)))
            .collect();
        columns.sort_by_key(|(_, place)| place.number);
        let encoded = |row: &Vec<Value>| {
            let mut point = vec![];
            for (column, place) in &columns {
                let value = number(place.kind, row.get(*column)?)?;
                space.encode_input(place.first, value, &mut point).ok()?;
            }
            Some(point)
        };
        let mut digest = Digest {
            n_rows: self.rows,
            inputs: columns.iter().map(|(_, place)| place.number).collect(),
            log_chances: columns.iter().filter_map(|(k, _)| self.log_chances.get(*k).copied()).collect(),
            explained: self.explained,
            points: vec![],
            values: vec![],
            n_promising: 0,
        };
        for (number, (row, value)) in self.points.iter().zip(&self.values).enumerate() {
            if let Some(point) = encoded(row) {
                digest.points.push(point);
                digest.values.push(*value);
                digest.n_promising += usize::from(number < self.promising);
            }
        }
        digest
    }
}

/// A value for people: a number or the name of a category.
fn json(kind: &Kind, values: &Values, element: usize) -> Option<Value> {
    Some(match (values, kind) {
        (Values::Float(values), _) => Value::from(*values.get(element)?),
        (Values::Int(values), _) => Value::from(*values.get(element)?),
        (Values::Category(values), Kind::Categorical { categories }) => {
            Value::from(categories.get(*values.get(element)?)?.as_str())
        }
        (Values::Category(_), _) => return None,
    })
}

/// The number that an input is encoded from: a category by its position.
fn number(kind: &Kind, value: &Value) -> Option<f64> {
    match kind {
        Kind::Categorical { categories } => {
            let name = value.as_str()?;
            categories.iter().position(|category| category == name).map(|place| place as f64)
        }
        _ => value.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::space::Parameter;

    fn space() -> Space {
        Space::new(vec![
            Parameter::float("x", -2.0, 2.0).with_size(3),
            Parameter::int("n", 1, 9),
            Parameter::categorical("solver", ["a", "b", "c"]),
        ])
        .unwrap()
    }

    fn digest() -> Digest {
        Digest {
            n_rows: 1_000,
            inputs: vec![1, 3, 4],
            log_chances: vec![-40.0, f64::NEG_INFINITY, -20.0],
            explained: 0.75,
            points: vec![vec![0.75, 0.5, 0.0, 0.0, 1.0], vec![0.25, 0.0, 1.0, 0.0, 0.0]],
            values: vec![1.5, 2.5],
            n_promising: 1,
        }
    }

    #[test]
    fn rows_are_kept_by_name_and_in_the_users_units() {
        let kept = Recalled::of(&space(), &digest(), "old.parquet").unwrap();
        assert_eq!(kept.inputs, ["x[1]", "n", "solver"]);
        assert_eq!(kept.points[0], [Value::from(1.0), 5.into(), "c".into()]);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Recalled>(&text).unwrap(), kept);
        let again = kept.digest(&space());
        assert_eq!((&again.inputs, &again.values, again.n_promising), (&vec![1, 3, 4], &vec![1.5, 2.5], 1));
        // What an integer is encoded as is the middle of its cell.
        assert_eq!(Recalled::of(&space(), &again, "old.parquet").unwrap(), kept);
    }

    #[test]
    fn what_another_space_does_not_have_is_left_out() {
        let kept = Recalled::of(&space(), &digest(), "old.parquet").unwrap();
        let other = Space::new(vec![
            Parameter::categorical("solver", ["c", "d"]),
            Parameter::float("x", 0.0, 4.0).with_size(2),
        ]);
        let there = kept.digest(&other.unwrap());
        assert_eq!((there.inputs, there.points), (vec![0, 2], vec![vec![0.25, 0.25]]));
        assert_eq!((there.log_chances, there.values, there.n_promising), (vec![-20.0, -40.0], vec![1.5], 1));
    }
}
