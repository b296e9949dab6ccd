//! Contour lines of values on a grid, by marching squares.
//!
//! In each cell the line crosses an edge where its end values lie on both sides of the level, at the place linear in the
//! values. A saddle, where all four edges are crossed, is parted by the mean of the corners. Pieces of neighbouring cells are
//! joined to long lines.

/// A line as places on the grid: column and row, with fractions.
pub(crate) type Line = Vec<(f64, f64)>;

/// The lines where `value`, on `columns` x `rows` places in rows, equals `level`. Cells with a value that is not finite have
/// none.
pub(crate) fn lines(values: &[f64], columns: usize, rows: usize, level: f64) -> Vec<Line> {
    let mut pieces: Vec<(Edge, Edge)> = Vec::new();
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns.saturating_sub(1) {
            cell(values, columns, (column, row), level, &mut pieces);
        }
    }
    let place = |edge: Edge| crossing(values, columns, edge, level);
    joined(pieces).into_iter().map(|line| line.into_iter().map(place).collect()).collect()
}

/// An edge of the grid: column and row of its first end, and whether it goes on to the next column, else to the next row.
type Edge = (usize, usize, bool);

fn cell(values: &[f64], columns: usize, (i, j): (usize, usize), level: f64, pieces: &mut Vec<(Edge, Edge)>) {
    let at = |i: usize, j: usize| values[j * columns + i];
    let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    if corners.iter().any(|value| !value.is_finite()) {
        return;
    }
    // Bottom, right, top, left: edge k lies between corners k and k + 1.
    let edges: [Edge; 4] = [(i, j, true), (i + 1, j, false), (i, j + 1, true), (i, j, false)];
    let above = corners.map(|value| value > level);
    let crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
    match crossed[..] {
        [a, b] => pieces.push((edges[a], edges[b])),
        [..] if crossed.len() == 4 => {
            // The middle belongs with corners 0 and 2, or with 1 and 3: the lines cut off the other two.
            let middle = corners.iter().sum::<f64>() / 4.0 > level;
            let pairs = if middle == above[0] { [(0, 1), (2, 3)] } else { [(3, 0), (1, 2)] };
            pieces.extend(pairs.map(|(a, b)| (edges[a], edges[b])));
        }
        _ => {}
    }
}

/// Where an edge is crossed.
fn crossing(values: &[f64], columns: usize, (i, j, along): Edge, level: f64) -> (f64, f64) {
    let a = values[j * columns + i];
    let b = if along { values[j * columns + i + 1] } else { values[(j + 1) * columns + i] };
    let part = if a == b { 0.5 } else { ((level - a) / (b - a)).clamp(0.0, 1.0) };
    if along { (i as f64 + part, j as f64) } else { (i as f64, j as f64 + part) }
}

/// Pieces with a common end joined, each used once.
fn joined(pieces: Vec<(Edge, Edge)>) -> Vec<Vec<Edge>> {
    use std::collections::BTreeMap;
    let mut at: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
    for (n, (a, b)) in pieces.iter().enumerate() {
        at.entry(*a).or_default().push(n);
        at.entry(*b).or_default().push(n);
    }
    let mut used = vec![false; pieces.len()];
    // Open lines first, from their ends; what is left are closed ones.
    let is_end = |n: usize| [pieces[n].0, pieces[n].1].iter().any(|edge| at[edge].len() == 1);
    let order: Vec<usize> =
        (0..pieces.len()).filter(|&n| is_end(n)).chain((0..pieces.len()).filter(|&n| !is_end(n))).collect();
    let mut lines = Vec::new();
    for start in order {
        if std::mem::replace(&mut used[start], true) {
            continue;
        }
        let (a, b) = pieces[start];
        let mut line = if at[&a].len() == 1 { vec![a, b] } else { vec![b, a] };
        while let Some(&end) = line.last() {
            let Some(&next) = at[&end].iter().find(|&&n| !used[n]) else { break };
            used[next] = true;
            line.push(if pieces[next].0 == end { pieces[next].1 } else { pieces[next].0 });
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bowl_has_one_closed_line_at_the_right_distance() {
        let n = 41;
        let bowl = |k: usize| {
            let (x, y) = ((k % n) as f64 - 20.0, (k / n) as f64 - 20.0);
            x * x + y * y
        };
        let values: Vec<f64> = (0..n * n).map(bowl).collect();
        let found = lines(&values, n, n, 100.0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].first(), found[0].last());
        // Linear in the values of a parabola over one cell: at most 1/8 of its second difference, 2, over the slope, 20.
        for (x, y) in &found[0] {
            assert!(((x - 20.0).hypot(y - 20.0) - 10.0).abs() < 0.02, "{x} {y}");
        }
    }

    #[test]
    fn a_plane_has_one_open_line_and_a_saddle_two() {
        let plane: Vec<f64> = (0..12).map(|k| (k % 4) as f64).collect();
        assert_eq!(lines(&plane, 4, 3, 1.25), [[(1.25, 0.0), (1.25, 1.0), (1.25, 2.0)]]);
        let saddle = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(lines(&saddle, 2, 2, 0.4).len(), 2);
        assert_eq!(lines(&saddle, 2, 2, 2.0).len(), 0);
        assert_eq!(lines(&[1.0, f64::NAN, 0.0, 1.0], 2, 2, 0.4).len(), 0);
        assert!(lines(&[], 0, 0, 0.0).is_empty());
    }
}
