//! The object of a point as text, which is what the journal has of it. As an object a point of ten parameters takes 1.5 kB of
//! memory, its text a quarter of a kilobyte and its `numbers` a hundred bytes: of a million imported points that decides
//! whether a study can be opened.

use super::numbers::{Kinds, Numbers};
use super::{from_json, values};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use tribo::space::{Kind, Parameter, Point, Space, Values};

/// A JSON object of parameter names and values, as text.
#[derive(Debug, Clone, PartialEq)]
pub struct Written(Kept);

#[derive(Debug, Clone, PartialEq)]
enum Kept {
    /// Copies share it.
    Text(Arc<str>),
    Numbers(Numbers),
}

/// How points of a space are written that has numbers alone.
pub struct Usual {
    /// What stands between the numbers.
    between: Vec<String>,
}

impl Usual {
    /// That of a space; None if it has integers or categories.
    pub fn of(space: &Space) -> Option<Usual> {
        let (mut between, mut piece) = (vec![], String::from("{"));
        for (k, parameter) in space.parameters().iter().enumerate() {
            if !matches!(parameter.kind(), Kind::Float { .. }) {
                return None;
            }
            let (comma, name) = (if k > 0 { "," } else { "" }, serde_json::to_string(parameter.name()).ok()?);
            let (open, size, close) = match parameter.size() {
                None => ("", 1, ""),
                Some(size) => ("[", size, "]"),
            };
            piece += &format!("{comma}{name}:{open}");
            for number in 0..size {
                between
                    .push(std::mem::replace(&mut piece, (if number + 1 < size { "," } else { "" }).into()));
            }
            piece += close;
        }
        between.push(piece + "}");
        Some(Usual { between })
    }

    /// The point, if it is written so.
    fn point(&self, space: &Space, numbers: &Numbers) -> Option<Point> {
        let mut values = numbers.values_between(&self.between)?;
        let column = |parameter: &Parameter| {
            let (own, rest) = values.split_at(parameter.size().unwrap_or(1));
            values = rest;
            Values::Float(own.to_vec())
        };
        space.point(space.parameters().iter().map(column).collect()).ok()
    }
}

impl Written {
    /// A point of `space`.
    pub fn of(space: &Space, point: &Point) -> Written {
        let text = serde_json::to_string(&Object { space, point });
        // A point is finite numbers and strings, by names that are strings: JSON has all of that.
        Written::text_of(text.unwrap_or_default())
    }

    fn text_of(text: impl Into<Arc<str>>) -> Written {
        Written(Kept::Text(text.into()))
    }

    /// The same by its numbers, where it is of one of `kinds` or there is room for another: less memory, the same point.
    pub fn compact(&self, kinds: &mut Kinds) -> Written {
        match &self.0 {
            Kept::Text(text) => {
                Numbers::of(text, kinds).map_or_else(|| self.clone(), |n| Written(Kept::Numbers(n)))
            }
            Kept::Numbers(_) => self.clone(),
        }
    }

    /// JSON that is an object; None if it is something else.
    pub fn of_raw(json: &RawValue) -> Option<Written> {
        json.get().starts_with('{').then(|| Written::text_of(json.get()))
    }

    /// The text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Kept::Text(text) => Cow::Borrowed(text),
            Kept::Numbers(numbers) => Cow::Owned(numbers.text()),
        }
    }

    /// The object. The error says why it cannot be read.
    pub fn object(&self) -> Result<Map<String, Value>, String> {
        serde_json::from_str(&self.text()).map_err(|error| error.to_string())
    }

    /// The point in `space`. The error names the parameter.
    pub fn point(&self, space: &Space) -> Result<Point, String> {
        self.point_as(space, Usual::of(space).as_ref())
    }

    /// As [`Written::point`], where it is known how most points of the space are written.
    pub fn point_as(&self, space: &Space, usual: Option<&Usual>) -> Result<Point, String> {
        if let (Kept::Numbers(numbers), Some(usual)) = (&self.0, usual)
            && let Some(point) = usual.point(space, numbers)
        {
            return Ok(point);
        }
        let text = self.text();
        let mut json = serde_json::Deserializer::from_str(&text);
        let columns = InOrder(space).deserialize(&mut json).and_then(|columns| json.end().map(|()| columns));
        match columns.ok().and_then(|columns| space.point(columns).ok()) {
            Some(point) => Ok(point),
            // In another order, of other types, or wrong: the object tells.
            None => from_json(space, &self.object()?),
        }
    }
}

impl From<&Map<String, Value>> for Written {
    fn from(object: &Map<String, Value>) -> Written {
        // Objects have strings for names, which is all that could go wrong.
        Written::text_of(serde_json::to_string(object).unwrap_or_default())
    }
}

/// A point as the object that [`to_json`](super::to_json) makes.
struct Object<'a> {
    space: &'a Space,
    point: &'a Point,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.space.parameters().len()))?;
        for (parameter, column) in self.space.parameters().iter().zip(self.point.columns()) {
            let name = parameter.name();
            match (column, parameter.kind(), parameter.size()) {
                (Values::Float(numbers), _, None) if numbers.len() == 1 => {
                    map.serialize_entry(name, &numbers[0])?;
                }
                (Values::Float(numbers), _, _) => map.serialize_entry(name, numbers)?,
                (Values::Int(numbers), _, None) if numbers.len() == 1 => {
                    map.serialize_entry(name, &numbers[0])?;
                }
                (Values::Int(numbers), _, _) => map.serialize_entry(name, numbers)?,
                (Values::Category(indices), Kind::Categorical { categories }, size) => {
                    let words: Vec<&str> = indices.iter().map(|&index| categories[index].as_str()).collect();
                    match (words.as_slice(), size) {
                        ([word], None) => map.serialize_entry(name, word)?,
                        (words, _) => map.serialize_entry(name, words)?,
                    }
                }
                (Values::Category(_), _, _) => {}
            }
        }
        map.end()
    }
}

