//! What a command prints, kept within bounds: the first `capture` bytes and the last sixteenth of that.
//!
//! The head goes to the file at once, so that it can be watched. What comes after it goes round in a ring, whose content is
//! appended at the end, after a line saying how many bytes are missing. Ten gigabytes of output cost the ring's memory and
//! no more. A file that cannot be written to (full disk) does not stop the command: its bytes count as missing.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The tail is the head divided by this.
const TAIL: u64 = 16;
const GAP: &str = "[tribo: ";

/// Whether a line of a captured log is the one that marks the missing part.
pub(super) fn is_gap(line: &str) -> bool {
    line.starts_with(GAP) && line.ends_with("left out here]")
}

/// One stream of a command.
pub(super) struct Capture {
    file: Option<File>,
    head_left: u64,
    ring: Vec<u8>,
    ring_size: usize,
    /// Where the next byte goes once the ring is full.
    ring_next: usize,
    left_out: u64,
}

impl Capture {
    /// Captures into a new file.
    pub(super) fn create(path: &Path, limit: u64) -> io::Result<Capture> {
        let ring_size = usize::try_from(limit / TAIL).unwrap_or(usize::MAX);
        let file = Some(File::create(path)?);
        Ok(Capture { file, head_left: limit, ring: Vec::new(), ring_size, ring_next: 0, left_out: 0 })
    }

    /// Takes what was read.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let (head, rest) =
            bytes.split_at(bytes.len().min(usize::try_from(self.head_left).unwrap_or(usize::MAX)));
        self.head_left -= head.len() as u64;
        if !head.is_empty() && self.file.as_mut().is_none_or(|file| file.write_all(head).is_err()) {
            self.file = None;
            self.left_out += head.len() as u64;
        }
        self.feed_ring(rest);
    }

    fn feed_ring(&mut self, bytes: &[u8]) {
        let keep = bytes.len().min(self.ring_size);
        self.left_out += (bytes.len() - keep) as u64;
        let mut rest = &bytes[bytes.len() - keep..];
        let room = rest.len().min(self.ring_size - self.ring.len());
        self.ring.extend_from_slice(&rest[..room]);
        rest = &rest[room..];
        self.left_out += rest.len() as u64;
        while !rest.is_empty() {
            let length = rest.len().min(self.ring_size - self.ring_next);
            self.ring[self.ring_next..self.ring_next + length].copy_from_slice(&rest[..length]);
            self.ring_next = (self.ring_next + length) % self.ring_size;
            rest = &rest[length..];
        }
    }

    /// Appends the tail. The error is a file that could not be written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Err(io::Error::other("the file could not be written"));
        };
        if self.left_out > 0 {
            write!(file, "\n{GAP}{} bytes left out here]\n", self.left_out)?;
        }
        file.write_all(&self.ring[self.ring_next..])?;
        file.write_all(&self.ring[..self.ring_next])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(limit: u64, pieces: &[Vec<u8>]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        let mut capture = Capture::create(&path, limit).unwrap();
        pieces.iter().for_each(|piece| capture.feed(piece));
        capture.finish().unwrap();
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn the_middle_is_left_out() {
        let text = captured(32, &[b"0123456789".repeat(10)]);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "01234567890123456789012345678901\n[tribo: 66 bytes left out here]\n89");
        assert!(is_gap(text.lines().nth(1).unwrap()));
        assert_eq!(captured(0, &[b"abc".to_vec()]), b"\n[tribo: 3 bytes left out here]\n");
    }

    proptest! {
        #[test]
        fn head_and_tail_whatever_the_pieces(
            limit in 0u64..200,
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
        ) {
            let all = pieces.concat();
            let head = all.len().min(limit as usize);
            let tail = (all.len() - head).min(limit as usize / 16);
            let left_out = all.len() - head - tail;
            let mut expected = all[..head].to_vec();
            if left_out > 0 {
                expected.extend(format!("\n[tribo: {left_out} bytes left out here]\n").bytes());
            }
            expected.extend(&all[all.len() - tail..]);
            prop_assert_eq!(captured(limit, &pieces), expected);
        }
    }
}
