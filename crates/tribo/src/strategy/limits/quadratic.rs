//! Small quadratic programmes: minimise ½ pᵀHp + gᵀp where A p <= b.
//!
//! With H = L Lᵀ and y = Lᵀp + L⁻¹g it is the shortest y with G y >= h, G = -A L⁻ᵀ, h = -(b + A H⁻¹g), which is a problem of
//! least squares with coefficients that are not negative `[@lawson1974, chapter 23]`: with E = [Gᵀ; hᵀ] and f = (0, ..., 0, 1),
//!   u = argmin |E u - f|, u >= 0        r = E u - f        y = -r_{1..d}/r_{d+1}        λ = -u/r_{d+1}
//! and nothing meets the constraints if r = 0. Rows of A may be doubled or more than d of them bind: coefficients enter
//! one by one, and only where they lower the sum of squares.

use faer::linalg::solvers::SolveLstsq;
use faer::{Mat, MatRef};

/// The shortest residual, beside 1, at which constraints can be met.
const POSSIBLE: f64 = 1e-10;

/// The residual below which y is so many units long that digits are lost.
const FAR: f64 = 0.1;
/// The shortest row that is a direction.
const LEAST_LENGTH: f64 = 1e-100;

/// p and the multipliers of the rows of A; None where no p meets all of them. `root` is L.
pub(super) fn minimise(
    root: MatRef<'_, f64>,
    g: &[f64],
    a: MatRef<'_, f64>,
    b: &[f64],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (d, m) = (g.len(), b.len());
    let mut l_inv_g = g.to_vec();
    crate::linalg::product::solve_lower_vector(root, &mut l_inv_g);
    // A L⁻ᵀ, a row at a time, each of length one.
    let mut rows = Mat::zeros(d, m);
    let (mut h, mut lengths) = (vec![0.0; m], vec![1.0; m]);
    for j in 0..m {
        let mut row: Vec<f64> = (0..d).map(|k| a[(j, k)]).collect();
        crate::linalg::product::solve_lower_vector(root, &mut row);
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        // What no p changes is no constraint on it; its column stays zero and never enters.
        if length <= LEAST_LENGTH || length.is_nan() {
            continue;
        }
        lengths[j] = length;
        let along: f64 = row.iter().zip(&l_inv_g).map(|(a, g)| a * g).sum();
        h[j] = -(b[j] + along) / lengths[j];
        (0..d).for_each(|k| rows[(k, j)] = -row[k] / lengths[j]);
    }
    // The unit of y is that of the right-hand sides at first. |y| = (1/|r_{d+1}| - 1)^½ units: where that is many, digits are
    // lost, and a larger unit is taken.
    let mut unit = h.iter().fold(0.0, |unit: f64, h| unit.max(h.abs())).max(f64::MIN_POSITIVE);
    let mut f = vec![0.0; d + 1];
    f[d] = 1.0;
    let solved = |unit: f64| {
        let e = Mat::from_fn(d + 1, m, |k, j| if k < d { rows[(k, j)] } else { h[j] / unit });
        let u = not_negative(e.as_ref(), &f);
        let r: Vec<f64> = (0..=d).map(|k| (0..m).map(|j| e[(k, j)] * u[j]).sum::<f64>() - f[k]).collect();
        (u, r)
    };
    let (mut u, mut r) = solved(unit);
    if (POSSIBLE..FAR).contains(&-r[d]) {
        unit /= (-r[d]).sqrt();
        (u, r) = solved(unit);
    }
    if -r[d] < POSSIBLE {
        return None;
    }
    let mut p: Vec<f64> = (0..d).map(|k| -r[k] / r[d] * unit - l_inv_g[k]).collect();
    crate::linalg::product::solve_lower_transposed_vector(root, &mut p);
    let multipliers = (0..m).map(|j| -u[j] / r[d] * unit / lengths[j]).collect();
    Some((p, multipliers)).filter(|(p, _)| p.iter().all(|p| p.is_finite()))
}

