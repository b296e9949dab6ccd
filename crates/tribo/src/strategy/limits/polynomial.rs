//! Outputs that are polynomials: recognised, and known exactly from then on.
//!
//! A sum, a weighted mean or a distance is a limit as often as a simulation is. With x the point in the unit cube,
//!   v = c + bᵀx        or        v = c + bᵀx + xᵀAx
//! (A diagonal or full) is determined by as many results as it has coefficients. If more results than that are met to
//! rounding, it is no model any more: nothing is left to learn, and no margin is kept. A norm is the root of a polynomial,
//! so v² is looked at as well. A later result that is not met takes the polynomial back.
//!
//! Most formulas of engineers have few products: those of g10 are linear but for one or two, and the objective of g07 has one product of
//! different inputs. So besides all products, every choice of one to three is tried, beside a linear function and beside one with
//! all squares: with R what the terms that are always there leave of the values (first column) and of each product, the choice S leaves
//!   r₀ᵀr₀ - r₀ᵀR_S (R_Sᵀ R_S)⁻¹ R_Sᵀr₀
//! of the squares of the values. That needs a number for each pair of products only; the choice that leaves least is then solved
//! for and checked like any other. That a choice among thousands meets two results more than it has coefficients to nine digits by
//! chance cannot happen.
//!
//! The coefficients are those of the first results, by least squares, and made anew when there are half as many again, so
//! that they are a function of the results in the order told.

use faer::Mat;
use faer::linalg::solvers::SolveLstsq;

/// Results beyond the number of coefficients, from which a polynomial is believed in.
const EXTRA: usize = 2;
/// Growth of the number of results between two fits.
const GROWTH: f64 = 1.5;
/// Coefficients at most, products to choose from (a choice keeps their square of numbers), and choices of a few.
const MOST_COEFFICIENTS: usize = 256;
const MOST_PRODUCTS: usize = 256;
const MOST_CHOICES: usize = 30_000;
/// Kinds of terms that are tried.
const N_TERMS: usize = 9;
/// Products at most that are chosen.
const MOST_MORE: usize = 3;
/// Largest difference from a result, in standard deviations of all values, that is rounding.
const ROUNDING: f64 = 1e-9;
/// Smallest pivot beside the largest of points that determine all coefficients.
const DETERMINED: f64 = 1e-6;

/// A polynomial of degree two at most in the coordinates of the unit cube.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polynomial {
    constant: f64,
    linear: Vec<f64>,
    /// A, symmetric [d, d].
    quadratic: Mat<f64>,
}

/// Which products of coordinates there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terms {
    Linear,
    Squares,
    All,
    /// So many of all products, besides those of the first two.
    LinearAnd(usize),
    SquaresAnd(usize),
}

/// Pairs of coordinates whose products are terms.
type Pairs = Vec<(usize, usize)>;

impl Terms {
    const EACH: [Terms; N_TERMS] = [
        Terms::Linear,
        Terms::LinearAnd(1),
        Terms::LinearAnd(2),
        Terms::LinearAnd(3),
        Terms::Squares,
        Terms::SquaresAnd(1),
        Terms::SquaresAnd(2),
        Terms::SquaresAnd(3),
        Terms::All,
    ];

    fn count(self, d: usize) -> usize {
        match self {
            Terms::Linear => d + 1,
            Terms::Squares => 2 * d + 1,
            Terms::All => (d + 1) * (d + 2) / 2,
            Terms::LinearAnd(more) => Terms::Linear.count(d) + more,
            Terms::SquaresAnd(more) => Terms::Squares.count(d) + more,
        }
    }

    /// The products that there are.
    fn pairs(self, d: usize) -> Pairs {
        match self {
            Terms::Linear | Terms::LinearAnd(_) => vec![],
            Terms::Squares | Terms::SquaresAnd(_) => (0..d).map(|k| (k, k)).collect(),
            Terms::All => (0..d).flat_map(|k| (0..=k).map(move |l| (k, l))).collect(),
        }
    }

    /// How many more there are, and of which.
    fn choice(self, d: usize) -> Option<(usize, Pairs)> {
        let (Terms::LinearAnd(more) | Terms::SquaresAnd(more)) = self else { return None };
        let there = self.pairs(d);
        let others = Terms::All.pairs(d).into_iter().filter(|pair| !there.contains(pair)).collect();
        Some((more, others))
    }

    /// Whether it is tried: it must differ from all products, and choices must not be too many.
    fn is_tried(self, d: usize) -> bool {
        let n_choices = |more: usize, of: usize| (0..more).fold(1, |n, k| n * (of - k) / (k + 1));
        let can_choose = match self {
            Terms::Linear | Terms::Squares | Terms::All => true,
            Terms::LinearAnd(more) | Terms::SquaresAnd(more) => {
                let of = (Terms::All.count(d) + more).saturating_sub(self.count(d));
                more < of && of <= MOST_PRODUCTS && n_choices(more, of) <= MOST_CHOICES
            }
        };
        can_choose && self.count(d) <= MOST_COEFFICIENTS
    }
}

