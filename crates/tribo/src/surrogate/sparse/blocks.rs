//! Cuts the data into blocks, spreads them over threads, and sums in a fixed order.
//!
//! A lane is a run of consecutive blocks with one accumulator. Their number depends on the sizes of the problem
//! only, never on the threads, and the lanes are joined in order: the same bits at any number of threads. Inside
//! a block all linear algebra is sequential. Two independent tasks lose nothing when another process takes a
//! core; a barrier inside every product would.

use super::super::data::Data;
use super::super::kernel::Scaled;
use super::super::source::Feed;
use super::super::watch::{Watch, go_on};
use super::{Model, Rows};
use crate::error::Result;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Points in a block. Three buffers of block x m doubles must fit the cache next to m x m; measured flat from
/// 512 to 2048 at m = 300, and slower beyond.
pub(super) const BLOCK: usize = 1024;
/// Lanes at most: enough to keep 32 threads busy, few enough that joining them costs nothing.
const MOST_LANES: usize = 32;
/// Doubles in all accumulators together at most: 64 MB.
const MOST_ACCUMULATED: usize = 8 << 20;

/// Consecutive rows of the data.
pub(super) struct Block<'b> {
    /// Which.
    pub(super) rows: Range<usize>,
    /// Their inputs, [b, d].
    pub(super) x: MatRef<'b, f64>,
    /// Their outputs.
    pub(super) y: &'b [f64],
    /// How many rows each stands for; empty if one.
    pub(super) counts: &'b [f64],
    /// Σ (yᵢ - y)² over these; empty if zero.
    pub(super) spreads: &'b [f64],
    /// ρ of each, whose noise variance is ρ σ²; empty if all are 1.
    pub(super) noise: &'b [f64],
}

impl Block<'_> {
    /// c/ρ of each row, what it weighs in the quadratic forms under a constant Λ; empty if all are 1.
    pub(super) fn precisions(&self) -> Cow<'_, [f64]> {
        match (self.counts, self.noise) {
            (counts, []) => Cow::Borrowed(counts),
            ([], noise) => noise.iter().map(|r| 1.0 / r).collect(),
            (counts, noise) => counts.iter().zip(noise).map(|(count, r)| count / r).collect(),
        }
    }

    /// c of row i.
    pub(super) fn count(&self, i: usize) -> f64 {
        self.counts.get(i).copied().unwrap_or(1.0)
    }

    /// ρ of row i.
    pub(super) fn noise(&self, i: usize) -> f64 {
        self.noise.get(i).copied().unwrap_or(1.0)
    }

    /// Σ (yᵢ - y)² over the rows that row i stands for.
    pub(super) fn spread(&self, i: usize) -> f64 {
        self.spreads.get(i).copied().unwrap_or(0.0)
    }
}

