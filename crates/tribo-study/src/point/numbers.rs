//! The text of a point as its numbers and what stands between them.
//!
//! A million points of one study are written alike: what stands between their numbers is kept once for all of them, and each
//! has eight bytes for a number instead of twenty digits and a name. Any JSON can be kept so; where a text is of another
//! kind than the few that were seen before, as with many categories, it stays text.
//!
//! The numbers come back with the same bits, integers as integers; how many digits they were written with is forgotten.

use std::fmt::Write;
use std::sync::Arc;

/// Kinds of texts that are told apart.
const KINDS: usize = 16;
/// Numbers at most, each of which may be an integer.
const MOST: usize = 64;
/// Integers up to here are numbers without loss.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// What stands around the numbers of a text: one more than those.
type Between = Arc<Vec<Box<str>>>;

/// The kinds of texts that were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds(Vec<Between>);

/// A text by its numbers.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    between: Between,
    /// Bits of those that are integers.
    whole: u64,
    values: Box<[f64]>,
}

/// The same text, to the bits of its numbers.
impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        let bits = |numbers: &Numbers| numbers.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        self.between == other.between && self.whole == other.whole && bits(self) == bits(other)
    }
}

impl Numbers {
    /// The numbers of a JSON text; None if it is not of a kind that is worth it.
    pub(super) fn of(text: &str, kinds: &mut Kinds) -> Option<Numbers> {
        for between in &kinds.0 {
            if let Some((values, whole)) = read(text, between) {
                return Some(Numbers { between: Arc::clone(between), whole, values });
            }
        }
        if kinds.0.len() >= KINDS {
            return None;
        }
        let between: Between = Arc::new(split(text));
        let (values, whole) = read(text, &between)?;
        kinds.0.push(Arc::clone(&between));
        Some(Numbers { between, whole, values })
    }

    /// The numbers, if this is what stands between them.
    pub(super) fn values_between(&self, between: &[String]) -> Option<&[f64]> {
        let alike = self.between.len() == between.len()
            && self.between.iter().zip(between).all(|(own, other)| **own == **other);
        alike.then_some(&*self.values)
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (k, between) in self.between.iter().enumerate() {
            text.push_str(between);
            // Writing to a string does not fail, and the numbers are finite.
            let _ = match self.values.get(k) {
                Some(value) if self.whole & (1 << k) != 0 => write!(text, "{}", *value as i64),
                Some(value) => write!(text, "{}", serde_json::Value::from(*value)),
                None => Ok(()),
            };
        }
        text
    }
}

/// The numbers of a text between these pieces, and which of them are integers.
fn read(text: &str, between: &[Box<str>]) -> Option<(Box<[f64]>, u64)> {
    let n = between.len().checked_sub(1).filter(|n| (1..=MOST).contains(n))?;
    let (mut rest, mut whole, mut values) = (text, 0, Vec::with_capacity(n));
    for (k, before) in between[..n].iter().enumerate() {
        rest = rest.strip_prefix(&**before)?;
        let (mut end, mut is_whole) = (0, true);
        for &byte in rest.as_bytes() {
            match byte {
                b'0'..=b'9' | b'-' | b'+' => {}
                b'.' | b'e' | b'E' => is_whole = false,
                _ => break,
            }
            end += 1;
        }
        let (digits, after) = rest.split_at(end);
        let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
        if is_whole {
            // A zero with a sign would lose it.
            (value.abs() < WHOLE && digits != "-0").then_some(())?;
            whole |= 1 << k;
        }
        values.push(value);
        rest = after;
    }
    (rest == &*between[n]).then(|| (values.into(), whole))
}

/// What stands between the numbers of a text. Digits in strings belong to these.
fn split(text: &str) -> Vec<Box<str>> {
    let (mut between, mut piece, mut in_string, mut escaped) = (vec![], String::new(), false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !in_string && is_of_number(c) && !c.is_alphabetic() {
            while chars.next_if(|c| is_of_number(*c)).is_some() {}
            between.push(std::mem::take(&mut piece).into_boxed_str());
            continue;
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        piece.push(c);
    }
    between.push(piece.into_boxed_str());
    between
}

fn is_of_number(c: char) -> bool {
    matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_from_its_numbers() {
        let mut kinds = Kinds::default();
        let texts = [
            r#"{"x":0.1,"n":-3,"v":[5e-324,1.0]}"#,
            r#"{"x":30000000000000004.0,"n":0,"v":[-0.0,1e300]}"#,
            r#"{"x":1e-7}"#,
            r#"{"a \"1\" 2":0.5,"kind":"5e3\\"}"#,
        ];
        for text in texts {
            let numbers = Numbers::of(text, &mut kinds).unwrap();
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(&numbers.text()), read(text));
            assert_eq!(Numbers::of(&numbers.text(), &mut kinds), Some(numbers));
        }
        assert_eq!(kinds.0.len(), 3, "{kinds:?}");
    }

    #[test]
    fn what_would_be_lost_stays_text() {
        let mut kinds = Kinds::default();
        for text in [r#"{"x":-0}"#, r#"{"x":9007199254740993}"#, r#"{"x":1e400}"#, r#"{"x":"a"}"#, "{}"] {
            assert_eq!(Numbers::of(text, &mut kinds), None, "{text}");
        }
        let many = format!("[{}0]", "1,".repeat(MOST));
        assert_eq!(Numbers::of(&many, &mut kinds), None);
        for k in 0..KINDS {
            assert!(Numbers::of(&format!("{{\"k{k}\":1.5}}"), &mut kinds).is_some());
        }
        assert_eq!(Numbers::of(r#"{"more":1.5}"#, &mut kinds), None);
    }
}
