//! A study as one page: a file that can be sent to a colleague and read anywhere.
//!
//! No script, no request, no font: pictures are SVG inside the page, colours follow the reader. Everything that comes from a
//! user or a solver (names, reasons, outputs) goes through [`tribo_chart::escaped`], which also drops what a terminal would obey. The
//! content policy of the page forbids whatever might get past that.

mod card;
mod html;
mod limits;
mod sections;
mod style;

pub use card::card;
pub use html::Html;
pub use sections::Section;
pub use style::STYLE;

use crate::view::View;
use crate::{Error, Result};
use std::fs;
use std::path::Path;

/// The page of a study.
pub fn report(view: &View) -> Result<String> {
    let mut html = Html::default();
    for section in Section::ALL {
        section.write(&mut html, view)?;
    }
    Ok(html.page(&view.config.name))
}

/// Writes a page under another name and puts it in place when it is whole.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let mut name = path.file_name().map(std::ffi::OsString::from).unwrap_or_default();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written.map_err(Error::io("cannot write", path))
}

#[cfg(test)]
mod tests;
