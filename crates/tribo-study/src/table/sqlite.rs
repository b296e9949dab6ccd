//! SQLite's file format, read and never written: as much of it as a table that another program filled takes.
//!
//! A table is a B-tree of pages: leaves hold rows, inner pages the numbers of pages below them; what a leaf has no room for
//! goes on in a chain of overflow pages. A scan reads every page once, where it lies, and holds one path from the root.
//! Indices, views, tables without row numbers, text other than UTF-8 and changes that are still in a log beside the file are
//! not read; the last are refused, since without them the file says what was, not what is.
//!
//! The format is that of <https://sqlite.org/fileformat2.html>, stable since 2004. The library itself, compiled in, would add
//! 1 MB to a program of 14 and a C compiler to what builds it, for one command that reads three tables.

use super::fault;
use crate::{Error, Result};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What every such file begins with.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";
/// What a log of changes that were not finished begins with.
const HOT_JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Pages above each other: a tree of this height would hold more rows than there are numbers for.
const HIGHEST: usize = 20;
/// Bytes of one row at most, which is SQLite's own limit.
const LONGEST: u64 = 1_000_000_000;

/// Whether a row could be taken, or what is wrong with it.
type Taken = std::result::Result<(), String>;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    Blob,
}

impl Value {
    pub(super) fn int(&self) -> Option<i64> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    /// SQLite keeps whole numbers of a column of floats as whole numbers.
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }
}

/// A table: where it begins, and its columns in order.
#[derive(Debug)]
struct Listed {
    name: String,
    root: u32,
    columns: Vec<String>,
    /// The column that is the number of the row, and is not stored.
    row_number: Option<usize>,
}

/// A database in a file.
#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    file: File,
    page_size: usize,
    /// Bytes of a page that hold something.
    usable: usize,
    n_pages: u32,
    tables: Vec<Listed>,
}

impl Database {
    pub(super) fn open(path: &Path) -> Result<Database> {
        let file = File::open(path).map_err(Error::io("cannot read", path))?;
        let length = file.metadata().map_err(Error::io("cannot read", path))?.len();
        let mut header = [0; 100];
        file.read_exact_at(&mut header, 0).map_err(|_| fault(path, "it is cut short: it has no header"))?;
        if !header.starts_with(MAGIC) {
            return Err(fault(path, "this is not a database of SQLite's"));
        }
        let page_size = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let usable = page_size.saturating_sub(usize::from(header[20]));
        if !page_size.is_power_of_two() || page_size < 512 || usable < 480 {
            return Err(fault(path, format!("it is damaged: pages of {page_size} B")));
        }
        let encoding = u32::from_be_bytes([header[56], header[57], header[58], header[59]]);
        if encoding > 1 {
            return Err(fault(path, "its text is UTF-16; dump it into a database with UTF-8"));
        }
        let n_pages = u32::try_from(length / page_size as u64).unwrap_or(u32::MAX);
        let mut database =
            Database { path: path.to_owned(), file, page_size, usable, n_pages, tables: vec![] };
        database.refuse_unfinished()?;
        let mut tables = Vec::new();
        database.scan_tree(1, &mut |_, values| {
            let [kind, name, _, root, sql] = values.as_slice() else { return Ok(()) };
            if let (Some("table"), Some(name), Some(root), Some(sql)) =
                (kind.text(), name.text(), root.int(), sql.text())
            {
                let (columns, row_number) = columns(sql);
                let root = u32::try_from(root).map_err(|_| "a table has no root".to_owned())?;
                tables.push(Listed { name: name.to_owned(), root, columns, row_number });
            }
            Ok(())
        })?;
        database.tables = tables;
        Ok(database)
    }

