//! More memory for an evaluation that had too little.

/// A size in kilobytes after it was too little so many times, each time larger by so many per cent; None if it stays as it is.
pub(super) fn grown(kilobytes: f64, percent: u32, times: u32) -> Option<u64> {
    let factor = (1.0 + f64::from(percent) / 100.0).powi(times.min(64) as i32);
    (percent > 0 && times > 0).then(|| (kilobytes * factor).round() as u64)
}
