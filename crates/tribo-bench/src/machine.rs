//! What a benchmark needs of the machine: a clock, the memory high-water mark, a raw rank-k update.
//!
//! Absolute times mean little on a shared machine. A time is therefore given together with the time of one raw
//! lower rank-k update of the same m x n on the same threads in the same run: the ratio is what can be compared.

use faer::Mat;
use rayon::prelude::*;
use std::time::Instant;
use tribo::linalg::product::add_gram_lower;
use tribo::rng::Stream;

/// Seconds that `work` takes, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// Processor seconds of all threads of this process so far, to a hundredth; None where the system does not say. On a
/// machine that others use as well they say more than the clock.
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses, which may hold anything, the times are the 12th and 13th field.
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (times.next()?.parse().ok()?, times.next()?.parse().ok()?);
    Some((user + system) / 100.0)
}

/// Largest resident memory of this process so far, in MB; None where the system does not say.
pub fn peak_rss_mb() -> Option<f64> {
    memory_mb("VmHWM:")
}

/// Resident memory of this process now, in MB; None where the system does not say.
pub fn rss_mb() -> Option<f64> {
    memory_mb("VmRSS:")
}

fn memory_mb(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

/// Starts the high-water mark anew, where the system allows it.
pub fn reset_peak_rss() {
    // Writing 5 asks Linux to do so; without the permission the mark simply stays, which can only hurt us.
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// Seconds for a lower rank-k update C += A Aᵀ of an m x n matrix A, in `threads` tasks with an accumulator each.
///
/// A is not held whole, that would be 2.4 GB for a million points and 300 rows: each task goes round a few blocks
/// of the shape the library uses, together larger than a core's own cache. This is as fast as the machine does
/// it (one call on a whole A is slower here), so it is a strict yardstick.
pub fn syrk_seconds(m: usize, n: usize, threads: usize) -> f64 {
    const BLOCK: usize = 1024;
    const BLOCKS: usize = 4;
    let blocks = n.div_ceil(BLOCK);
    let mut tasks: Vec<(Vec<Mat<f64>>, Mat<f64>)> = (0..threads)
        .map(|task| {
            let mut stream = Stream::new(1, "syrk", task as u64);
            let a = (0..BLOCKS).map(|_| Mat::from_fn(BLOCK.min(n), m, |_, _| stream.uniform())).collect();
            (a, Mat::zeros(m, m))
        })
        .collect();
    let (seconds, ()) = timed(|| {
        tasks.par_iter_mut().enumerate().for_each(|(task, (a, c))| {
            for block in (task..blocks).step_by(threads) {
                let rows = BLOCK.min(n - block * BLOCK);
                add_gram_lower(c.as_mut(), a[block / threads % BLOCKS].as_ref().subrows(0, rows));
            }
        });
    });
    seconds
}

/// The value below which a part `q` of the sorted `values` lies.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q).round() as usize]
}