    /// Changes that are not in the file itself.
    fn refuse_unfinished(&self) -> Result<()> {
        let beside = |ending: &str| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let wal = beside("-wal");
        let has_wal = fs::metadata(&wal).is_ok_and(|metadata| metadata.len() > 0);
        let journal = beside("-journal");
        let mut begin = [0; 8];
        let is_hot = File::open(&journal).is_ok_and(|file| file.read_exact_at(&mut begin, 0).is_ok())
            && begin == HOT_JOURNAL;
        let log = if has_wal { wal } else { journal };
        if !has_wal && !is_hot {
            return Ok(());
        }
        Err(fault(
            &self.path,
            format!(
                "there are changes in {} that are not in it yet; end the program that writes it, or copy it with \
                 `sqlite3 FILE '.backup COPY'` and name the copy",
                log.display()
            ),
        ))
    }

    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|listed| listed.name == table)
    }

    /// Calls `row` with these columns of every row of a table.
    pub(super) fn scan(
        &self,
        table: &str,
        names: &[&str],
        row: &mut dyn FnMut(&[Value]) -> Taken,
    ) -> Result<()> {
        let listed = self.tables.iter().find(|listed| listed.name == table);
        let listed = listed.ok_or_else(|| fault(&self.path, format!("there is no table {table:?}")))?;
        let place = |name: &&str| {
            let found = listed.columns.iter().position(|column| column == name);
            found.ok_or_else(|| fault(&self.path, format!("table {table:?} has no column {name:?}")))
        };
        let places = names.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let mut asked = vec![Value::Null; names.len()];
        self.scan_tree(listed.root, &mut |number, values| {
            for (to, &place) in asked.iter_mut().zip(&places) {
                // A column that was added later is missing from older rows.
                *to = match values.get_mut(place) {
                    _ if listed.row_number == Some(place) => Value::Int(number),
                    Some(value) => std::mem::replace(value, Value::Null),
                    None => Value::Null,
                };
            }
            row(&asked)
        })
    }

    /// Goes through the leaves of a tree, from left to right.
    fn scan_tree(&self, root: u32, row: &mut dyn FnMut(i64, &mut Vec<Value>) -> Taken) -> Result<()> {
        let damaged = |what: String| fault(&self.path, format!("it is damaged: {what}"));
        // Pages to be visited, the next one last, with their heights.
        let mut ahead = vec![(root, 0)];
        let mut visited: u64 = 0;
        while let Some((number, height)) = ahead.pop() {
            visited += 1;
            if height > HIGHEST || visited > u64::from(self.n_pages) {
                return Err(damaged("a table goes in a circle".to_owned()));
            }
            let page = self.page(number)?;
            let page = Page { bytes: &page, start: if number == 1 { 100 } else { 0 } };
            match page.kind() {
                Some(Kind::Inner) => {
                    let mut below = page.below().ok_or_else(|| damaged(format!("page {number}")))?;
                    below.reverse();
                    ahead.extend(below.into_iter().map(|page| (page, height + 1)));
                }
                Some(Kind::Leaf) => {
                    for i in 0..page.n_cells().unwrap_or(0) {
                        let (id, payload) = self
                            .payload(&page, i)?
                            .ok_or_else(|| damaged(format!("row {} of page {number} is cut short", i + 1)))?;
                        let mut values =
                            record(&payload).ok_or_else(|| damaged(format!("row {id} cannot be read")))?;
                        row(id, &mut values).map_err(damaged)?;
                    }
                }
                None => return Err(damaged(format!("page {number} is no part of a table"))),
            }
        }
        Ok(())
    }

    fn page(&self, number: u32) -> Result<Vec<u8>> {
        if number == 0 || number > self.n_pages {
            let what =
                format!("it is cut short: page {number} is needed and there are {} whole ones", self.n_pages);
            return Err(fault(&self.path, what));
        }
        let mut page = vec![0; self.page_size];
        let at = u64::from(number - 1) * self.page_size as u64;
        self.file.read_exact_at(&mut page, at).map_err(Error::io("cannot read", &self.path))?;
        Ok(page)
    }

    /// The number and the bytes of a row; None if it goes over the end of its page.
    fn payload(&self, page: &Page<'_>, cell: usize) -> Result<Option<(i64, Vec<u8>)>> {
        let Some((id, length, start)) = page.leaf_cell(cell) else { return Ok(None) };
        if length > LONGEST {
            return Ok(None);
        }
        // How much is in the page itself: "Cell payload overflow" of the format.
        let (usable, length) = (self.usable, length as usize);
        let (most, least) = (usable - 35, (usable - 12) * 32 / 255 - 23);
        let local = if length <= most {
            length
        } else {
            let fitting = least + (length - least) % (usable - 4);
            if fitting <= most { fitting } else { least }
        };
        let Some(here) = page.bytes.get(start..start + local) else { return Ok(None) };
        let mut payload = here.to_vec();
        if local == length {
            return Ok(Some((id, payload)));
        }
        let Some(mut next) = be32(page.bytes, start + local) else { return Ok(None) };
        // Every overflow page brings at least a byte, so that this ends.
        while payload.len() < length {
            let overflow = self.page(next)?;
            next = be32(&overflow, 0).unwrap_or(0);
            let more = (length - payload.len()).min(usable - 4);
            payload.extend_from_slice(&overflow[4..4 + more]);
        }
        Ok(Some((id, payload)))
    }
}

enum Kind {
    Inner,
    Leaf,
}

/// A page of a table.
struct Page<'a> {
    bytes: &'a [u8],
    /// Where its header begins: the first page has that of the file before it.
    start: usize,
}

