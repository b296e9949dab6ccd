//! `tribo schema`: the keys of study files as JSON Schema.

use crate::failure::{OK, Outcome};
use crate::output;
use tribo_study::config::schema::json_schema;

pub(super) fn run() -> Outcome {
    output::print_json(&json_schema())?;
    Ok(OK)
}
