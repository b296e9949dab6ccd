//! Why jobs wait, as the driver last saw it: `waiting.json`, for commands that only read. Of the moment, and never needed.

use super::files::{self, Durable};
use crate::layout::Layout;
use crate::waiting::Waiting;
use std::fs;
use std::path::PathBuf;

/// Leaves it. A note that cannot be written is none.
pub(super) fn write(layout: &Layout, waiting: &[Waiting]) {
    let bytes = serde_json::to_vec(waiting).unwrap_or_default();
    let _ = files::replace(&path(layout), &bytes, Durable::No);
}

/// Reads it; nothing if there is none.
pub fn waiting(layout: &Layout) -> Vec<Waiting> {
    fs::read(path(layout)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn path(layout: &Layout) -> PathBuf {
    layout.store().join("waiting.json")
}