/// The columns of a point from an object that has the parameters of a space in their order, which every object has that we
/// have written.
struct InOrder<'a>(&'a Space);

impl<'de> DeserializeSeed<'de> for InOrder<'_> {
    type Value = Vec<Values>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Values>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InOrder<'_> {
    type Value = Vec<Values>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Values>, A::Error> {
        let parameters = self.0.parameters();
        let mut columns = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            if map.next_key::<&str>()? != Some(parameter.name()) {
                return Err(de::Error::custom("another order"));
            }
            columns.push(map.next_value_seed(Column(parameter))?);
        }
        match map.next_key::<&str>()? {
            None => Ok(columns),
            Some(_) => Err(de::Error::custom("more than the parameters")),
        }
    }
}

/// The values of one parameter.
struct Column<'a>(&'a Parameter);

impl<'de> DeserializeSeed<'de> for Column<'_> {
    type Value = Values;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Values, D::Error> {
        use serde::Deserialize;
        match (self.0.kind(), self.0.size()) {
            (Kind::Float { .. }, None) => Ok(Values::Float(vec![f64::deserialize(deserializer)?])),
            (Kind::Float { .. }, Some(_)) => Ok(Values::Float(Vec::deserialize(deserializer)?)),
            (_, None) => {
                let value = Value::deserialize(deserializer)?;
                values(self.0, &[&value]).map_err(de::Error::custom)
            }
            (_, Some(_)) => {
                let list: Vec<Value> = Vec::deserialize(deserializer)?;
                values(self.0, &list.iter().collect::<Vec<_>>()).map_err(de::Error::custom)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::to_json;
    use super::*;

    fn space() -> Space {
        Space::new(vec![
            Parameter::float("x \"y\"", -1.0, 1.0),
            Parameter::int("n", 0, 1 << 40),
            Parameter::categorical("solver", ["cg", "gm\u{e9}res"]),
            Parameter::float("v", 0.0, 1.0).with_size(2),
            Parameter::int("w", 0, 9).with_size(1),
            Parameter::categorical("c", ["a", "b"]).with_size(2),
        ])
        .unwrap()
    }

    fn point() -> Point {
        let columns = vec![
            Values::Float(vec![0.1 + 0.2]),
            Values::Int(vec![(1 << 40) - 1]),
            Values::Category(vec![1]),
            Values::Float(vec![5e-324, 1.0]),
            Values::Int(vec![3]),
            Values::Category(vec![1, 0]),
        ];
        space().point(columns).unwrap()
    }

    #[test]
    fn text_and_object_say_the_same() {
        let (space, point) = (space(), point());
        let (object, written) = (to_json(&space, &point), Written::of(&space, &point));
        assert_eq!(written.text(), Value::Object(object.clone()).to_string());
        assert_eq!(Written::from(&object), written);
        assert_eq!(written.object(), Ok(object));
        assert_eq!(written.point(&space), Ok(point));
    }

    #[test]
    fn a_point_of_numbers_is_taken_as_it_is_written() {
        let space = Space::new(vec![
            Parameter::float("a \"b\" 1", -1.0, 1.0),
            Parameter::float("v", 0.0, 1e300).with_size(3),
            Parameter::float("z", 0.0, 1.0).with_size(1),
        ])
        .unwrap();
        let columns = vec![vec![0.1 + 0.2], vec![5e-324, 1.0, 1e300], vec![0.5]];
        let point = space.point(columns.into_iter().map(Values::Float).collect()).unwrap();
        let written = Written::of(&space, &point).compact(&mut Kinds::default());
        let Kept::Numbers(numbers) = &written.0 else { panic!("{written:?}") };
        assert_eq!(Usual::of(&space).unwrap().point(&space, numbers), Some(point.clone()));
        assert_eq!(written.text(), Written::of(&space, &point).text());
        assert!(Usual::of(&self::space()).is_none());
    }

    #[test]
    fn any_object_is_read_as_the_object_would_be() {
        let space = Space::new(vec![
            Parameter::float("x", -1.0, 1.0),
            Parameter::int("n", 0, 9),
            Parameter::float("v", 0.0, 1.0).with_size(2),
        ])
        .unwrap();
        let texts = [
            r#"{"x":1,"n":3.0,"v":[0,1]}"#,
            r#"{ "v" : [0.5, 1e-3], "n": 3, "x": -1 }"#,
            r#"{"x":0.5,"n":3,"v":[0,1],"x":0.25}"#,
            r#"{"\u0078":0.5,"n":3,"v":[0,1]}"#,
            r#"{"x":0.5,"n":3}"#,
            r#"{"x":0.5,"n":3,"v":0.5}"#,
            r#"{"x":0.5,"n":3,"v":[0,1],"more":1}"#,
            r#"{"x":2,"n":3,"v":[0,1]}"#,
            r#"{"x":null,"n":3,"v":[0,1]}"#,
            r#"{"x":"1","n":3,"v":[0,1]}"#,
        ];
        let mut kinds = Kinds::default();
        for text in texts {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let object: Map<String, Value> = serde_json::from_str(text).unwrap();
            let written = Written::of_raw(raw).unwrap();
            assert_eq!(written.point(&space), from_json(&space, &object), "{text}");
            let compact = written.compact(&mut kinds);
            assert_eq!(compact.point(&space), from_json(&space, &object), "{text}");
        }
        let list: &RawValue = serde_json::from_str("[1]").unwrap();
        assert_eq!(Written::of_raw(list), None);
    }
}
