//! One JSON object a line. The members of a list `x` are the columns `x[0]`, `x[1]`, ..., as everywhere; those of an object
//! `params` are `params.a`, and so on. The first line says which columns there are; one that a later line lacks is missing
//! there.

use super::{Mark, Rows, fault};
use crate::report::point::Cell;
use crate::{Error, Result};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The members of the first object.
pub(super) fn columns(path: &Path) -> Result<Vec<String>> {
    let mut objects = Objects::new(path, vec![], None)?;
    if !objects.read_object()? {
        return Err(fault(path, "it is empty; it needs one JSON object a line"));
    }
    let mut names = Vec::new();
    name(&objects.object, String::new(), &mut names);
    Ok(names)
}

fn name(value: &Value, at: String, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                name(value, if at.is_empty() { key.clone() } else { format!("{at}.{key}") }, names);
            }
        }
        Value::Array(members) => {
            members.iter().enumerate().for_each(|(i, value)| name(value, format!("{at}[{i}]"), names));
        }
        _ => names.push(at),
    }
}

/// The way to a member.
enum Step {
    Key(String),
    Index(usize),
}

/// Rows of a file of objects.
pub(super) struct Objects {
    path: PathBuf,
    /// The way to each column.
    ways: Vec<Vec<Step>>,
    reader: BufReader<File>,
    mark: Mark,
    line: Vec<u8>,
    object: Value,
}

impl Objects {
    pub(super) fn new(path: &Path, names: Vec<String>, mark: Option<Mark>) -> Result<Objects> {
        let file = File::open(path).map_err(Error::io("cannot read", path))?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mark = mark.unwrap_or(Mark { row: 0, byte: 0, line: 0 });
        reader.seek(SeekFrom::Start(mark.byte)).map_err(Error::io("cannot read", path))?;
        let ways = names.iter().map(|name| way(name)).collect();
        Ok(Objects { path: path.to_owned(), ways, reader, mark, line: vec![], object: Value::Null })
    }

    /// The next line that is not empty; false at the end.
    fn read_line(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let n = self
                .reader
                .read_until(b'\n', &mut self.line)
                .map_err(Error::io("cannot read", &self.path))?;
            self.mark.byte += n as u64;
            self.mark.line += u64::from(n > 0);
            if n == 0 {
                return Ok(false);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                self.mark.row += 1;
                return Ok(true);
            }
        }
    }

    fn read_object(&mut self) -> Result<bool> {
        if !self.read_line()? {
            return Ok(false);
        }
        let object = serde_json::from_slice(&self.line);
        self.object =
            object.map_err(|error| Error::Usage(format!("{}: this is not JSON: {error}", self.place())))?;
        if !self.object.is_object() {
            return Err(Error::Usage(format!("{}: this is not a JSON object", self.place())));
        }
        Ok(true)
    }
}

/// `params.x[3]` as keys and indices.
fn way(name: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in name.split('.') {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        steps.push(Step::Key(key.to_owned()));
        let indices = indices.trim_end_matches(']').split("][").filter(|index| !index.is_empty());
        steps.extend(indices.filter_map(|index| index.parse().ok()).map(Step::Index));
    }
    steps
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(value) => Cell::Int(i64::from(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Cell::Int(value),
            None => number.as_f64().map_or(Cell::Null, Cell::Float),
        },
        Value::String(text) => Cell::Text(text.clone()),
        other => Cell::Text(other.to_string()),
    }
}

impl Rows for Objects {
    fn next(&mut self, cells: &mut [Cell]) -> Result<bool> {
        if !self.read_object()? {
            return Ok(false);
        }
        for (to, way) in cells.iter_mut().zip(&self.ways) {
            let found = way.iter().try_fold(&self.object, |value, step| match step {
                Step::Key(key) => value.get(key),
                Step::Index(index) => value.get(index),
            });
            *to = found.map_or(Cell::Null, cell);
        }
        Ok(true)
    }

    fn skip(&mut self, n: u64) -> Result<()> {
        for _ in 0..n {
            if !self.read_line()? {
                break;
            }
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        self.mark
    }

    fn place(&self) -> String {
        format!("{}:{}", self.path.display(), self.mark.line)
    }
}
