//! The line of an evaluation from elsewhere, of which a journal can have a million: written and read without an object of its
//! point. The bytes are those that [`Line`](super::Line) writes, and what is not read here is read there.

use super::super::record::{Entry, Record};
use crate::outputs::{Outputs, VALUE};
use crate::point;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

const TYPE: &str = "imported";

/// The line: the members of `Line`, `Written::Imported` and `Outputs` in one.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    n: u64,
    epoch: u64,
    ms: u64,
    r#type: &'a str,
    trial: u64,
    #[serde(borrow)]
    point: &'a RawValue,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, borrow, skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<&'a str, f64>,
}

/// The JSON of a record, if it is one of this kind and reads back.
pub(super) fn encode(entry: &Entry) -> Option<Vec<u8>> {
    let Record::Imported { trial, point, outputs } = &entry.record else { return None };
    let text = point.text();
    let others = outputs.iter().filter(|(name, _)| *name != VALUE).collect();
    let line = Line {
        n: entry.n,
        epoch: entry.epoch,
        ms: entry.ms,
        r#type: TYPE,
        trial: *trial,
        point: serde_json::from_str(&text).ok()?,
        value: outputs.get(VALUE),
        outputs: others,
    };
    let json = serde_json::to_vec(&line).ok()?;
    (decode(&json).as_ref() == Some(entry)).then_some(json)
}

/// A record from its JSON, if it is one of this kind and written in the usual way.
pub(super) fn decode(json: &[u8]) -> Option<Entry> {
    let line: Line<'_> = serde_json::from_slice(json).ok().filter(|line: &Line<'_>| line.r#type == TYPE)?;
    let mut outputs = line.value.map_or_else(Outputs::new, |value| Outputs::one(VALUE, value));
    for (name, value) in line.outputs {
        outputs.insert(name, value);
    }
    let record = Record::Imported { trial: line.trial, point: point::Written::of_raw(line.point)?, outputs };
    Some(Entry { n: line.n, epoch: line.epoch, ms: line.ms, record })
}
