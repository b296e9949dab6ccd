//! `projection`: how much of the box a random embedding leaves, the paper's Monte Carlo figure.
//!
//! z is uniform in [-√d, √d]^d and A has independent N(0, 1) entries. The paper asks how likely x lands in a box, and
//! its text, caption and algorithm differ on what x and the box are `[@tran2021]`. Every reading is simulated:
//! scaled x = A z / d in ±1, ±√d and ±√d^d; unscaled x = A z in ±1 and ±√d. Two probabilities each: that one
//! coordinate is inside, which is the part of the inputs that need no clipping; and that d coordinates are, as the
//! exponent of the caption's box has it. Cost O(samples d²) for each d.

use crate::seeds::{Failure, side_by_side};
use serde::Serialize;
use std::path::{Path, PathBuf};
use tribo::rng::Stream;
use tribo_chart::{Axis, Chart, LineChart, Series};

/// What to simulate.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Samples for each d; the paper has 1,000,000.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub samples: u64,
    /// The largest model dimension.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub largest: u16,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Seed of the samples.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for the figure; none is drawn without it.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// A reading of the formula: its name, what A z is divided by, and the half width of the box, both for d.
struct Reading {
    name: &'static str,
    divisor: fn(f64) -> f64,
    half_width: fn(f64) -> f64,
}

const READINGS: [Reading; 5] = [
    Reading { name: "Az/d in ±1", divisor: |d| d, half_width: |_| 1.0 },
    Reading { name: "Az/d in ±√d", divisor: |d| d, half_width: f64::sqrt },
    Reading { name: "Az/d in ±√d^d", divisor: |d| d, half_width: |d| d.powf(0.5 * d) },
    Reading { name: "Az in ±1", divisor: |_| 1.0, half_width: |_| 1.0 },
    Reading { name: "Az in ±√d", divisor: |_| 1.0, half_width: f64::sqrt },
];

/// One line of the result.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Model dimension.
    pub d: usize,
    /// Which formula and box.
    pub reading: &'static str,
    /// Samples.
    pub samples: u64,
    /// Probability that one coordinate is inside.
    pub each: f64,
    /// Probability that d coordinates are.
    pub all: f64,
    /// Standard deviation of a coordinate, as a part of the half width.
    pub sd: f64,
}

/// Simulates all dimensions.
pub fn measure(options: &Options) -> Result<Vec<Row>, Failure> {
    let dims = usize::from(options.largest);
    // The largest first: they take longest.
    let rows = side_by_side(dims, usize::from(options.threads), |i| {
        Ok(simulate(dims - i, options.samples, options.seed))
    })?;
    Ok(rows.into_iter().rev().flatten().collect())
}

fn simulate(d: usize, samples: u64, seed: u64) -> Vec<Row> {
    let side = (d as f64).sqrt();
    let scales: Vec<f64> =
        READINGS.iter().map(|r| 1.0 / ((r.divisor)(d as f64) * (r.half_width)(d as f64))).collect();
    let (mut one, mut all, mut squares) = ([0_u64; 5], [0_u64; 5], 0.0);
    let mut stream = Stream::new(seed, "projection", d as u64);
    let mut z = vec![0.0; d];
    for _ in 0..samples {
        z.iter_mut().for_each(|z| *z = side * (2.0 * stream.uniform() - 1.0));
        let mut largest = 0.0_f64;
        let mut first = 0.0;
        for i in 0..d {
            let x = z.iter().map(|z| z * stream.normal()).sum::<f64>().abs();
            largest = largest.max(x);
            first = if i == 0 { x } else { first };
        }
        squares += first * first;
        for (r, scale) in scales.iter().enumerate() {
            one[r] += u64::from(first * scale <= 1.0);
            all[r] += u64::from(largest * scale <= 1.0);
        }
    }
    let part = |count: u64| count as f64 / samples as f64;
    let sd = (squares / samples as f64).sqrt();
    let row = |r: usize| Row {
        d,
        reading: READINGS[r].name,
        samples,
        each: part(one[r]),
        all: part(all[r]),
        sd: sd * scales[r],
    };
    (0..READINGS.len()).map(row).collect()
}

/// Writes `projection.svg`, one coordinate, and `projection-all.svg`, d coordinates.
pub fn write_figures(rows: &[Row], folder: &Path) -> std::io::Result<()> {
    type Figure = (&'static str, &'static str, fn(&Row) -> f64);
    let figures: [Figure; 2] = [
        ("projection", "Probability that one coordinate needs no clipping", |row| row.each),
        ("projection-all", "Probability that none of d coordinates needs clipping", |row| row.all),
    ];
    for (file, title, value) in figures {
        let series = READINGS
            .iter()
            .map(|reading| Series {
                name: reading.name.to_owned(),
                points: rows
                    .iter()
                    .filter(|row| row.reading == reading.name)
                    .map(|row| (row.d as f64, value(row)))
                    .collect(),
                ..Series::default()
            })
            .collect();
        let chart = LineChart {
            title: title.to_owned(),
            x: Axis::linear("model dimension d"),
            y: Axis::linear("probability"),
            series,
            ..LineChart::default()
        };
        std::fs::write(folder.join(format!("{file}.svg")), chart.to_svg())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dimension_gives_the_number_of_the_paper() {
        // P(|a z| <= 1) = ∫₀¹ erf(1/(z √2)) dz = 0.9060, the paper's 90.6 %; five standard errors of 20,000 samples.
        let rows = simulate(1, 20_000, 1);
        let bound = 5.0 * (0.906 * 0.094 / 20_000.0_f64).sqrt();
        assert!(rows.iter().all(|row| (row.each - 0.9060).abs() < bound && row.each == row.all), "{rows:?}");
    }

    #[test]
    fn the_spread_is_that_of_a_sum_of_products() {
        // A coordinate of A z has variance d · d/3; the mean square of 20,000 samples is within five per cent.
        for d in [2, 7] {
            let row = &simulate(d, 20_000, 1)[0];
            let expected = (1.0_f64 / 3.0).sqrt();
            assert!((row.sd / expected - 1.0).abs() < 0.05, "d = {d}: {row:?}");
        }
    }
}