impl Page<'_> {
    fn kind(&self) -> Option<Kind> {
        match self.bytes.get(self.start)? {
            0x05 => Some(Kind::Inner),
            0x0d => Some(Kind::Leaf),
            _ => None,
        }
    }

    fn n_cells(&self) -> Option<usize> {
        be16(self.bytes, self.start + 3)
    }

    /// The pages below an inner page.
    fn below(&self) -> Option<Vec<u32>> {
        let cells =
            (0..self.n_cells()?).map(|i| be32(self.bytes, be16(self.bytes, self.start + 12 + 2 * i)?));
        cells.chain([be32(self.bytes, self.start + 8)]).collect()
    }

    /// Number of a row, length of its record, and where that begins.
    fn leaf_cell(&self, i: usize) -> Option<(i64, u64, usize)> {
        let mut at = be16(self.bytes, self.start + 8 + 2 * i)?;
        let length = varint(self.bytes, &mut at)?;
        let id = varint(self.bytes, &mut at)?;
        Some((id as i64, length, at))
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// One to nine bytes, seven bits each but for the ninth, which has eight.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for i in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if i == 8 {
            return Some((value << 8) | u64::from(byte));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

/// The values of a row: their types, then what they hold.
fn record(bytes: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let mut held = usize::try_from(varint(bytes, &mut at)?).ok()?;
    let header_end = held;
    let mut values = Vec::new();
    while at < header_end {
        let kind = varint(bytes, &mut at)?;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let own = bytes.get(held..held.checked_add(size)?)?;
        held += size;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Int(signed(own)),
            7 => Value::Float(f64::from_be_bytes(own.try_into().ok()?)),
            8 => Value::Int(0),
            9 => Value::Int(1),
            _ if kind % 2 == 1 => Value::Text(String::from_utf8_lossy(own).into_owned()),
            _ => Value::Blob,
        });
    }
    Some(values)
}

/// A whole number of one to eight bytes, the first of which has the sign.
fn signed(bytes: &[u8]) -> i64 {
    let first = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(first, |value, &byte| (value << 8) | i64::from(byte))
}

/// The columns of a CREATE TABLE, and which of them is the number of the row: the INTEGER PRIMARY KEY.
fn columns(sql: &str) -> (Vec<String>, Option<usize>) {
    let inside = sql.split_once('(').map_or("", |(_, rest)| rest);
    let mut names: Vec<String> = Vec::new();
    let mut integers = Vec::new();
    let mut row_number = None;
    for part in parts(inside) {
        let words: Vec<&str> = part.split_ascii_whitespace().collect();
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let Some(first) = upper.first() else { continue };
        let is_constraint = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"]
            .iter()
            .any(|word| first == word || first.starts_with(&format!("{word}(")));
        let is_key = upper.windows(2).any(|two| two[0] == "PRIMARY" && two[1].starts_with("KEY"));
        if !is_constraint {
            let name = unquoted(words[0]);
            integers.push(upper.get(1).is_some_and(|kind| kind == "INTEGER"));
            if is_key && integers.last() == Some(&true) {
                row_number = Some(names.len());
            }
            names.push(name.to_owned());
        } else if is_key {
            let key = part.split_once('(').map_or("", |(_, rest)| rest.trim_end().trim_end_matches(')'));
            let place = names.iter().position(|name| name == unquoted(key.trim()));
            row_number = place.filter(|&place| integers[place]).or(row_number);
        }
    }
    (names, row_number)
}

fn unquoted(name: &str) -> &str {
    name.trim_matches(['"', '`', '\'', '[', ']'])
}

/// Parts between commas, up to the parenthesis that closes; commas within parentheses or quotes do not count.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0, None, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') if depth > 0 => depth -= 1,
            (None, ')') => {
                parts.push(&text[start..at]);
                return parts;
            }
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_from_the_statement_that_made_the_table() {
        let sql = "CREATE TABLE trial_params (\n\tparam_id INTEGER NOT NULL, \n\ttrial_id INTEGER, \
                   \"a name\" VARCHAR(512), kind VARCHAR(10) CHECK (kind IN ('a, b)', 'c')), \n\tPRIMARY KEY (param_id), \
                   \n\tUNIQUE (trial_id, param_name), FOREIGN KEY(trial_id) REFERENCES trials (trial_id)\n)";
        // A name in quotes with a space in it is cut at the space: no table that is asked for has one.
        let (names, row_number) = columns(sql);
        assert_eq!(names, ["param_id", "trial_id", "a", "kind"]);
        assert_eq!(row_number, Some(0));
        assert_eq!(columns("CREATE TABLE t (x REAL, id INTEGER PRIMARY KEY)").1, Some(1));
        // INT is not INTEGER: such a key is stored.
        assert_eq!(columns("CREATE TABLE t (id INT PRIMARY KEY, x REAL)").1, None);
        assert_eq!(columns("nonsense").0, Vec::<String>::new());
    }

    #[test]
    fn numbers_of_every_length() {
        for (bytes, expected) in [
            (&[0x7f][..], 127),
            (&[0x81, 0x00], 128),
            (&[0xff; 9], u64::MAX),
            (&[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 1 << 57),
        ] {
            let mut at = 0;
            assert_eq!(varint(bytes, &mut at), Some(expected));
            assert_eq!(at, bytes.len());
        }
        assert_eq!(varint(&[0x81], &mut 0), None);
        assert_eq!(signed(&[0xff, 0x7f, 0xff]), -32_769);
        assert_eq!(signed(&[0x00, 0x80]), 128);
        assert_eq!(signed(&i64::MIN.to_be_bytes()), i64::MIN);
    }
}