/// The u >= 0 with the least |E u - f|: coefficients enter where they lower it most, and leave where they would be negative.
fn not_negative(e: MatRef<'_, f64>, f: &[f64]) -> Vec<f64> {
    let (n, m) = (e.nrows(), e.ncols());
    let mut u = vec![0.0; m];
    let (mut inside, mut refused): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    let tolerance = 1e-14 * (m as f64);
    for _ in 0..(3 * m + 10) {
        let rest: Vec<f64> = (0..n).map(|k| f[k] - (0..m).map(|j| e[(k, j)] * u[j]).sum::<f64>()).collect();
        let slope = |j: usize| (0..n).map(|k| e[(k, j)] * rest[k]).sum::<f64>();
        let outside = (0..m).filter(|j| !inside.contains(j) && !refused.contains(j)).map(|j| (slope(j), j));
        let next = outside.fold((tolerance, m), |best, other| if other.0 > best.0 { other } else { best });
        if next.1 == m || inside.len() >= n {
            break;
        }
        inside.push(next.1);
        loop {
            let least = least_squares(e, f, &inside);
            // A coefficient that cannot enter: the columns inside can make its own.
            if least.last().is_none_or(|value| *value <= 0.0 || value.is_nan())
                && inside.last() == Some(&next.1)
            {
                inside.pop();
                refused.push(next.1);
                break;
            }
            if least.iter().all(|value| *value > 0.0) {
                u.fill(0.0);
                inside.iter().zip(&least).for_each(|(&j, value)| u[j] = *value);
                refused.clear();
                break;
            }
            let way = inside.iter().zip(&least).filter(|(_, value)| **value <= 0.0);
            let part = way.map(|(&j, value)| u[j] / (u[j] - value)).fold(1.0, f64::min);
            inside.iter().zip(&least).for_each(|(&j, value)| u[j] += part * (value - u[j]));
            inside.retain(|&j| u[j] > 1e-15);
            (0..m).filter(|j| !inside.contains(j)).for_each(|j| u[j] = 0.0);
            if inside.is_empty() {
                break;
            }
        }
    }
    u
}

fn least_squares(e: MatRef<'_, f64>, f: &[f64], columns: &[usize]) -> Vec<f64> {
    let part = Mat::from_fn(e.nrows(), columns.len(), |k, j| e[(k, columns[j])]);
    let right = Mat::from_fn(e.nrows(), 1, |k, _| f[k]);
    let solution = part.col_piv_qr().solve_lstsq(right);
    (0..columns.len()).map(|j| solution[(j, 0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// H p + g + Aᵀλ = 0, λ >= 0, A p <= b, λ(A p - b) = 0 on random problems, rows of A doubled.
    #[test]
    fn solutions_meet_the_conditions_of_an_optimum() {
        for seed in 0..200 {
            let mut stream = Stream::new(seed, "programme", 0);
            let d = 1 + (seed % 7) as usize;
            let m = 2 + 2 * (seed % 9) as usize;
            let mut root = Mat::<f64>::zeros(d, d);
            for i in 0..d {
                // Digits are lost to the condition of L, and this is no test of that.
                (0..i).for_each(|j| root[(i, j)] = 0.5 * stream.normal());
                root[(i, i)] = 1.0 + stream.uniform();
            }
            let g: Vec<f64> = (0..d).map(|_| 3.0 * stream.normal()).collect();
            let mut a = Mat::from_fn(m, d, |_, _| stream.normal());
            // p = 0 is feasible, and at its border for some.
            let mut b: Vec<f64> = (0..m).map(|j| if j % 3 == 0 { 0.0 } else { stream.uniform() }).collect();
            (0..d).for_each(|k| a[(m - 1, k)] = a[(0, k)]);
            b[m - 1] = b[0];
            let (p, multipliers) = minimise(root.as_ref(), &g, a.as_ref(), &b).unwrap();
            let h = &root * root.transpose();
            for k in 0..d {
                let slope = (0..d).map(|l| h[(k, l)] * p[l]).sum::<f64>() + g[k];
                let held = (0..m).map(|j| a[(j, k)] * multipliers[j]).sum::<f64>();
                assert!((slope + held).abs() < 1e-7 * (1.0 + held.abs()), "seed {seed}: {slope}, {held}");
            }
            for j in 0..m {
                let side = (0..d).map(|k| a[(j, k)] * p[k]).sum::<f64>() - b[j];
                // Rounding is that of the products, which cancel.
                let size = (0..d).map(|k| (a[(j, k)] * p[k]).abs()).fold(1.0, f64::max);
                assert!(side < 1e-8 * size && multipliers[j] >= 0.0, "seed {seed}: {side}");
                let slack = side * multipliers[j];
                assert!(
                    slack.abs() < 1e-7 * size * (1.0 + multipliers[j]),
                    "seed {seed}: {side}, {}",
                    multipliers[j]
                );
            }
        }
    }

    #[test]
    fn what_is_impossible_has_no_solution() {
        let root = Mat::<f64>::identity(2, 2);
        // x <= -1 and -x <= -1.
        let a = Mat::from_fn(2, 2, |i, k| if k == 0 { [1.0, -1.0][i] } else { 0.0 });
        assert!(minimise(root.as_ref(), &[0.0, 1.0], a.as_ref(), &[-1.0, -1.0]).is_none());
        // A row of zeros asks for nothing: the lowest point is where the slope says.
        let (p, multipliers) =
            minimise(root.as_ref(), &[0.0, 1.0], Mat::zeros(1, 2).as_ref(), &[-1.0]).unwrap();
        assert_eq!((p, multipliers), (vec![0.0, -1.0], vec![0.0]));
    }
}
