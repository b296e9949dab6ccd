//! Sparse slopes from a few changes: which small set of inputs explains them all?
//!
//! The changes are y = W g, with a column of W for each input, and few slopes g differ from zero. Inputs are added one by one,
//! the one that agrees best with what is unexplained first `[@tropp2007]`, on a few paths at once. Each step costs the size of W on
//! every path, and a solution of least squares for every path's best few inputs. How many changes are proof is for the caller
//! to say.

use crate::strategy::auto::tuning;

/// When a set of inputs counts as proved, and how hard it is looked for.
pub(super) struct Proof {
    /// Changes for each input, and beyond.
    pub(super) each: usize,
    pub(super) spare: usize,
    /// What may stay unexplained of a change.
    pub(super) error: f64,
    /// Paths that are followed at once.
    pub(super) paths: usize,
}

/// The few of `n` inputs whose slopes explain all changes, with their slopes; none if there are no such. `agreement` says how
/// well an input's column agrees with what is left of the changes.
pub(super) fn explain(
    n: usize,
    changes: &[f64],
    proof: &Proof,
    column: impl Fn(usize) -> Vec<f64>,
    agreement: impl Fn(usize, &[f64]) -> f64,
) -> Option<Vec<(usize, f64)>> {
    let solve = |inputs: &[usize]| {
        least_squares(&inputs.iter().map(|&input| column(input)).collect::<Vec<_>>(), changes)
    };
    let mut paths: Vec<(Vec<usize>, Vec<f64>)> = vec![(vec![], changes.to_vec())];
    while let Some(k) = paths.first().map(|path| path.0.len())
        && proof.each * k + proof.spare <= changes.len()
    {
        let is_explained = |left: &[f64]| left.iter().all(|left| left.abs() <= proof.error);
        if let Some((inputs, _)) = paths.iter().find(|(_, left)| is_explained(left)) {
            let (slopes, _) = solve(inputs)?;
            return Some(inputs.iter().copied().zip(slopes).collect());
        }
        let mut next: Vec<(Vec<usize>, Vec<f64>)> = vec![];
        for (inputs, left) in &paths {
            let mut best: Vec<(f64, usize)> = vec![];
            for input in 0..n {
                let agreement = agreement(input, left);
                if best.len() < proof.paths || agreement > best[proof.paths - 1].0 {
                    let at = best.partition_point(|other| other.0 >= agreement);
                    best.insert(at, (agreement, input));
                    best.truncate(proof.paths);
                }
            }
            for (_, input) in best {
                let mut inputs = [&inputs[..], &[input]].concat();
                inputs.sort_unstable();
                if inputs.windows(2).any(|pair| pair[0] == pair[1])
                    || next.iter().any(|other| other.0 == inputs)
                {
                    continue;
                }
                if let Some((_, left)) = solve(&inputs) {
                    next.push((inputs, left));
                }
            }
        }
        let size = |left: &[f64]| left.iter().map(|x| x * x).sum::<f64>();
        next.sort_by(|a, b| size(&a.1).total_cmp(&size(&b.1)).then_with(|| a.0.cmp(&b.0)));
        next.truncate(proof.paths);
        paths = next;
    }
    None
}

/// Coefficients of columns that come closest to y, and what they leave; none if the columns depend on each other.
fn least_squares(columns: &[Vec<f64>], y: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = vec![];
    // Row i of the triangle: how column j >= i depends on basis i.
    let mut triangle: Vec<Vec<f64>> = vec![];
    let (mut left, mut along) = (y.to_vec(), vec![]);
    for (j, column) in columns.iter().enumerate() {
        let mut column = column.clone();
        for (q, row) in basis.iter().zip(&mut triangle) {
            row[j] = dot(q, &column);
            column.iter_mut().zip(q).for_each(|(c, q)| *c -= row[j] * q);
        }
        let norm = dot(&column, &column).sqrt();
        if norm < tuning::DEPENDENT * (y.len() as f64).sqrt() {
            return None;
        }
        column.iter_mut().for_each(|c| *c /= norm);
        let mut row = vec![0.0; columns.len()];
        row[j] = norm;
        triangle.push(row);
        let part = dot(&column, &left);
        left.iter_mut().zip(&column).for_each(|(left, q)| *left -= part * q);
        along.push(part);
        basis.push(column);
    }
    for i in (0..columns.len()).rev() {
        let known: f64 = (i + 1..columns.len()).map(|j| triangle[i][j] * along[j]).sum();
        along[i] = (along[i] - known) / triangle[i][i];
    }
    Some((along, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_solve_and_dependence_is_noticed() {
        let columns = [vec![1.0, 1.0, 1.0, 1.0], vec![1.0, -1.0, 1.0, 1.0], vec![1.0, 1.0, -1.0, 1.0]];
        let (x, left) = least_squares(&columns, &[4.0, 2.0, -2.0, 4.0]).unwrap();
        // 0.0 + 1.0 and 3.0 by hand.
        assert!(x.iter().zip([0.0, 1.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?}");
        assert!(left.iter().all(|left| left.abs() < 1e-12));
        assert!(least_squares(&[columns[0].clone(), columns[0].clone()], &[1.0; 4]).is_none());
    }
}
