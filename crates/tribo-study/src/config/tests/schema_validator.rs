//! A validator for the keywords of JSON Schema that the schema uses; it refuses to meet another one.

use regex_lite::Regex;
use serde_json::Value;

/// What is wrong with `value`, beginning with its path.
pub(super) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut lower, mut upper) = ((f64::NEG_INFINITY, false), (f64::INFINITY, false));
    for (keyword, wanted) in schema.as_object().expect("an object") {
        let size = || wanted.as_u64().expect("a size") as usize;
        let fits = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => is_of_type(wanted.as_str().expect("a type"), value),
            "enum" => wanted.as_array().expect("an array").contains(value),
            "pattern" => {
                let pattern = Regex::new(wanted.as_str().expect("a pattern")).expect("a regular expression");
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "minLength" => value.as_str().is_none_or(|text| text.chars().count() >= size()),
            "minItems" => value.as_array().is_none_or(|items| items.len() >= size()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() <= size()),
            "minProperties" => value.as_object().is_none_or(|object| object.len() >= size()),
            "minimum" => {
                lower.0 = wanted.as_f64().expect("a number");
                true
            }
            "maximum" => {
                upper.0 = wanted.as_f64().expect("a number");
                true
            }
            "exclusiveMinimum" => {
                lower.1 = wanted.as_bool().expect("a flag, as in draft 4");
                true
            }
            "exclusiveMaximum" => {
                upper.1 = wanted.as_bool().expect("a flag, as in draft 4");
                true
            }
            "anyOf" => {
                wanted.as_array().expect("an array").iter().any(|schema| validate(schema, value).is_ok())
            }
            "required" => {
                let names = wanted.as_array().expect("an array");
                assert!(!names.is_empty(), "draft 4 forbids an empty list");
                value.as_object().is_none_or(|object| {
                    names.iter().all(|name| object.contains_key(name.as_str().expect("a name")))
                })
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    validate(wanted, item).map_err(|why| format!("[]{why}"))?;
                }
                true
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        validate(schema, value).map_err(|why| format!(".{name}{why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| known.get(name).is_none()) {
                        match wanted {
                            Value::Bool(false) => return Err(format!(".{name}: not a key")),
                            wanted => validate(wanted, value).map_err(|why| format!(".{name}{why}"))?,
                        }
                    }
                }
                true
            }
            other => panic!("the validator does not know `{other}`"),
        };
        if !fits {
            return Err(format!(": {value} does not fit {keyword} {wanted}"));
        }
    }
    if let Some(x) = value.as_f64() {
        let above = if lower.1 { x > lower.0 } else { x >= lower.0 };
        let below = if upper.1 { x < upper.0 } else { x <= upper.0 };
        if !(above && below) {
            return Err(format!(": {x} is outside {lower:?} to {upper:?}"));
        }
    }
    Ok(())
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the validator does not know the type `{other}`"),
    }
}

#[test]
fn the_validator_validates() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false, "minProperties": 1,
        "properties": {
            "a": { "type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 1 },
            "b": { "anyOf": [{ "enum": ["x"] }, { "type": "array", "items": { "type": "integer" }, "maxItems": 1 }] },
            "c": { "type": "object", "additionalProperties": { "type": "string", "pattern": "^[a-z]$" } },
        },
    });
    for (good, text) in [
        (true, r#"{"a": 1}"#),
        (true, r#"{"a": 0.5, "b": "x", "c": {"k": "z"}}"#),
        (true, r#"{"a": 0.5, "b": [1]}"#),
        (false, "{}"),
        (false, "[]"),
        (false, r#"{"a": 0}"#),
        (false, r#"{"a": 1.5}"#),
        (false, r#"{"a": "1"}"#),
        (false, r#"{"a": 1, "d": 1}"#),
        (false, r#"{"a": 1, "b": [1, 2]}"#),
        (false, r#"{"a": 1, "b": [1.5]}"#),
        (false, r#"{"a": 1, "c": {"k": "zz"}}"#),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(validate(&schema, &value).is_ok(), good, "{text}");
    }
}
