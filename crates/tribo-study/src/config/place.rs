//! Where in the file: bytes for the reader, lines and columns for people.

/// Something wrong at a byte of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Complaint {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Complaint {
        Complaint { at, message: message.into() }
    }
}

/// Line and column of a byte, both from 1, the column in characters. Bytes beyond the end are the end; a byte inside a
/// character is that character.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let at = at.min(text.len());
    let before = || text.char_indices().take_while(|(start, c)| start + c.len_utf8() <= at).map(|(_, c)| c);
    let line = 1 + before().filter(|&c| c == '\n').count();
    let column = before().fold(1, |column, c| match c {
        '\n' => 1,
        // A byte order mark is not something people see.
        '\u{feff}' => column,
        _ => column + 1,
    });
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::line_and_column;

    #[test]
    fn columns_count_characters_from_one() {
        let text = "ab\nµ = 1\r\n\u{1F600}x";
        let expected =
            [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (2, 1)), (5, (2, 2)), (11, (3, 1)), (15, (3, 2))];
        for (at, place) in expected {
            assert_eq!(line_and_column(text, at), place, "byte {at}");
        }
        assert_eq!(line_and_column(text, 1_000), (3, 3));
        assert_eq!(line_and_column("", 0), (1, 1));
        assert_eq!(line_and_column("\u{feff}x", 3), (1, 1));
    }
}