/// Coordinates are taken from the middle of the cube.
const MIDDLE: f64 = 0.5;

impl Polynomial {
    /// d.
    pub(super) fn dim(&self) -> usize {
        self.linear.len()
    }

    /// The value at a point and its slopes.
    pub(super) fn at(&self, u: &[f64]) -> (f64, Vec<f64>) {
        let d = u.len();
        let from_middle: Vec<f64> = u.iter().map(|u| u - MIDDLE).collect();
        let (mut value, mut slope) = (self.constant, self.linear.clone());
        for k in 0..d {
            let product: f64 = (0..d).map(|l| self.quadratic[(k, l)] * from_middle[l]).sum();
            value += from_middle[k] * (self.linear[k] + product);
            slope[k] += 2.0 * product;
        }
        (value, slope)
    }

    /// constant + linearᵀz + Σ_k squares_k z_k², with z the way from a point.
    pub(super) fn from_point(u: &[f64], constant: f64, linear: &[f64], squares: &[f64]) -> Polynomial {
        let d = u.len();
        let way = |k: usize| MIDDLE - u[k];
        let constant = constant + (0..d).map(|k| way(k) * (linear[k] + squares[k] * way(k))).sum::<f64>();
        let linear = (0..d).map(|k| linear[k] + 2.0 * squares[k] * way(k)).collect();
        let quadratic = Mat::from_fn(d, d, |k, l| if k == l { squares[k] } else { 0.0 });
        Polynomial { constant, linear, quadratic }
    }

    /// The polynomial of these terms through all of the points, None if there is none or if they do not determine it.
    fn through(points: &[&[f64]], values: &[f64], terms: Terms) -> Option<Polynomial> {
        let d = points.first()?.len();
        let mut pairs = terms.pairs(d);
        if let Some((more, of)) = terms.choice(d) {
            pairs.extend(best_choice(points, values, &pairs, more, &of)?);
        }
        Polynomial::with_products(points, values, &pairs)
    }

    /// The same with these products.
    fn with_products(points: &[&[f64]], values: &[f64], pairs: &[(usize, usize)]) -> Option<Polynomial> {
        let (n, d) = (points.len(), points.first()?.len());
        let basis = basis(points, pairs);
        let factors = basis.col_piv_qr();
        let pivot = |j: usize| factors.R()[(j, j)].abs();
        if pivot(basis.ncols() - 1) < DETERMINED * pivot(0) {
            return None;
        }
        let shift = values[0];
        let right = Mat::from_fn(n, 1, |i, _| values[i] - shift);
        let solution = factors.solve_lstsq(right);
        let mut quadratic = Mat::zeros(d, d);
        for (j, &(k, l)) in pairs.iter().enumerate() {
            quadratic[(k, l)] += 0.5 * solution[(1 + d + j, 0)];
            quadratic[(l, k)] += 0.5 * solution[(1 + d + j, 0)];
        }
        let linear = (0..d).map(|k| solution[(1 + k, 0)]).collect();
        Some(Polynomial { constant: shift + solution[(0, 0)], linear, quadratic })
            .filter(|polynomial| polynomial.meets(points, values))
    }

    /// Whether all values are met to rounding.
    pub(super) fn meets(&self, points: &[&[f64]], values: &[f64]) -> bool {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        let size = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
        // What a large constant leaves of the digits cannot be met more closely.
        let near = ROUNDING * spread + 8.0 * f64::EPSILON * size;
        spread > 0.0 && points.iter().zip(values).all(|(u, value)| (self.at(u).0 - value).abs() <= near)
    }
}

/// The constant, the coordinates and these products at all points, [n, 1 + d + pairs].
fn basis(points: &[&[f64]], pairs: &[(usize, usize)]) -> Mat<f64> {
    let d = points.first().map_or(0, |u| u.len());
    Mat::from_fn(points.len(), 1 + d + pairs.len(), |i, j| match j {
        0 => 1.0,
        j if j <= d => points[i][j - 1] - MIDDLE,
        j => product(points[i], pairs[j - d - 1]),
    })
}

fn product(u: &[f64], (k, l): (usize, usize)) -> f64 {
    (u[k] - MIDDLE) * (u[l] - MIDDLE)
}

