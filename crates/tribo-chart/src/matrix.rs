//! A matrix of scatters: each input against each other one, coloured by value, and how often each place was tried.

use crate::Chart;
use crate::bars::cut;
use crate::picture::{Anchor, FONT_SIZE, Picture, TITLE_SIZE, wrapped};
use crate::theme::LEVELS;

/// Where results lie, in all pairs of inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// Title above the chart.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub description: String,
    /// Names of the inputs.
    pub names: Vec<String>,
    /// Results: places 0 to 1 of all inputs, and the level between the best and the worst, from [`level`](crate::level).
    /// Those in front last.
    pub results: Vec<(Vec<f64>, usize)>,
}

const CELL: f64 = 118.0;
const GAP: f64 = 8.0;
/// Bars of a count along an input.
const N_BINS: usize = 12;

impl Chart for Matrix {
    fn picture(&self) -> Picture {
        let n = self.names.len();
        let side = n as f64 * (CELL + GAP);
        let title = wrapped(&self.title, TITLE_SIZE, side.max(300.0));
        let (left, top) = (34.0, 22.0 + 1.3 * TITLE_SIZE * title.len() as f64);
        let mut picture =
            Picture::new(left + side.max(300.0) + 16.0, top + side + 30.0, &self.title, &self.description);
        picture.title(left, 12.0 + TITLE_SIZE, &title);
        let whole = |places: &[f64]| places.len() == n && places.iter().all(|place| place.is_finite());
        let results: Vec<&(Vec<f64>, usize)> =
            self.results.iter().filter(|(places, _)| whole(places)).collect();
        for row in 0..n {
            for column in 0..=row {
                let (x, y) = (left + column as f64 * (CELL + GAP), top + row as f64 * (CELL + GAP));
                picture.element(&format!(
                    "<rect class=\"n g\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\"/>"
                ));
                if row == column {
                    counts(&mut picture, &results, row, x, y);
                } else {
                    scatter(&mut picture, &results, (column, row), x, y);
                }
            }
            let middle = top + row as f64 * (CELL + GAP) + CELL / 2.0;
            picture.upward_text(left - 12.0, middle, &cut(&self.names[row]));
            let under = left + row as f64 * (CELL + GAP) + CELL / 2.0;
            picture.text(under, top + side + FONT_SIZE, Anchor::Middle, &cut(&self.names[row]));
        }
        picture
    }
}

/// How many results lie in each part of an input.
fn counts(picture: &mut Picture, results: &[&(Vec<f64>, usize)], input: usize, x: f64, y: f64) {
    let mut bins = [0_usize; N_BINS];
    for (places, _) in results {
        bins[((places[input].clamp(0.0, 1.0) * N_BINS as f64) as usize).min(N_BINS - 1)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(0).max(1) as f64;
    let width = CELL / N_BINS as f64;
    for (i, &count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (CELL - 8.0) * count as f64 / most;
        picture.mark(
            &format!(
                "<rect class=\"f7\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill-opacity=\"0.6\"",
                x + i as f64 * width + 0.5,
                y + CELL - height,
                width - 1.0
            ),
            &format!("{count} results"),
        );
    }
}

/// Results as dots. One path for each colour: a thousand results in fifteen cells stay small.
fn scatter(picture: &mut Picture, results: &[&(Vec<f64>, usize)], (a, b): (usize, usize), x: f64, y: f64) {
    let mut paths = vec![String::new(); LEVELS];
    for (places, level) in results {
        let at = x + 3.0 + (CELL - 6.0) * places[a].clamp(0.0, 1.0);
        let up = y + CELL - 3.0 - (CELL - 6.0) * places[b].clamp(0.0, 1.0);
        paths[(*level).min(LEVELS - 1)] += &format!("M{at:.0} {up:.0}h0");
    }
    // The best in front.
    for (level, path) in paths.iter().enumerate().rev().filter(|(_, path)| !path.is_empty()) {
        picture.element(&format!(
            "<path class=\"n t{level}\" d=\"{path}\" stroke-width=\"5\" stroke-linecap=\"round\"/>"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    #[test]
    fn every_pair_has_a_cell() {
        let names: Vec<String> = ["a", "b & c", "d"].map(str::to_owned).to_vec();
        let results =
            vec![(vec![0.1, 0.2, 0.3], 0), (vec![0.5; 3], 99), (vec![f64::NAN; 3], 1), (vec![0.1], 1)];
        let svg = Matrix { names, results, ..Matrix::default() }.to_svg();
        assert_well_formed(&svg);
        assert_eq!(svg.matches("class=\"n g\"").count(), 6);
        assert_eq!(svg.matches("class=\"n t0\"").count(), 3);
        assert_well_formed(&Matrix::default().to_svg());
    }
}
