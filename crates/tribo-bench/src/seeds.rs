//! The same work under many seeds, and what is said about the results.
//!
//! Seeds run side by side on threads of their own, each with a pool of one thread for the numerics. A shared pool
//! would let a study that waits for a piece of its work start another seed's study, and the clock would blame the
//! first for the second.

use crate::machine::quantile;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An error of any kind, from any thread.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Results, each with its index.
type Numbered<T> = Vec<(usize, Result<T, Failure>)>;

/// Runs `work(index)` for every index below `n` on `threads` threads; results in order of the index. After the first
/// failure no further work is begun.
pub fn side_by_side<T: Send>(
    n: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Numbered<T>> = Mutex::new(Vec::new());
    // A single piece of work may as well have all the threads.
    let pool_size = if n == 1 { threads } else { 1 };
    let threads = threads.min(n).max(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(pool_size).build();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= n {
                        break;
                    }
                    let result = match &pool {
                        Ok(pool) => pool.install(|| work(index)),
                        Err(error) => Err(error.to_string().into()),
                    };
                    if result.is_err() {
                        next.store(n, Ordering::Relaxed);
                    }
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().map_err(|_| "a thread of the benchmark panicked")?;
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Median, mean and quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value.
    pub median: f64,
    /// The average.
    pub mean: f64,
    /// A quarter of the values are lower.
    pub q25: f64,
    /// A quarter of the values are higher.
    pub q75: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut at = |q| quantile(&mut values, q);
        Spread { median: at(0.5), mean, q25: at(0.25), q75: at(0.75) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_failures_come_through() {
        for threads in [1, 3] {
            let squares = side_by_side(20, threads, |i| Ok(i * i)).unwrap();
            assert_eq!(squares, (0..20).map(|i| i * i).collect::<Vec<_>>());
            let failed = side_by_side(20, threads, |i| if i == 4 { Err("four".into()) } else { Ok(i) });
            assert_eq!(failed.unwrap_err().to_string(), "four");
        }
    }

    #[test]
    fn the_spread_is_that_of_the_values() {
        let spread = Spread::of([5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(spread, Spread { median: 3.0, mean: 3.0, q25: 2.0, q75: 4.0 });
    }
}
