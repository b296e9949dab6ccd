//! All results at once: as threads across the inputs, and in all pairs of inputs.

use super::{SHOWN_RESULTS, View, thinned};
use tribo_chart::{Matrix, Parallel, ParallelAxis, Thread, level, plain};

/// Inputs of a matrix at most: a cell for each pair.
const MATRIX_INPUTS: usize = 5;

/// A result that can be drawn: trial, places of the inputs, value, rank.
type Placed<'a> = (u64, &'a [f64], f64, f64);

impl View {
    /// Results with places, at most so many, the best last.
    fn placed(&self, most: usize) -> Vec<Placed<'_>> {
        let ranks = self.ranks();
        let with_places = self.measured().zip(ranks).filter_map(|((outcome, value), rank)| {
            Some((outcome.trial, outcome.places.as_deref()?, value, rank))
        });
        let mut placed: Vec<Placed<'_>> = with_places.collect();
        placed.sort_by(|a, b| b.3.total_cmp(&a.3));
        thinned(placed, most)
    }

    /// Parallel coordinates of the inputs shown and the value; None with fewer than two results.
    pub fn parallel(&self) -> Option<Parallel> {
        let placed = self.placed(SHOWN_RESULTS / 2);
        let (worst, best) = (placed.first()?, placed.last()?);
        if placed.len() < 2 || self.inputs.is_empty() {
            return None;
        }
        // The last axis goes by rank, the best at the bottom where small is good, at the top where large is.
        let end = |rank: f64| if self.is_maximized() { 1.0 - rank } else { rank };
        let mut axes: Vec<ParallelAxis> = self.inputs.iter().map(|input| input.parallel()).collect();
        axes.push(ParallelAxis {
            name: self.objective().to_owned(),
            ticks: vec![(end(worst.3), plain(worst.2)), (end(best.3), plain(best.2))],
        });
        let thread = |(trial, places, value, rank): &Placed<'_>| Thread {
            places: places.iter().copied().chain([end(*rank)]).collect(),
            level: level(*rank),
            strong: *trial == best.0,
            title: format!("trial {trial}: {}", plain(*value)),
        };
        Some(Parallel {
            title: "Where the search went".to_owned(),
            description: format!(
                "Each line is one of {} results through its inputs to its rank; the strong line is the best, trial {}.",
                placed.len(),
                best.0
            ),
            axes,
            threads: placed.iter().map(thread).collect(),
        })
    }

    /// Results in all pairs of the most important inputs; None with one input or fewer than two results.
    pub fn matrix(&self) -> Option<Matrix> {
        let n = self.inputs.len().min(MATRIX_INPUTS);
        let placed = self.placed(SHOWN_RESULTS);
        if n < 2 || placed.len() < 2 {
            return None;
        }
        Some(Matrix {
            title: "Results in all pairs of inputs".to_owned(),
            description: format!(
                "{} results in all pairs of {n} inputs, and how often each place was tried.",
                placed.len()
            ),
            names: self.inputs[..n].iter().map(|input| input.name.clone()).collect(),
            results: placed.iter().map(|(_, places, _, rank)| (places[..n].to_vec(), level(*rank))).collect(),
        })
    }
}
