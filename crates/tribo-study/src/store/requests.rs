//! What other commands ask of a running driver: one small file each, removed when read.
//!
//! Names begin with the time, so that requests are read in the order they were made. A request that nobody reads, because
//! no driver runs, waits for the next one. A file that is not a request is renamed, so that it is looked at once.

use super::Request;
use super::files::{self, Durable};
use crate::layout::Layout;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// A request as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
enum Written {
    Cancel { trial: u64 },
    Retry { trial: u64 },
    CancelAll,
    Stop,
}

/// Asks something of the driver of a study, running or next.
pub fn request(layout: &Layout, request: &Request) -> Result<()> {
    let folder = layout.requests();
    if !folder.is_dir() {
        return Err(layout.missing());
    }
    let written = match *request {
        Request::Cancel(trial) => Written::Cancel { trial },
        Request::Retry(trial) => Written::Retry { trial },
        Request::CancelAll => Written::CancelAll,
        Request::Stop => Written::Stop,
    };
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let path = folder.join(format!("{nanoseconds:020}-{}.json", std::process::id()));
    let json =
        serde_json::to_vec(&written).map_err(|error| Error::io("cannot write", &path)(error.into()))?;
    files::replace(&path, &json, Durable::No).map_err(Error::io("cannot write", &path))
}

/// All requests, in order; each is given once.
pub(super) fn take(layout: &Layout) -> Result<Vec<Request>> {
    let folder = layout.requests();
    let mut paths = vec![];
    for entry in fs::read_dir(&folder).map_err(Error::io("cannot list", &folder))? {
        let path = entry.map_err(Error::io("cannot list", &folder))?.path();
        let hidden = path.file_name().is_none_or(files::is_hidden);
        if !hidden && path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut requests = vec![];
    for path in paths {
        let written = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice::<Written>(&bytes)?));
        match written {
            Ok(written) => {
                fs::remove_file(&path).map_err(Error::io("cannot remove", &path))?;
                requests.push(match written {
                    Written::Cancel { trial } => Request::Cancel(trial),
                    Written::Retry { trial } => Request::Retry(trial),
                    Written::CancelAll => Request::CancelAll,
                    Written::Stop => Request::Stop,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => {
                let aside = path.with_extension("rejected");
                fs::rename(&path, &aside).map_err(Error::io("cannot set aside", &path))?;
            }
        }
    }
    Ok(requests)
}
