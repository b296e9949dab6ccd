//! Studies on disk: made, and opened to be looked at. Taking them, writing and giving back is [`ByHand`]'s.

use crate::error;
use pyo3::PyResult;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use tribo_study::Error;
use tribo_study::by_hand::ByHand;
use tribo_study::layout::Layout;
use tribo_study::owned::How;

/// Writes the study file at `path`, in a folder that is made if need be, and makes its store, which then belongs to this
/// process.
pub(crate) fn create(path: &Path, text: &str) -> PyResult<ByHand> {
    let layout = Layout::of(path);
    let written = || -> Result<(), Error> {
        std::fs::create_dir_all(layout.folder()).map_err(Error::io("cannot create", layout.folder()))?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(layout.file()).map_err(
            |source| match source.kind() {
                ErrorKind::AlreadyExists => Error::Missing {
                    path: layout.file().to_owned(),
                    what: "there is a study file already; open it with Study.open, or use another folder or `name`"
                        .to_owned(),
                },
                _ => Error::io("cannot create", layout.file())(source),
            },
        )?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(Error::io("cannot write", layout.file()))
    };
    written().and_then(|()| ByHand::take_new(&layout)).map_err(error::study)
}

/// Reads the study at `path`: a study file, a folder with `study.toml`, or a store. For a new chapter it is taken, too.
pub(crate) fn open(path: &Path, new_chapter: bool) -> PyResult<ByHand> {
    let layout = Layout::of(path);
    let opened = match new_chapter {
        true => ByHand::take_as(&layout, How { new_chapter, ..How::default() }),
        false => ByHand::read(&layout),
    };
    opened.map_err(error::study)
}
