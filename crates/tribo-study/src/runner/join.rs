//! Joins what a scheduler lists with what the journal knows, by job name.
//!
//! Names decide, not ids: ids are used again, and a submission that was never acknowledged has none. If an attempt is in
//! the queue more than once, one job is kept: the one that runs, for it holds the claim, else the one submitted first.

use super::batch::Batch;
use super::{JobRef, Left, Sighting, State};
use crate::tag::AttemptId;
use std::collections::{BTreeMap, BTreeSet};

/// One job of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The scheduler's id.
    pub(crate) job: String,
    /// The job name.
    pub(crate) name: String,
    /// Its index in the array of that name.
    pub(crate) index: Option<usize>,
    /// Its state.
    pub(crate) state: State,
}

/// What a listing means.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// The jobs that were asked for and found, in the order they were asked for.
    pub(crate) sightings: Vec<Sighting>,
    /// Ids of active jobs that are one too many.
    pub(crate) surplus: Vec<String>,
}

impl Joined {
    /// The jobs that were asked for and not found.
    pub(crate) fn missing<'a>(&self, jobs: &'a [JobRef]) -> Vec<&'a JobRef> {
        let found: BTreeSet<AttemptId> = self.sightings.iter().map(|sighting| sighting.id).collect();
        jobs.iter().filter(|job| !found.contains(&job.id)).collect()
    }
}

/// Joins a listing with the jobs that were asked for.
pub(crate) fn join(batch: &mut Batch, jobs: &[JobRef], listed: Vec<Listed>) -> Joined {
    let wanted: BTreeSet<AttemptId> = jobs.iter().map(|job| job.id).collect();
    let mut joined = Joined::default();
    let mut found: BTreeMap<AttemptId, Vec<Listed>> = BTreeMap::new();
    for entry in listed {
        match batch.attempt(&entry.name, entry.index) {
            Some(id) if wanted.contains(&id) => found.entry(id).or_default().push(entry),
            _ => {}
        }
    }
    for job in jobs {
        let Some(mut entries) = found.remove(&job.id) else { continue };
        entries.sort_by_key(|entry| (standing(&entry.state), order(&entry.job)));
        let mut entries = entries.into_iter();
        if let Some(Listed { job: id, state, .. }) = entries.next() {
            joined.sightings.push(Sighting { id: job.id, job: id, state });
        }
        joined.surplus.extend(entries.filter(|entry| active(&entry.state)).map(|entry| entry.job));
    }
    joined
}

/// Those jobs of a listing that are queued or running.
pub(crate) fn left(listed: Vec<Listed>) -> Vec<Left> {
    let listed = listed.into_iter().filter(|entry| active(&entry.state));
    listed.map(|Listed { job, name, .. }| Left { job, name }).collect()
}

fn active(state: &State) -> bool {
    !matches!(state, State::Ended(_))
}

fn standing(state: &State) -> u8 {
    match state {
        State::Running | State::Suspended => 0,
        State::Queued(_) | State::Held(_) | State::Impossible(_) | State::Unknown(_) => 1,
        State::Ended(_) => 2,
    }
}

/// The numbers in an id, in their order: `12_3`, `12[3].server`.
fn order(job: &str) -> Vec<u64> {
    job.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_as_numbers() {
        assert!(order("9") < order("10"));
        assert!(order("9_12") < order("10_3"));
        assert!(order("12[3].pbs1") < order("12[20].pbs1"));
    }
}
