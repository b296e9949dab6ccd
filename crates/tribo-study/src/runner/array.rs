//! Job arrays: many attempts in one submission.
//!
//! The elements of an array have one job name, the array's tag, and are told apart by their index. Which attempt an index
//! is stands in a file, `arrays/TAG.json`, written before the array is submitted. The number in the tag is made from the
//! smallest attempt of the array: no counter has to survive a restart, and since an attempt that may have been submitted
//! is never submitted again, no two arrays in the queue have the same.
//!
//! Here also is how a list of attempts is cut into arrays and single jobs. An array is accepted or refused as a whole,
//! so when the scheduler says that it is too much, half of it is tried, down to a single job.

use super::{Attempt, Submission};
use crate::job::{Array, JOB_VERSION};
use crate::tag::{StudyId, Tag};

/// From how many attempts on an array is worth it: hpc sites count submissions, and arrays cost an extra file.
pub const SMALLEST_ARRAY: usize = 4;

/// How many submissions so many attempts are, where arrays may be large.
pub fn calls_for(attempts: usize) -> usize {
    if attempts < SMALLEST_ARRAY { attempts } else { 1 }
}

/// The array of these attempts; None if there are none.
pub(crate) fn array(study: &StudyId, attempts: &[Attempt]) -> Option<Array> {
    let first = attempts.iter().map(|attempt| attempt.id).min()?;
    // Attempts are below 36 and trials below 36^5, so the number fits the tag's seven digits.
    let tag = Tag::array(study, first.trial * 36 + u64::from(first.attempt));
    let elements = attempts.iter().map(|attempt| attempt.id).collect();
    Some(Array { version: JOB_VERSION, tag, elements })
}

/// Submits attempts in arrays of at most `largest`, and singly when few are left. `submit` submits one group, all or
/// nothing, and gives the id of the whole; `element` makes an element's id of it. After the first trouble nothing else
/// is sent: what troubles one submission troubles the next.
pub(crate) fn submit_in_groups(
    attempts: &[Attempt],
    largest: usize,
    element: impl Fn(&str, usize) -> String,
    mut submit: impl FnMut(&[Attempt]) -> Submission,
) -> Vec<Submission> {
    let mut outcomes = Vec::with_capacity(attempts.len());
    let mut size = largest;
    while outcomes.len() < attempts.len() {
        let rest = &attempts[outcomes.len()..];
        let size_now = match rest.len().min(size) {
            size if size >= SMALLEST_ARRAY => size,
            _ => 1,
        };
        match submit(&rest[..size_now]) {
            Submission::Accepted(id) if size_now == 1 => outcomes.push(Submission::Accepted(id)),
            Submission::Accepted(id) => {
                outcomes.extend((0..size_now).map(|k| Submission::Accepted(element(&id, k))));
            }
            Submission::Limited(_) if size_now > 1 => size = size_now / 2,
            Submission::Ambiguous(reason) => {
                outcomes.extend((0..size_now).map(|_| Submission::Ambiguous(reason.clone())));
                let not_tried = format!("not tried after {reason}");
                outcomes.resize(attempts.len(), Submission::Unavailable(not_tried));
            }
            trouble => outcomes.resize(attempts.len(), trouble),
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::AttemptId;
    use std::path::PathBuf;

    fn attempts(n: u64) -> Vec<Attempt> {
        let study = StudyId::from_bits(1);
        let attempt = |trial| {
            let id = AttemptId { trial, attempt: 1 };
            Attempt {
                id,
                tag: Tag::new(&study, id).unwrap(),
                dir: PathBuf::new(),
                avoid: Vec::new(),
                memory_kills: 0,
            }
        };
        (0..n).map(attempt).collect()
    }

    /// Submits to a queue that has room for `room` more and takes no array above `largest`; also the sizes tried.
    fn submit(n: u64, largest: usize, mut room: usize) -> (Vec<bool>, Vec<usize>) {
        let mut sizes = Vec::new();
        let outcomes = submit_in_groups(
            &attempts(n),
            largest,
            |id, k| format!("{id}_{k}"),
            |group| {
                sizes.push(group.len());
                match group.len() <= room {
                    true => {
                        room -= group.len();
                        Submission::Accepted("7".into())
                    }
                    false => Submission::Limited("full".into()),
                }
            },
        );
        (outcomes.iter().map(|outcome| matches!(outcome, Submission::Accepted(_))).collect(), sizes)
    }

    #[test]
    fn few_attempts_go_singly_and_many_in_arrays() {
        assert_eq!(submit(3, 1000, 99).1, [1, 1, 1]);
        assert_eq!(submit(20, 1000, 99).1, [20]);
        assert_eq!(submit(20, 8, 99).1, [8, 8, 4]);
        assert_eq!(submit(5, 0, 99).1, [1; 5]);
    }

    #[test]
    fn a_full_queue_takes_what_it_can() {
        let (accepted, sizes) = submit(20, 1000, 11);
        assert_eq!(sizes, [20, 10, 10, 5, 1, 1]);
        assert_eq!(accepted.iter().filter(|accepted| **accepted).count(), 11);
        assert_eq!(accepted.len(), 20);
    }

    #[test]
    fn after_trouble_nothing_else_is_sent() {
        let mut calls = 0;
        let mut once = |outcome: Submission| {
            submit_in_groups(
                &attempts(10),
                5,
                |id, _| id.to_owned(),
                |_| {
                    calls += 1;
                    outcome.clone()
                },
            )
        };
        let unavailable = once(Submission::Unavailable("down".into()));
        assert_eq!(unavailable, vec![Submission::Unavailable("down".into()); 10]);
        let ambiguous = once(Submission::Ambiguous("timed out".into()));
        assert_eq!(ambiguous[4], Submission::Ambiguous("timed out".into()));
        assert_eq!(ambiguous[5], Submission::Unavailable("not tried after timed out".into()));
        assert_eq!(calls, 2);
    }

    #[test]
    fn arrays_are_named_by_their_smallest_attempt() {
        let study = StudyId::from_bits(1);
        let all = attempts(9);
        let list = array(&study, &all[4..]).unwrap();
        assert_eq!(list.tag, Tag::array(&study, 4 * 36 + 1));
        assert_eq!(list.elements[2], AttemptId { trial: 6, attempt: 1 });
        let text = serde_json::to_string(&list).unwrap();
        let start =
            format!("{{\"version\":1,\"tag\":\"{}\",\"elements\":[{{\"trial\":4,\"attempt\":1}},", list.tag);
        assert!(text.starts_with(&start), "{text}");
        assert_eq!(serde_json::from_str::<Array>(&text).unwrap(), list);
        assert_eq!(array(&study, &[]), None);
    }
}
