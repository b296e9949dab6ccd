//! The queue: one `squeue` for all jobs, ended ones included as long as SLURM remembers them.

use super::states::{Circumstances, state};
use super::unreachable;
use crate::job::CLAIM_FILE;
use crate::runner::batch::Batch;
use crate::runner::join::Listed;
use crate::runner::{JobRef, Unreachable};
use crate::tag::AttemptId;
use std::collections::BTreeMap;
use std::path::Path;

/// Id (`12`, or `12_3` in an array), state, reason, nodes, name, comment. The comment is last, since it may hold anything.
const FORMAT: &str = "%i|%T|%r|%N|%j|%k";

/// Which attempts have been claimed, looked up only when it matters.
pub(super) struct Claims<'a>(BTreeMap<AttemptId, &'a Path>);

impl<'a> Claims<'a> {
    pub(super) fn of(jobs: impl IntoIterator<Item = &'a JobRef>) -> Claims<'a> {
        Claims(jobs.into_iter().map(|job| (job.id, job.dir.as_path())).collect())
    }

    pub(super) fn has(&self, id: Option<AttemptId>) -> bool {
        id.and_then(|id| self.0.get(&id)).is_some_and(|dir| dir.join(CLAIM_FILE).exists())
    }
}

/// All jobs of the study in the queue.
pub(super) fn list(batch: &mut Batch, requeue: bool, jobs: &[JobRef]) -> Result<Vec<Listed>, Unreachable> {
    let arguments = ["--me", "-h", "-r", "-t", "all", "-o", FORMAT];
    let output = batch.commands.run("squeue", &arguments).map_err(|trouble| unreachable(&trouble))?;
    if !output.success() {
        return Err(unreachable(&output.complaint()));
    }
    let claims = Claims::of(jobs);
    Ok(output.stdout.lines().filter_map(|line| entry(batch, requeue, &claims, line)).collect())
}

/// One line; None for other people's jobs and for what is no job, such as a banner.
fn entry(batch: &mut Batch, requeue: bool, claims: &Claims<'_>, line: &str) -> Option<Listed> {
    let mut fields = line.trim().splitn(6, '|').map(str::trim);
    let mut next = || fields.next();
    let (job, word, reason, nodes, name, comment) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let name = [name, comment].into_iter().find(|name| batch.owns(name))?;
    let index = index(job);
    let claimed = word == "FAILED" && claims.has(batch.attempt(name, index));
    let state = state(word, Circumstances { reason, nodes, requeue, claimed, exit: "" });
    Some(Listed { job: job.to_owned(), name: name.to_owned(), index, state })
}

/// The index in `12_3`.
pub(super) fn index(job: &str) -> Option<usize> {
    job.split_once('_').and_then(|(_, index)| index.parse().ok())
}
