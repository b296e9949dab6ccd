//! Whole records in the bytes of a journal, wherever they are.

use std::io::{self, Read};

/// What stands at a place of the file.
pub(super) enum Found<'a> {
    /// The JSON of a whole record.
    Record(&'a [u8]),
    /// None, and why.
    Nothing(&'static str),
}

/// A window that moves over the file.
pub(super) struct Scanner<R> {
    input: io::Take<R>,
    buffer: Vec<u8>,
    /// Where in the buffer the next record is looked for.
    start: usize,
    /// Where in the file the buffer begins.
    base: u64,
    pub(super) length: u64,
    /// Where in the file the last whole record ended.
    pub(super) whole: u64,
}

impl<R: Read> Scanner<R> {
    const CHUNK: u64 = 1 << 18;

    /// A window over the bytes from `base`, where `input` stands and a record begins, up to `length`.
    pub(super) fn new(input: R, base: u64, length: u64) -> Scanner<R> {
        let input = input.take(length.saturating_sub(base));
        Scanner { input, buffer: vec![], start: 0, base, length, whole: base }
    }

    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Has `count` bytes in the window, or all that are left.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if self.buffer.len() - self.start >= count {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.base += self.start as u64;
        self.start = 0;
        while self.buffer.len() < count {
            if self.input.by_ref().take(Self::CHUNK).read_to_end(&mut self.buffer)? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The record at this place, and on to the next.
    pub(super) fn next(&mut self) -> io::Result<Found<'_>> {
        // Checksum, length and two spaces.
        self.fill(8 + 1 + 19 + 1)?;
        let (checksum, length, header) = match parse_header(&self.buffer[self.start..]) {
            Ok(header) => header,
            Err(what) => return Ok(Found::Nothing(what)),
        };
        // A length that is damaged must not make us read, or keep, more than there is.
        let total = length.saturating_add(header as u64 + 1);
        if total > self.length - self.offset() {
            return Ok(Found::Nothing("a record is longer than the file"));
        }
        let total = total as usize;
        self.fill(total)?;
        let Some(line) = self.buffer.get(self.start..self.start + total) else {
            return Ok(Found::Nothing("the file became shorter while it was read"));
        };
        let json = &line[header..total - 1];
        if line[total - 1] != b'\n' {
            return Ok(Found::Nothing("a record does not end where it should"));
        }
        if crc32c::crc32c(json) != checksum {
            return Ok(Found::Nothing("a checksum does not match"));
        }
        self.start += total;
        self.whole = self.base + self.start as u64;
        Ok(Found::Record(&self.buffer[self.start - total + header..self.start - 1]))
    }

    /// Goes on to the next whole record, at whatever byte it begins: damage may have hit a line's end as well. False if
    /// there is none.
    pub(super) fn find(&mut self) -> io::Result<bool> {
        let whole = self.whole;
        let mut found = false;
        while !found && self.offset() < self.length {
            self.fill(1)?;
            if self.start == self.buffer.len() {
                break;
            }
            self.start += 1;
            let before = self.offset();
            found = matches!(self.next()?, Found::Record(_));
            // Back to where it begins: the window still has it.
            self.start -= (self.offset() - before) as usize;
        }
        self.whole = whole;
        Ok(found)
    }
}

/// Checksum, length of the JSON, and where it begins. Only what `encode` writes is taken.
fn parse_header(bytes: &[u8]) -> std::result::Result<(u32, u64, usize), &'static str> {
    let digits = bytes.get(..8).ok_or("the file ends within a checksum")?;
    let mut checksum = 0;
    for &digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err("there is no checksum"),
        };
        checksum = checksum << 4 | u32::from(value);
    }
    if bytes.get(8) != Some(&b' ') {
        return Err("there is no space after a checksum");
    }
    let (mut length, mut at) = (0, 9);
    while let Some(&digit @ b'0'..=b'9') = bytes.get(at)
        && at < 9 + 18
    {
        length = 10 * length + u64::from(digit - b'0');
        at += 1;
    }
    let leading_zero = bytes.get(9) == Some(&b'0');
    match at == 9 || leading_zero || bytes.get(at) != Some(&b' ') {
        true => Err("there is no length"),
        false => Ok((checksum, length, at + 1)),
    }
}
