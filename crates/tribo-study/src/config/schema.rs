//! The study file as JSON Schema, for editors and other checkers. Kept to the keywords of draft 4, the oldest that editors
//! still ask for: `type`, `enum`, `properties`, `required`, `additionalProperties`, `items`, `anyOf`, bounds and `pattern`.
//!
//! What it accepts is more than what the reader accepts: keys that belong to a choice made elsewhere are always allowed,
//! and values are not held against each other.

use super::keys::{Default, Key, ROOT, Range, Section, Type};
use super::value::{DURATION_PATTERN, LONGEST_S, SIZE_PATTERN, SIZES};
use serde_json::{Map, Value, json};

/// The schema.
pub fn json_schema() -> Value {
    let mut schema = section(&ROOT);
    schema["$schema"] = json!("http://json-schema.org/draft-04/schema#");
    schema["title"] = json!("A study of tribo");
    schema
}

fn section(section: &Section) -> Value {
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let mut schema = json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    // Draft 4 wants at least one name in a list of required keys.
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.required && key.when.is_empty()).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if section.least > 0 {
        schema["minProperties"] = json!(section.least);
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = value(&key.kind);
    schema["description"] = json!(key.doc);
    if let Default::Toml(literal) = key.default
        && let Ok(default) = toml::from_str::<Map<String, Value>>(&format!("default = {literal}"))
    {
        schema["default"] = default["default"].clone();
    }
    schema
}

fn value(kind: &Type) -> Value {
    match kind {
        Type::Integer { low, high } => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Type::Number(range) => number(range),
        Type::Flag => json!({ "type": "boolean" }),
        Type::Text | Type::File => json!({ "type": "string", "minLength": 1 }),
        Type::Word => json!({ "type": "string" }),
        Type::Choice(choices) => json!({ "enum": choices }),
        Type::Duration => {
            let seconds = Range { low: 0.0, high: LONGEST_S, open: (true, false) };
            json!({ "anyOf": [{ "type": "string", "pattern": DURATION_PATTERN }, number(&seconds)] })
        }
        Type::Size => json!({ "anyOf": [
            { "type": "string", "pattern": SIZE_PATTERN },
            { "type": "integer", "minimum": SIZES.0, "maximum": SIZES.1 },
        ] }),
        Type::List { of, least, most } => {
            let mut schema = json!({ "type": "array", "items": value(of), "minItems": least });
            if *most < usize::MAX {
                schema["maxItems"] = json!(most);
            }
            schema
        }
        Type::Names => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Type::Table(inside) => section(inside),
        Type::Tables(inside, least) => {
            json!({ "type": "array", "items": section(inside), "minItems": least })
        }
        Type::Either(types) => json!({ "anyOf": types.iter().map(value).collect::<Vec<_>>() }),
    }
}

fn number(range: &Range) -> Value {
    let mut schema = json!({ "type": "number" });
    // Draft 4 has open ends as a flag beside the bound.
    if range.low.is_finite() {
        schema["minimum"] = json!(range.low);
        if range.open.0 {
            schema["exclusiveMinimum"] = json!(true);
        }
    }
    if range.high.is_finite() {
        schema["maximum"] = json!(range.high);
        if range.open.1 {
            schema["exclusiveMaximum"] = json!(true);
        }
    }
    schema
}
