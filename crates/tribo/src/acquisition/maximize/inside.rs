//! The same search where constraints between inputs leave a part of the box.
//!
//! Candidates outside are moved along the line from one inside, to the border or before it. From the best of them a Lagrangian is
//! minimised `[@nocedal2006, section 17.4]`: with a the acquisition in its scale and c_j the distances beyond each border,
//!   L(x) = -a(x) + Σ_j [max(0, λ_j + r c_j)² - λ_j²]/(2r)        λ_j <- max(0, λ_j + r c_j),
//! since the best point is mostly on a border. Where each minimisation ends, the nearest point inside is evaluated, and the best of
//! all points inside is what was found.

use super::{BATCH, Maximum, Run, Search, scale};
use crate::acquisition::Acquisition;
use crate::acquisition::candidates::{candidates, choose_starts};
use crate::error::Result;
use crate::opt::Status;
use crate::opt::lbfgs::{Lbfgs, LbfgsOptions};
use crate::rng::Stream;
use crate::space::formula::Region;
use crate::surrogate::Posterior;
use crate::surrogate::watch::Watch;
use faer::{Mat, MatRef};

/// Starts that go on after each round of multipliers: the last digits are for the best alone.
const KEPT: [usize; 8] = [8, 4, 3, 2, 1, 1, 1, 1];
/// The first penalty, and its growth where a distance does not shrink.
const PENALTY: (f64, f64) = (10.0, 5.0);

/// Maximises `acquisition` over the part of [low, high] that a region admits. As [`super::maximise`]; the point found is
/// inside, if the region has any point that was found.
pub fn maximise_inside(
    region: &Region,
    acquisition: &dyn Acquisition,
    posterior: &dyn Posterior,
    low: &[f64],
    high: &[f64],
    best: MatRef<'_, f64>,
    search: &Search,
    stream: &mut Stream,
    watch: &dyn Watch,
) -> Result<Maximum> {
    super::check(low, high, best, search)?;
    let mut run = Run::new(acquisition, posterior, low, high, watch)?;
    let around = run.to_cube(best)?;
    let n = search.candidates.min(search.evaluations).max(1);
    let raw = candidates(n, low.len(), around.as_ref(), search.spread, stream)?;
    let raw = run.to_box(raw.as_ref());
    let rows: Vec<Vec<f64>> = (0..raw.nrows()).map(|i| raw.row(i).iter().copied().collect()).collect();
    let known: Vec<Vec<f64>> = (0..best.nrows()).map(|i| best.row(i).iter().copied().collect()).collect();
    let points = inside(region, rows, &known, low, high, stream);
    let mut values = vec![];
    for batch in points.chunks(BATCH) {
        values.extend(run.evaluate(matrix(batch).as_ref())?);
        if run.over()? {
            break;
        }
    }
    refine(&mut run, region, &points, &values, search)?;
    Ok(run.found)
}

fn matrix(rows: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, k| rows[i][k])
}

/// The candidates inside, and in the place of each that is not one on the line to it from another that is: half of them at
/// the border.
fn inside(
    region: &Region,
    candidates: Vec<Vec<f64>>,
    best: &[Vec<f64>],
    low: &[f64],
    high: &[f64],
    stream: &mut Stream,
) -> Vec<Vec<f64>> {
    let (mut kept, outside): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|x| region.admits(x));
    let mut anchors: Vec<Vec<f64>> = best.iter().filter_map(|x| region.nearest(x)).collect();
    anchors.extend(kept.iter().cloned());
    if anchors.is_empty() {
        let middle: Vec<f64> = low.iter().zip(high).map(|(low, high)| 0.5 * (low + high)).collect();
        anchors.extend(region.nearest(&middle));
    }
    kept.extend(anchors.iter().take(best.len().max(1)).cloned());
    for (number, x) in outside.into_iter().enumerate() {
        if anchors.is_empty() {
            // Nothing that is moved here helps: all that is left is to look at the points as they are.
            kept.push(x);
            continue;
        }
        let anchor = &anchors[stream.below(anchors.len())];
        let border = region.towards(anchor, &x);
        let part = if number % 2 == 0 { 1.0 } else { stream.uniform() };
        let between: Vec<f64> = anchor.iter().zip(&border).map(|(a, b)| a + part * (b - a)).collect();
        kept.push(if region.admits(&between) { between } else { border });
    }
    kept
}

/// One start: where it is, the multipliers and the penalty.
struct Lane {
    x: Vec<f64>,
    multipliers: Vec<f64>,
    penalty: f64,
    beyond: f64,
    /// What the nearest point inside of the last end is worth.
    worth: f64,
}