/// The `more` products `of` these that leave least of the values, beside a linear function and the products of `pairs`.
fn best_choice(
    points: &[&[f64]],
    values: &[f64],
    pairs: &[(usize, usize)],
    more: usize,
    of: &[(usize, usize)],
) -> Option<Pairs> {
    let n = points.len();
    let always = basis(points, pairs);
    let given = Mat::from_fn(n, 1 + of.len(), |i, j| match j {
        0 => values[i] - values[0],
        j => product(points[i], of[j - 1]),
    });
    let coefficients = always.col_piv_qr().solve_lstsq(given.as_ref());
    let left = &given - &always * &coefficients;
    let squares = left.transpose() * &left;
    let mut best = (f64::INFINITY, vec![]);
    let mut chosen: Vec<usize> = (1..=more).collect();
    loop {
        let rest = unexplained(&squares, &chosen);
        if rest < best.0 {
            best = (rest, chosen.clone());
        }
        // The next choice in the order of words.
        let Some(k) = (0..more).rev().find(|&k| chosen[k] < 1 + of.len() - (more - k)) else { break };
        chosen[k] += 1;
        (k + 1..more).for_each(|l| chosen[l] = chosen[l - 1] + 1);
    }
    best.0.is_finite().then(|| best.1.into_iter().map(|j| of[j - 1]).collect())
}

/// What columns of R leave of the first one's square, from RᵀR, by elimination; infinite if they are not independent.
fn unexplained(squares: &Mat<f64>, chosen: &[usize]) -> f64 {
    let q = chosen.len();
    let at = |i: usize| if i < q { chosen[i] } else { 0 };
    let mut a = [[0.0; MOST_MORE + 1]; MOST_MORE + 1];
    for i in 0..=q {
        for j in 0..=q {
            a[i][j] = squares[(at(i), at(j))];
        }
    }
    for i in 0..q {
        if a[i][i] <= DETERMINED * DETERMINED * squares[(at(i), at(i))] || a[i][i] <= 0.0 {
            return f64::INFINITY;
        }
        for j in i + 1..=q {
            let part = a[j][i] / a[i][i];
            for k in i..=q {
                a[j][k] -= part * a[i][k];
            }
        }
    }
    a[q][q]
}

/// The search for the polynomial of one output, whose results come in the order told.
#[derive(Debug, Clone, Default)]
pub(super) struct Recognition {
    /// For each kind of terms what the first so many results gave. It is kept: models of fewer results are asked for again and
    /// again, and a choice among thousands of products takes a millisecond.
    tried: [Vec<(usize, Option<Polynomial>)>; N_TERMS],
}

