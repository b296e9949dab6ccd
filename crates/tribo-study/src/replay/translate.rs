//! A point of one space in another: what a result of an earlier chapter is in the present one.
//!
//! Parameters are the same if they have the same name. One that was added has the value that the study file says it had
//! (`earlier`), one that was removed is left out. A value that the new space does not have, outside the bounds or in a
//! category that is gone, makes the point one that the new chapter knows nothing of.

use serde_json::Value as Json;
use std::collections::BTreeMap;
use tribo::space::{Kind, Parameter, Point, Space, Value, Values};

/// The values that parameters had before they were added, by name.
pub type EarlierValues = BTreeMap<String, Json>;

/// The point of `old` in `new`; None if it is not in it.
pub(super) fn translate(old: &Space, new: &Space, earlier: &EarlierValues, point: &Point) -> Option<Point> {
    let column = |parameter: &Parameter| {
        let found = old.parameters().iter().position(|other| other.name() == parameter.name());
        let before = found.map(|at| (&old.parameters()[at], &point.columns()[at]));
        column(parameter, before, earlier.get(parameter.name()))
    };
    new.point(new.parameters().iter().map(column).collect::<Option<Vec<Values>>>()?).ok()
}

/// All values of a parameter: those it had, and the earlier value for elements that it did not have.
fn column(
    parameter: &Parameter,
    before: Option<(&Parameter, &Values)>,
    earlier: Option<&Json>,
) -> Option<Values> {
    let value = |element: usize| match before.and_then(|(old, values)| Some((old, values.get(element)?))) {
        Some((old, value)) => as_json(old, value),
        None => earlier.cloned(),
    };
    let values = (0..parameter.n_elements()).map(value).collect::<Option<Vec<Json>>>()?;
    Some(match parameter.kind() {
        Kind::Float { .. } => Values::Float(values.iter().map(Json::as_f64).collect::<Option<_>>()?),
        Kind::Int { .. } => Values::Int(values.iter().map(whole).collect::<Option<_>>()?),
        Kind::Categorical { categories } => {
            let index = |value: &Json| categories.iter().position(|name| Some(&name[..]) == value.as_str());
            Values::Category(values.iter().map(index).collect::<Option<_>>()?)
        }
    })
}

fn as_json(parameter: &Parameter, value: Value) -> Option<Json> {
    Some(match (value, parameter.kind()) {
        (Value::Float(value), _) => value.into(),
        (Value::Int(value), _) => value.into(),
        (Value::Category(index), Kind::Categorical { categories }) => categories.get(index)?.as_str().into(),
        (Value::Category(_), _) => return None,
    })
}

/// A whole number, also where it was a float before.
fn whole(value: &Json) -> Option<i64> {
    let exact = |x: &f64| x.fract() == 0.0 && x.abs() < 2f64.powi(53);
    value.as_i64().or_else(|| value.as_f64().filter(exact).map(|x| x as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old() -> Space {
        Space::new(vec![
            Parameter::float("x", 0.0, 1.0).with_size(2),
            Parameter::int("n", 1, 9),
            Parameter::categorical("solver", ["cg", "lu"]),
        ])
        .unwrap()
    }

    fn point() -> Point {
        let columns = vec![Values::Float(vec![0.25, 0.5]), Values::Int(vec![3]), Values::Category(vec![1])];
        old().point(columns).unwrap()
    }

    #[test]
    fn names_decide_and_what_is_not_in_the_new_space_is_not_known() {
        let none = EarlierValues::new();
        let wider = Space::new(vec![
            Parameter::categorical("solver", ["qr", "lu", "cg"]),
            Parameter::float("n", 0.5, 20.0),
            Parameter::log_float("x", 0.1, 4.0).with_size(2),
        ]);
        let there = translate(&old(), wider.as_ref().unwrap(), &none, &point()).unwrap();
        let expected = [Values::Category(vec![1]), Values::Float(vec![3.0]), Values::Float(vec![0.25, 0.5])];
        assert_eq!(there.columns(), expected);
        // And back, with what the wider one had lost.
        let narrower = Space::new(vec![Parameter::float("x", 0.0, 0.3).with_size(1)]).unwrap();
        let first = translate(&old(), &narrower, &none, &point()).unwrap();
        assert_eq!(first.columns(), [Values::Float(vec![0.25])]);
        for gone in [
            Parameter::float("x", 0.3, 1.0).with_size(2),
            Parameter::categorical("solver", ["cg", "qr"]),
            Parameter::int("n", 4, 9),
            Parameter::float("new", 0.0, 1.0),
            Parameter::float("solver", 0.0, 1.0),
        ] {
            let space = Space::new(vec![gone]).unwrap();
            assert_eq!(translate(&old(), &space, &none, &point()), None);
        }
    }

    #[test]
    fn what_was_added_has_the_value_it_had() {
        let more =
            vec![Parameter::float("x", 0.0, 1.0).with_size(3), Parameter::categorical("m", ["a", "b"])];
        let earlier = EarlierValues::from([("x".to_owned(), 0.75.into()), ("m".to_owned(), "b".into())]);
        let there = translate(&old(), &Space::new(more).unwrap(), &earlier, &point()).unwrap();
        assert_eq!(there.columns(), [Values::Float(vec![0.25, 0.5, 0.75]), Values::Category(vec![1])]);
    }
}