/// Steps all starts together.
fn refine(
    run: &mut Run<'_>,
    region: &Region,
    points: &[Vec<f64>],
    values: &[f64],
    search: &Search,
) -> Result<()> {
    let d = run.low.len();
    let (reference, scale) = scale(values);
    let seen = run.to_cube(matrix(&points[..values.len()]).as_ref())?;
    let mut lanes: Vec<Lane> = choose_starts(&seen, values, search.starts)
        .into_iter()
        .map(|i| Lane {
            x: points[i].clone(),
            multipliers: vec![],
            penalty: PENALTY.0,
            beyond: f64::INFINITY,
            worth: f64::NEG_INFINITY,
        })
        .collect();
    let options = LbfgsOptions {
        max_evaluations: search.rounds.max(1),
        max_iterations: search.rounds.max(1),
        gradient_tolerance: super::GRADIENT_TOLERANCE,
        decrease_tolerance: super::DECREASE_TOLERANCE,
        ..LbfgsOptions::default()
    };
    let width = |k: usize| run.high[k] - run.low[k];
    let widths: Vec<f64> = (0..d).map(width).collect();
    for kept in KEPT {
        let mut live = vec![];
        for (number, lane) in lanes.iter().enumerate() {
            let start: Vec<f64> =
                (0..d).map(|k| ((lane.x[k] - run.low[k]) / widths[k]).clamp(0.0, 1.0)).collect();
            live.push((number, Lbfgs::new(&start, &vec![0.0; d], &vec![1.0; d], options.clone())?));
        }
        let mut done = vec![];
        while !live.is_empty() {
            if run.over()? {
                return Ok(());
            }
            let cube = Mat::from_fn(live.len(), d, |i, k| live[i].1.point()[k]);
            let x = run.to_box(cube.as_ref());
            let (values, gradient) = run.acquisition.evaluate_gradient(run.posterior, x.as_ref())?;
            run.found.evaluations += values.len();
            run.found.rounds += 1;
            let mut still = vec![];
            for (row, (number, mut lbfgs)) in live.into_iter().enumerate() {
                let mut loss = (reference - values[row]) / scale;
                let mut slope: Vec<f64> = (0..d).map(|k| -gradient[(row, k)] * widths[k] / scale).collect();
                let at: Vec<f64> = (0..d).map(|k| x[(row, k)]).collect();
                add_borders(region, &at, &widths, &lanes[number], &mut loss, &mut slope);
                if lbfgs.tell(loss, &slope) == Status::Continue {
                    still.push((number, lbfgs));
                } else {
                    done.push((number, lbfgs.best().0.to_vec()));
                }
            }
            live = still;
        }
        done.sort_by_key(|(number, _)| *number);
        let cube = Mat::from_fn(done.len(), d, |i, k| done[i].1[k]);
        let ends = run.to_box(cube.as_ref());
        let mut mended = vec![];
        for (row, (number, _)) in done.iter().enumerate() {
            let x: Vec<f64> = ends.row(row).iter().copied().collect();
            let lane = &mut lanes[*number];
            let distances = borders(region, &x, &widths).unwrap_or_default();
            lane.multipliers.resize(distances.len(), 0.0);
            let mut beyond = 0.0_f64;
            for (multiplier, (distance, _)) in lane.multipliers.iter_mut().zip(&distances) {
                *multiplier = (*multiplier + lane.penalty * distance).max(0.0);
                beyond = beyond.max(*distance);
            }
            if beyond > 0.25 * lane.beyond {
                lane.penalty *= PENALTY.1;
            }
            lane.beyond = beyond;
            lane.worth = f64::NEG_INFINITY;
            mended.extend(region.nearest(&x).map(|inside| (*number, inside)));
            lane.x = x;
        }
        let (numbers, points): (Vec<usize>, Vec<Vec<f64>>) = mended.into_iter().unzip();
        if !points.is_empty() {
            let values = run.evaluate(matrix(&points).as_ref())?;
            numbers.iter().zip(values).for_each(|(&number, value)| lanes[number].worth = value);
        }
        lanes.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        lanes.truncate(kept);
    }
    Ok(())
}

/// How far beyond each border x is, in sides of the box, and its slopes there. None where a side of a formula is no number.
fn borders(region: &Region, x: &[f64], widths: &[f64]) -> Option<Vec<(f64, Vec<f64>)>> {
    let in_box = |(distance, normal): (f64, Vec<f64>)| {
        let slopes: Vec<f64> = normal.iter().zip(widths).map(|(normal, width)| normal * width).collect();
        // A border that the box cannot move along is as near as its distance.
        let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        let length = if length > 0.0 { length } else { 1.0 };
        (distance / length, slopes.iter().map(|slope| slope / length).collect())
    };
    Some(region.distances(x)?.into_iter().map(in_box).collect())
}

/// Adds what the borders cost at x. Where a side of a formula is no number, the point is worth nothing.
fn add_borders(region: &Region, x: &[f64], widths: &[f64], lane: &Lane, loss: &mut f64, slope: &mut [f64]) {
    let Some(distances) = borders(region, x, widths) else {
        *loss = f64::INFINITY;
        return;
    };
    for (j, (distance, slopes)) in distances.into_iter().enumerate() {
        let multiplier = lane.multipliers.get(j).copied().unwrap_or(0.0);
        let moved = multiplier + lane.penalty * distance;
        if moved > 0.0 {
            *loss += (moved * moved - multiplier * multiplier) / (2.0 * lane.penalty);
            slope.iter_mut().zip(slopes).for_each(|(slope, of)| *slope += moved * of);
        } else {
            *loss -= multiplier * multiplier / (2.0 * lane.penalty);
        }
    }
}
