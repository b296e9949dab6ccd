//! CSV as RFC 4180 has it: written with plain line feeds, read with either line ending.
//!
//! Numbers are written with the digits that read back to the same bits. Fields are quoted only where they must be.

use super::point::Cell;
use std::io::{self, Write};

/// A cell as it stands in a file.
pub fn field(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        // `{:?}` is the shortest text that reads back, with an exponent where digits would be zeros only.
        Cell::Float(value) => format!("{value:?}"),
        Cell::Text(text) => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) || text != text.trim() {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Writes the header.
pub fn write_header<'a>(out: &mut dyn Write, names: impl Iterator<Item = &'a str>) -> io::Result<()> {
    write_fields(out, names.map(quoted))
}

/// Writes one row.
pub fn write_row(out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
    write_fields(out, cells.iter().map(field))
}

fn write_fields(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(field.as_bytes())?;
    }
    out.write_all(b"\n")
}

/// A row of a file, with the line it begins on, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The line.
    pub line: usize,
    /// Its fields.
    pub fields: Vec<String>,
}

/// Reads a whole file. Empty lines are left out. The error has the line of a quote that is never closed, or that is followed
/// by something else than a comma.
pub fn parse(text: &str) -> Result<Vec<Record>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = Vec::new();
    let mut characters = text.chars().peekable();
    let mut line = 1;
    while characters.peek().is_some() {
        let begins = line;
        let mut fields = Vec::new();
        loop {
            let mut field = String::new();
            if characters.next_if_eq(&'"').is_some() {
                let opened = line;
                loop {
                    match characters.next() {
                        Some('"') if characters.next_if_eq(&'"').is_some() => field.push('"'),
                        Some('"') => break,
                        Some(c) => {
                            line += usize::from(c == '\n');
                            field.push(c);
                        }
                        None => return Err(format!("line {opened}: a quote is opened and never closed")),
                    }
                }
                if let Some(c) = characters.peek().filter(|c| !matches!(c, ',' | '\n' | '\r')) {
                    return Err(format!("line {line}: {c:?} follows a closing quote"));
                }
            } else {
                while let Some(c) = characters.next_if(|c| !matches!(c, ',' | '\n' | '\r')) {
                    field.push(c);
                }
            }
            fields.push(field);
            if characters.next_if_eq(&',').is_none() {
                break;
            }
        }
        characters.next_if_eq(&'\r');
        characters.next_if_eq(&'\n');
        line += 1;
        if fields.iter().any(|field| !field.is_empty()) || fields.len() > 1 {
            records.push(Record { line: begins, fields });
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let cells = [
            Cell::Float(0.1 + 0.2),
            Cell::Float(5e-324),
            Cell::Float(-1.797_693_134_862_315_7e308),
            Cell::Int(-7),
            Cell::Null,
            Cell::Text("he said \"no\",\nand left ".into()),
        ];
        let mut bytes = Vec::new();
        write_header(&mut bytes, ["a", "b,c"].into_iter()).unwrap();
        write_row(&mut bytes, &cells).unwrap();
        let records = parse(std::str::from_utf8(&bytes).unwrap()).unwrap();
        assert_eq!(records[0].fields, ["a", "b,c"]);
        assert_eq!(records[1].fields[5], "he said \"no\",\nand left ");
        assert_eq!(records[1].fields[4], "");
        for (text, cell) in records[1].fields.iter().zip(&cells).take(3) {
            assert_eq!(Cell::Float(text.parse().unwrap()), *cell, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_through_quotes_and_both_endings() {
        let records = parse("\u{feff}x,y\r\n\"1\n2\",3\r\n\r\n4,5").unwrap();
        let lines: Vec<usize> = records.iter().map(|record| record.line).collect();
        assert_eq!(lines, [1, 2, 5]);
        assert_eq!(records[1].fields, ["1\n2", "3"]);
        assert_eq!(records[2].fields, ["4", "5"]);
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn broken_quotes_have_their_line() {
        assert_eq!(parse("a\n\"b").unwrap_err(), "line 2: a quote is opened and never closed");
        assert_eq!(parse("a\n\"b\"c").unwrap_err(), "line 2: 'c' follows a closing quote");
    }
}
