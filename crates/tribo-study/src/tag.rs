//! Names: a study's id, an attempt, and the tag that carries both through a scheduler.
//!
//! A tag is the name of the attempt's job and the key that makes submission idempotent: a job found in the queue under
//! the tag is that attempt, whoever submitted it. 15 characters, a letter first, fit SLURM, PBS Pro and old PBS:
//!   s + 6 of the study + e + 5 of the trial + a + 1 of the attempt, all in base 36, e.g. `sk7f2qae000fza1`.

use serde::{Deserialize, Serialize};
use std::fmt;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Six base-36 digits, drawn when the study is created.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StudyId(String);

impl StudyId {
    /// The id made of 64 random bits.
    pub fn from_bits(bits: u64) -> StudyId {
        StudyId(base36(bits % 36u64.pow(6), 6))
    }

    /// The six digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StudyId {
    type Error = String;
    fn try_from(text: String) -> Result<StudyId, String> {
        match text.len() == 6 && text.bytes().all(|b| DIGITS.contains(&b)) {
            true => Ok(StudyId(text)),
            false => Err(format!("{text:?} is not a study id (six digits of base 36)")),
        }
    }
}

impl From<StudyId> for String {
    fn from(id: StudyId) -> String {
        id.0
    }
}

/// One attempt at one trial; attempts count from 1. Attempt 0 is no attempt but a pilot: a job that takes attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId {
    /// The trial.
    pub trial: u64,
    /// 1 for the first attempt.
    pub attempt: u32,
}

impl AttemptId {
    /// The pilot with this number.
    pub fn pilot(number: u64) -> AttemptId {
        AttemptId { trial: number, attempt: 0 }
    }

    /// Whether it is a pilot.
    pub fn is_pilot(self) -> bool {
        self.attempt == 0
    }

    /// The attempt that is written like this.
    pub fn parse(text: &str) -> Option<AttemptId> {
        let (trial, attempt) = text.split_once(".a")?;
        let id = AttemptId { trial: trial.parse().ok()?, attempt: attempt.parse().ok()? };
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}.a{}", self.trial, self.attempt)
    }
}

/// The job name of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tag(String);

impl Tag {
    /// Trials and attempts from these on have no tag.
    pub const TRIALS: u64 = 36u64.pow(5);
    /// The largest attempt that has a tag.
    pub const ATTEMPTS: u32 = 35;

    /// The tag of an attempt; None beyond 60 million trials or 35 attempts.
    pub fn new(study: &StudyId, id: AttemptId) -> Option<Tag> {
        (id.trial < Tag::TRIALS && id.attempt <= Tag::ATTEMPTS).then(|| {
            let (trial, attempt) = (base36(id.trial, 5), base36(u64::from(id.attempt), 1));
            Tag(format!("s{}e{trial}a{attempt}", study.as_str()))
        })
    }

    /// The name of the `number`-th job array of a study, `s` + study + `y` + number: no attempt has it.
    pub fn array(study: &StudyId, number: u64) -> Tag {
        Tag(format!("s{}y{}", study.as_str(), base36(number % 36u64.pow(7), 7)))
    }

    /// What all job names of a study begin with.
    pub fn prefix(study: &StudyId) -> String {
        format!("s{}", study.as_str())
    }

    /// The attempt behind a job name, if it is a tag of this study.
    pub fn parse(study: &StudyId, name: &str) -> Option<AttemptId> {
        let rest = name.strip_prefix('s')?.strip_prefix(study.as_str())?.strip_prefix('e')?;
        if rest.len() != 7 || !rest.is_ascii() {
            return None;
        }
        // The trial may hold the letter a itself: the separator is the sixth character.
        let (trial, attempt) = (rest.as_bytes()[5] == b'a').then(|| (&rest[..5], &rest[6..]))?;
        let id = AttemptId {
            trial: u64::from_str_radix(trial, 36).ok()?,
            attempt: u32::from_str_radix(attempt, 36).ok()?,
        };
        Some(id)
    }

    /// The study of the attempt.
    pub fn study(&self) -> Option<StudyId> {
        StudyId::try_from(self.0.get(1..7)?.to_owned()).ok()
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn base36(mut number: u64, width: usize) -> String {
    let mut digits = vec![b'0'; width];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number % 36) as usize];
        number /= 36;
    }
    digits.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_fifteen_characters_and_read_back() {
        let study = StudyId::from_bits(0x1234_5678_9abc);
        for (trial, attempt) in [(0, 1), (10, 10), (371, 35), (Tag::TRIALS - 1, 2), (0xa0a0a, 10), (12, 0)] {
            let id = AttemptId { trial, attempt };
            let tag = Tag::new(&study, id).unwrap();
            assert_eq!(tag.as_str().len(), 15);
            assert_eq!(AttemptId::parse(&id.to_string()), Some(id));
            assert_eq!(Tag::parse(&study, tag.as_str()), Some(id), "{tag}");
            assert_eq!(tag.study().as_ref(), Some(&study));
            assert_eq!(Tag::parse(&StudyId::from_bits(1), tag.as_str()), None);
        }
        assert_eq!(Tag::new(&study, AttemptId { trial: Tag::TRIALS, attempt: 1 }), None);
        assert_eq!(Tag::new(&study, AttemptId { trial: 1, attempt: 36 }), None);
        assert_eq!(Tag::parse(&study, Tag::array(&study, 3).as_str()), None);
        assert_eq!(Tag::array(&study, 3).as_str().len(), 15);
    }
}