impl Recognition {
    /// The polynomial that all of the values are met by, with as few terms as do.
    pub(super) fn of(&mut self, points: &[&[f64]], values: &[f64]) -> Option<&Polynomial> {
        let d = points.first()?.len();
        let mut found = None;
        for (kind, terms) in Terms::EACH.into_iter().enumerate() {
            let first = terms.count(d) + EXTRA;
            if !terms.is_tried(d) || values.len() < first {
                continue;
            }
            let mut at = first;
            while ((at as f64 * GROWTH) as usize) <= values.len() {
                at = (at as f64 * GROWTH) as usize;
            }
            let tried = &mut self.tried[kind];
            let known = tried.iter().position(|(of, _)| *of == at).unwrap_or_else(|| {
                tried.push((at, Polynomial::through(&points[..at], &values[..at], terms)));
                tried.len() - 1
            });
            if tried[known].1.as_ref().is_some_and(|polynomial| polynomial.meets(points, values)) {
                found = Some((kind, known));
                break;
            }
        }
        found.and_then(|(kind, known)| self.tried[kind][known].1.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn points(n: usize, d: usize) -> Vec<Vec<f64>> {
        let mut stream = Stream::new(5, "points", 0);
        (0..n).map(|_| (0..d).map(|_| stream.uniform()).collect()).collect()
    }

    #[test]
    fn polynomials_are_recognised_from_two_results_more_than_coefficients() {
        let all = points(40, 4);
        let line: fn(&[f64]) -> f64 = |x| 3.0 - 7.0 * x[0] + 2.0 * x[3];
        let sphere: fn(&[f64]) -> f64 = |x| x.iter().map(|x| (10.0 * x - 3.0).powi(2)).sum::<f64>();
        let pair: fn(&[f64]) -> f64 = |x| x[0] - 4.0 * x[1] * x[3];
        let saddle: fn(&[f64]) -> f64 = |x| 1e5 + x[0] * x[1] - 3.0 * x[2] * x[2];
        let three: fn(&[f64]) -> f64 = |x| x[0] * (x[1] - x[2]) + 0.1 * x[3] * x[3] - x[2];
        let tilted: fn(&[f64]) -> f64 = |x| x.iter().map(|x| 2.0 * x * x - x).sum::<f64>() + x[0] * x[2];
        let full: fn(&[f64]) -> f64 = |x| x.iter().sum::<f64>().powi(2) - x[1];
        let all_kinds =
            [(line, 5), (pair, 6), (saddle, 7), (three, 8), (sphere, 9), (tilted, 10), (full, 15)];
        for (function, count) in all_kinds {
            let values: Vec<f64> = all.iter().map(|x| function(x)).collect();
            let rows: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
            let of = |n: usize| Recognition::default().of(&rows[..n], &values[..n]).cloned();
            assert!(of(count + 1).is_none());
            let found = of(count + 2).unwrap();
            let mut recognition = Recognition::default();
            for n in 2..=40 {
                assert_eq!(recognition.of(&rows[..n], &values[..n]).is_some(), n >= count + 2, "{n}");
            }
            for x in &rows[30..] {
                let (value, slope) = found.at(x);
                assert!((value - function(x)).abs() < 1e-9 * (1.0 + value.abs()));
                for k in 0..4 {
                    let moved = |by: f64| {
                        let mut x = x.to_vec();
                        x[k] += by;
                        found.at(&x).0
                    };
                    assert!(
                        (slope[k] - (moved(1e-4) - moved(-1e-4)) / 2e-4).abs()
                            < 1e-5 * (1.0 + slope[k].abs())
                    );
                }
            }
        }
    }

    #[test]
    fn products_are_chosen_among_few_inputs_only() {
        let tried = |terms: Terms| (0..300).filter(|&d| terms.is_tried(d)).max();
        let of_each = Terms::EACH.map(tried);
        // Products of d inputs: d (d + 1) / 2, without squares d (d - 1) / 2.
        let expected = [255, 22, 21, 10, 127, 23, 22, 11, 21].map(Some);
        assert_eq!(of_each, expected, "{:?}", Terms::EACH);
        for terms in Terms::EACH {
            for d in (1..300).filter(|&d| terms.is_tried(d)) {
                let (more, of) = terms.choice(d).unwrap_or_default();
                assert!(of.len() <= MOST_PRODUCTS && (more == 0 || more < of.len()), "{terms:?}, {d}");
                assert_eq!(terms.count(d), 1 + d + terms.pairs(d).len() + more, "{terms:?}, {d}");
            }
        }
    }

    /// What a choice of products leaves of the values is what least squares with all terms leave.
    #[test]
    fn the_rest_of_a_choice_is_that_of_least_squares() {
        let (seed, n, d) = (5, 17, 4);
        let all = points(n, d);
        let rows: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = rows.iter().map(|x| (7.0 * x[0] + x[1]).sin() + x[2]).collect();
        for terms in [Terms::LinearAnd(2), Terms::SquaresAnd(3)] {
            let (more, of) = terms.choice(d).unwrap();
            let rest = |chosen: &[(usize, usize)]| {
                let mut pairs = terms.pairs(d);
                pairs.extend(chosen);
                let basis = basis(&rows, &pairs);
                let right = Mat::from_fn(n, 1, |i, _| values[i]);
                (&right - &basis * basis.col_piv_qr().solve_lstsq(right.as_ref())).squared_norm_l2()
            };
            let best = best_choice(&rows, &values, &terms.pairs(d), more, &of).unwrap();
            let least = rest(&best);
            let of_mask = |mask: u32| -> Pairs {
                of.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, pair)| *pair).collect()
            };
            let masks = (0..1_u32 << of.len()).filter(|mask| mask.count_ones() as usize == more);
            let lowest = masks.map(|mask| rest(&of_mask(mask))).fold(f64::INFINITY, f64::min);
            assert!((least / lowest - 1.0).abs() < 1e-9, "seed {seed}, {terms:?}: {least} for {lowest}");
        }
    }

    #[test]
    fn what_is_almost_a_polynomial_or_not_determined_is_none() {
        let all = points(30, 3);
        let rows: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let bent: Vec<f64> = all.iter().map(|x| x[0] + 1e-6 * (5.0 * x[1]).sin()).collect();
        assert!(Recognition::default().of(&rows, &bent).is_none());
        let mut late: Vec<f64> = all.iter().map(|x| x[0] - x[2]).collect();
        let mut recognition = Recognition::default();
        assert!(recognition.of(&rows, &late).is_some());
        late[29] += 0.1;
        assert!(recognition.of(&rows, &late).is_none(), "a result takes it back");
        // On a line in the cube no coefficient of the others is known.
        let line: Vec<Vec<f64>> = (0..20).map(|i| vec![0.05 * f64::from(i), 0.5, 0.5]).collect();
        let rows: Vec<&[f64]> = line.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = line.iter().map(|x| 2.0 * x[0]).collect();
        assert!(Recognition::default().of(&rows, &values).is_none());
    }
}
