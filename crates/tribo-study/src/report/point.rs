//! Points as rows of a table: a cell for each value, and back from the texts of such cells.

use serde_json::Value as Json;
use tribo::space::{Kind, Parameter, Point, Space, Value, Values};

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing there.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Anything else.
    Text(String),
}

impl Cell {
    /// The cell as JSON. A number that is not finite is null.
    pub fn json(&self) -> Json {
        match self {
            Cell::Null => Json::Null,
            Cell::Int(value) => (*value).into(),
            Cell::Float(value) => (*value).into(),
            Cell::Text(text) => text.as_str().into(),
        }
    }
}

/// Names of all values of a point: `x`, or `x[0]`, `x[1]`, ... for a vector.
pub fn names(space: &Space) -> impl Iterator<Item = String> {
    let elements = |parameter: &Parameter| {
        (0..parameter.n_elements()).map(|element| parameter.element_name(element)).collect::<Vec<_>>()
    };
    space.parameters().iter().flat_map(elements)
}

/// All values of a point, in the order of [`names`].
pub fn cells<'a>(space: &'a Space, point: &'a Point) -> impl Iterator<Item = Cell> + 'a {
    let columns = space.parameters().iter().zip(point.columns());
    columns.flat_map(|(parameter, values)| column_cells(parameter, values))
}

/// The values of one parameter.
pub fn column_cells(parameter: &Parameter, values: &Values) -> Vec<Cell> {
    let values = (0..values.len()).filter_map(|element| values.get(element));
    values.map(|value| cell(parameter, value)).collect()
}

fn cell(parameter: &Parameter, value: Value) -> Cell {
    match (value, parameter.kind()) {
        (Value::Float(value), _) => Cell::Float(value),
        (Value::Int(value), _) => Cell::Int(value),
        (Value::Category(index), Kind::Categorical { categories }) => {
            categories.get(index).map_or(Cell::Null, |name| Cell::Text(name.clone()))
        }
        (Value::Category(index), _) => Cell::Int(index as i64),
    }
}

/// A text as the JSON value it stands for, given the parameter it is meant for. What is not a number where one belongs stays a
/// text, for [`from_json`](crate::point::from_json) to refuse by name.
pub fn value(parameter: &Parameter, text: &str) -> Json {
    let text = text.trim();
    if matches!(parameter.kind(), Kind::Categorical { .. }) {
        return text.into();
    }
    let float = || text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Json::from);
    text.parse::<i64>().ok().map(Json::from).or_else(float).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::space::UnitPoint;

    fn space() -> Space {
        Space::new(vec![
            Parameter::log_float("rate", 1e-5, 1.0),
            Parameter::int("layers", 1, 9),
            Parameter::categorical("solver", ["1", "multigrid", "krylov"]),
            Parameter::float("v", -1.0, 1.0).with_size(3),
        ])
        .unwrap()
    }

    #[test]
    fn cells_read_back_to_the_same_point() {
        let point = space().decode(&UnitPoint::new(vec![0.123; 8]).unwrap()).unwrap();
        let texts: Vec<String> =
            cells(&space(), &point).map(|cell| crate::report::csv::field(&cell)).collect();
        let mut rest = texts.as_slice();
        let mut object = serde_json::Map::new();
        for parameter in space().parameters() {
            let (these, others) = rest.split_at(parameter.n_elements());
            let mut values: Vec<Json> = these.iter().map(|text| value(parameter, text)).collect();
            let value = if parameter.size().is_some() { Json::Array(values) } else { values.remove(0) };
            object.insert(parameter.name().to_owned(), value);
            rest = others;
        }
        assert_eq!(crate::point::from_json(&space(), &object), Ok(point));
        let expected = ["rate", "layers", "solver", "v[0]", "v[1]", "v[2]"];
        assert_eq!(names(&space()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_no_number_stays_text() {
        let space = space();
        assert_eq!(value(&space.parameters()[0], " 1e-3 "), 1e-3);
        assert_eq!(value(&space.parameters()[0], "nan"), "nan");
        assert_eq!(value(&space.parameters()[1], "3.0"), 3.0);
        assert_eq!(value(&space.parameters()[2], "1"), "1");
    }
}
