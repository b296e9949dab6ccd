//! A point as JSON: an object of parameter names. Numbers read back to the same bits.

mod numbers;
mod written;

pub use numbers::Kinds;
pub use written::{Usual, Written};

use serde_json::{Map, Value};
use tribo::space::{Kind, Parameter, Point, Space, Values};

/// The object of a point: a number or a category for each parameter, a list of them for a vector.
pub fn to_json(space: &Space, point: &Point) -> Map<String, Value> {
    let mut object = Map::new();
    for (parameter, values) in space.parameters().iter().zip(point.columns()) {
        let mut list: Vec<Value> = match values {
            Values::Float(numbers) => numbers.iter().map(|&x| Value::from(x)).collect(),
            Values::Int(numbers) => numbers.iter().map(|&x| Value::from(x)).collect(),
            Values::Category(indices) => {
                let Kind::Categorical { categories } = parameter.kind() else { continue };
                indices.iter().map(|&i| Value::from(categories[i].as_str())).collect()
            }
        };
        let value = match parameter.size() {
            None if list.len() == 1 => list.remove(0),
            _ => Value::Array(list),
        };
        object.insert(parameter.name().to_owned(), value);
    }
    object
}

/// The point of an object. The error names the parameter.
pub fn from_json(space: &Space, object: &Map<String, Value>) -> Result<Point, String> {
    if let Some(name) = object.keys().find(|name| space.parameters().iter().all(|p| p.name() != *name)) {
        return Err(format!("there is no parameter `{name}`"));
    }
    let column = |parameter: &Parameter| {
        let name = parameter.name();
        let value = object.get(name).ok_or_else(|| format!("parameter `{name}` is missing"))?;
        let list: Vec<&Value> = match (parameter.size(), value) {
            (Some(_), Value::Array(list)) => list.iter().collect(),
            (Some(size), _) => return Err(format!("parameter `{name}` is a vector of {size}: give a list")),
            (None, value) => vec![value],
        };
        values(parameter, &list)
    };
    let columns = space.parameters().iter().map(column).collect::<Result<Vec<Values>, String>>()?;
    space.point(columns).map_err(|error| error.to_string())
}

fn values(parameter: &Parameter, list: &[&Value]) -> Result<Values, String> {
    let wrong = |value: &Value| {
        format!("parameter `{}` is of type {}, not {value}", parameter.name(), parameter.kind().word())
    };
    match parameter.kind() {
        Kind::Float { .. } => {
            let number = |value: &&Value| value.as_f64().ok_or_else(|| wrong(value));
            Ok(Values::Float(list.iter().map(number).collect::<Result<_, _>>()?))
        }
        Kind::Int { .. } => {
            // 3.0 is what spreadsheets write for 3.
            let whole = |value: &Value| {
                value.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 2f64.powi(53)).map(|x| x as i64)
            };
            let number = |value: &&Value| value.as_i64().or_else(|| whole(value)).ok_or_else(|| wrong(value));
            Ok(Values::Int(list.iter().map(number).collect::<Result<_, _>>()?))
        }
        Kind::Categorical { categories } => {
            let index = |value: &&Value| {
                let position = |text| categories.iter().position(|category| category == text);
                value.as_str().and_then(position).ok_or_else(|| {
                    format!(
                        "parameter `{}` has no category {value}; there are {categories:?}",
                        parameter.name()
                    )
                })
            };
            Ok(Values::Category(list.iter().map(index).collect::<Result<_, _>>()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space::new(vec![
            Parameter::float("x", -1.0, 1.0),
            Parameter::int("n", 0, 1 << 40),
            Parameter::categorical("solver", ["cg", "gmres"]),
            Parameter::float("v", 0.0, 1.0).with_size(2),
        ])
        .unwrap()
    }

    #[test]
    fn points_read_back_to_the_same_bits() {
        let columns = vec![
            Values::Float(vec![0.1 + 0.2]),
            Values::Int(vec![(1 << 40) - 1]),
            Values::Category(vec![1]),
            Values::Float(vec![5e-324, 1.0 / 3.0]),
        ];
        let point = space().point(columns).unwrap();
        let text = serde_json::to_string(&to_json(&space(), &point)).unwrap();
        assert_eq!(from_json(&space(), &serde_json::from_str(&text).unwrap()), Ok(point));
    }

    #[test]
    fn complaints_name_the_parameter() {
        let good = r#"{"x": 0, "n": 3.0, "solver": "cg", "v": [0, 1]}"#;
        assert!(from_json(&space(), &serde_json::from_str(good).unwrap()).is_ok());
        let cases = [
            (r#"{"x": 0}"#, "`n`"),
            (r#"{"x": "a", "n": 3, "solver": "cg", "v": [0, 1]}"#, "`x`"),
            (r#"{"x": 0, "n": 2.5, "solver": "cg", "v": [0, 1]}"#, "`n`"),
            (r#"{"x": 0, "n": 2, "solver": "lu", "v": [0, 1]}"#, "`solver`"),
            (r#"{"x": 0, "n": 2, "solver": "cg", "v": 0.5}"#, "`v`"),
            (r#"{"x": 0, "n": 2, "solver": "cg", "v": [0, 1], "w": 1}"#, "`w`"),
            (r#"{"x": 2, "n": 2, "solver": "cg", "v": [0, 1]}"#, "x"),
            (r#"{"x": 0, "n": 2, "solver": "cg", "v": [0, 1, 1]}"#, "v"),
        ];
        for (text, name) in cases {
            let complaint = from_json(&space(), &serde_json::from_str(text).unwrap()).unwrap_err();
            assert!(complaint.contains(name), "{complaint}");
        }
    }
}