/// Where a lane's blocks come from.
enum Blocks<'a> {
    Held(Data<'a>),
    Read(Feed<'a>),
}

impl<'a> Blocks<'a> {
    /// Those from row `start` on.
    fn from(rows: Rows<'a>, start: usize) -> Result<Blocks<'a>> {
        match rows {
            Rows::Held(data) => Ok(Blocks::Held(data)),
            Rows::Streamed(source) => Ok(Blocks::Read(Feed::new(source, start, BLOCK)?)),
        }
    }

    /// The next one, which is `rows`.
    fn next(&mut self, rows: Range<usize>) -> Result<Block<'_>> {
        match self {
            Blocks::Held(data) => {
                let part = |all: &'a [f64]| if all.is_empty() { all } else { &all[rows.clone()] };
                let (counts, spreads) = (part(data.counts()), part(data.spreads()));
                let noise = part(data.noise());
                let (x, y) = (data.x().subrows(rows.start, rows.len()), &data.y()[rows.clone()]);
                Ok(Block { rows, x, y, counts, spreads, noise })
            }
            Blocks::Read(feed) => {
                let (x, y) = feed.read(rows.len())?;
                Ok(Block { rows, x, y, counts: &[], spreads: &[], noise: &[] })
            }
        }
    }
}

/// Buffers of one running task, reused from block to block and pass to pass.
pub(super) struct Scratch {
    /// The block's points, scaled.
    pub(super) x: Scaled,
    /// Kfu, then whitened W, [BLOCK, m].
    pub(super) w: Mat<f64>,
    /// Slopes of the kernel, [BLOCK, m]; only in the second pass.
    pub(super) slopes: Mat<f64>,
    /// Weights of ∂Kfu, [BLOCK, m]; only in the second pass.
    pub(super) weights: Mat<f64>,
}

impl Scratch {
    fn new(m: usize) -> Scratch {
        Scratch {
            x: Scaled::default(),
            w: Mat::zeros(BLOCK, m),
            slopes: Mat::zeros(0, 0),
            weights: Mat::zeros(0, 0),
        }
    }

    fn for_second_pass(&mut self) {
        for buffer in [&mut self.slopes, &mut self.weights] {
            if buffer.nrows() == 0 {
                *buffer = Mat::zeros(BLOCK, self.w.ncols());
            }
        }
    }
}

/// Buffers no task uses now. A training takes them a hundred times, and blocks so large and aligned, given back and taken
/// anew, leave holes in the system's heap: a fit at m = 300 on two threads took 106 MB, and takes 59.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<Scratch>>);

impl Spare {
    fn take(&self) -> Option<Scratch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give(&self, scratch: Scratch) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

/// The blocks: BLOCK consecutive points each, or as many whole groups as fit.
pub(super) fn cut(model: &Model<'_>) -> Vec<Range<usize>> {
    let n = model.data.len();
    if model.group_ends.is_empty() {
        return (0..n).step_by(BLOCK).map(|start| start..(start + BLOCK).min(n)).collect();
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for &end in model.group_ends {
        match blocks.last_mut() {
            Some(block) if end - block.start <= BLOCK => block.end = end,
            _ => blocks.push(start..end),
        }
        start = end;
    }
    blocks
}

/// Runs `work` over all blocks, one accumulator a lane, and joins the accumulators in order.
///
/// Lanes are handed out in order and joined as soon as those before them are: hardly more accumulators are alive than
/// threads, where waiting for all would hold every lane's m² numbers at once.
pub(super) fn run<A: Send>(
    model: &Model<'_>,
    second_pass: bool,
    watch: &dyn Watch,
    accumulator: impl Fn() -> A + Sync,
    join: impl Fn(&mut A, &A) + Sync,
    work: impl Fn(&Block<'_>, &mut Scratch, &mut A) -> Result<()> + Sync,
) -> Result<A> {
    let blocks = cut(model);
    let m = model.inducing.nrows();
    let lanes = blocks.len().min(MOST_LANES).min((MOST_ACCUMULATED / (m * m)).max(1));
    let next = AtomicUsize::new(0);
    let joined = Mutex::new(Joined { total: accumulator(), lanes: 0, waiting: BTreeMap::new() });
    let tasks = rayon::current_num_threads().min(lanes);
    (0..tasks).into_par_iter().with_max_len(1).try_for_each(|_| {
        let mut scratch = model.spare.take().unwrap_or_else(|| Scratch::new(m));
        if second_pass {
            scratch.for_second_pass();
        }
        loop {
            let lane = next.fetch_add(1, Ordering::Relaxed);
            if lane >= lanes {
                model.spare.give(scratch);
                return Ok(());
            }
            let mut sums = accumulator();
            let own = &blocks[lane * blocks.len() / lanes..(lane + 1) * blocks.len() / lanes];
            let mut from = Blocks::from(model.data, own.first().map_or(0, |rows| rows.start))?;
            for rows in own {
                go_on(watch, "a pass over the data")?;
                work(&from.next(rows.clone())?, &mut scratch, &mut sums)?;
            }
            joined.lock().unwrap_or_else(PoisonError::into_inner).add(lane, sums, &join);
        }
    })?;
    Ok(joined.into_inner().unwrap_or_else(PoisonError::into_inner).total)
}

/// The sum of the first lanes, and later ones that came before their turn.
struct Joined<A> {
    total: A,
    lanes: usize,
    waiting: BTreeMap<usize, A>,
}

impl<A> Joined<A> {
    fn add(&mut self, lane: usize, sums: A, join: impl Fn(&mut A, &A)) {
        self.waiting.insert(lane, sums);
        while let Some(sums) = self.waiting.remove(&self.lanes) {
            join(&mut self.total, &sums);
            self.lanes += 1;
        }
    }
}
