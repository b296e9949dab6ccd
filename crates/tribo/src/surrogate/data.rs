//! Training data, checked once, and the few numbers that set its scale.

use crate::error::{Error, Result};
use faer::{Mat, MatRef};

/// Largest magnitude of an input or output: squares and sums of squares must stay finite. With the next constant it
/// keeps hyper-parameters in the default search ranges within what a kernel accepts, 1e-150 to 1e150.
pub(super) const LARGEST: f64 = 1e70;
/// Smallest width of an input, and smallest standard deviation of y, that counts as varying.
const SMALLEST: f64 = 1e-70;

/// Inputs X [n, d], any strides, and outputs y, n of them: finite, at least one point and one input. Rows may have weights and a
/// noise of their own.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    x: MatRef<'a, f64>,
    y: &'a [f64],
    /// How many rows each one stands for; empty if one.
    counts: &'a [f64],
    /// Σ (yᵢ - y)² over the rows it stands for; empty if zero.
    spreads: &'a [f64],
    /// ρ: the noise variance of each row is ρ σ²; empty if all are 1.
    noise: &'a [f64],
}

/// The few numbers that set the scale of data.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Width of each input's range, 1 where it does not vary.
    pub x_ranges: Vec<f64>,
    /// The middle of each input's range.
    pub x_middles: Vec<f64>,
    /// Mean of y.
    pub y_mean: f64,
    /// Variance of y; one lost in the rounding of the mean counts as zero.
    pub y_var: f64,
}

impl Scale {
    /// Of inputs between these ends.
    pub(super) fn new(ends: &[(f64, f64)], y_mean: f64, y_var: f64) -> Scale {
        let width = |(low, high): &(f64, f64)| if high - low > SMALLEST { high - low } else { 1.0 };
        let x_ranges = ends.iter().map(width).collect();
        let x_middles = ends.iter().map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        let least = SMALLEST.max(1e-15 * y_mean.abs());
        Scale { x_ranges, x_middles, y_mean, y_var: if y_var > least * least { y_var } else { 0.0 } }
    }

    /// The variance that hyper-parameters are measured against: that of y, or 1 where y is constant.
    pub fn y_scale_var(&self) -> f64 {
        if self.y_var > 0.0 { self.y_var } else { 1.0 }
    }
}

impl<'a> Data<'a> {
    /// Checks sizes and that every number is finite.
    pub fn new(x: MatRef<'a, f64>, y: &'a [f64]) -> Result<Data<'a>> {
        check_points("X", x)?;
        if x.nrows() != y.len() {
            return Err(Error::Size { what: "length of y (rows of X)", expected: x.nrows(), found: y.len() });
        }
        for (row, &value) in y.iter().enumerate() {
            check_number("y", (row, 0), value)?;
        }
        Ok(Data::unchecked(x, y))
    }

    /// Data that were checked before.
    pub(super) fn unchecked(x: MatRef<'a, f64>, y: &'a [f64]) -> Data<'a> {
        Data { x, y, counts: &[], spreads: &[], noise: &[] }
    }

    /// The same rows, each counting `weights[i]` times: with weight 2 a row is one that was given twice. Any positive numbers;
    /// a row of weight 0 is one to leave out.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Data<'a>> {
        check_row_numbers(weights, self.len(), "length of the weights (rows of X)", "weight of a row")?;
        Ok(Data { counts: weights, ..self })
    }

    /// The same rows with a noise variance of `factors[i]` σ² each, σ² being the model's. To say what the noise is, and not only
    /// how it compares, hold σ² (`Ranges::hold_noise`).
    pub fn with_noise(self, factors: &'a [f64]) -> Result<Data<'a>> {
        check_row_numbers(factors, self.len(), "length of the noise (rows of X)", "noise of a row")?;
        Ok(Data { noise: factors, ..self })
    }

    /// Whether rows stand for several.
    pub(super) fn is_weighted(&self) -> bool {
        !self.counts.is_empty()
    }

    /// How many rows each one stands for; empty if one.
    pub(super) fn counts(&self) -> &'a [f64] {
        self.counts
    }

    /// ρ of each row, whose noise variance is ρ σ²; empty if all are 1.
    pub(super) fn noise(&self) -> &'a [f64] {
        self.noise
    }

    /// Σ (yᵢ - y)² over the rows that each stands for; empty if zero.
    pub(super) fn spreads(&self) -> &'a [f64] {
        self.spreads
    }

    /// Rows that all of these stand for.
    pub(super) fn n_points(&self) -> f64 {
        if self.is_weighted() { self.counts.iter().sum() } else { self.len() as f64 }
    }

    /// X.
    pub fn x(&self) -> MatRef<'a, f64> {
        self.x
    }

    /// y.
    pub fn y(&self) -> &'a [f64] {
        self.y
    }

    /// n.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Never true: empty data are refused.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.x.ncols()
    }

    /// Mean and variance of y. A variance lost in the rounding of the mean counts as zero.
    pub fn y_moments(&self) -> (f64, f64) {
        let Scale { y_mean, y_var, .. } = self.scale();
        (y_mean, y_var)
    }

    /// The numbers that set the scale.
    pub fn scale(&self) -> Scale {
        let (mean, var) = if self.is_weighted() { self.weighted_moments() } else { self.moments() };
        Scale::new(&self.ends(), mean, var)
    }

    fn moments(&self) -> (f64, f64) {
        let n = self.len() as f64;
        let mean = self.y.iter().map(|y| y / n).sum::<f64>();
        let var = self.y.iter().map(|y| (y - mean) * (y - mean) / n).sum::<f64>();
        (mean, var)
    }

    fn weighted_moments(&self) -> (f64, f64) {
        let n = self.n_points();
        let mean = self.y.iter().zip(self.counts).map(|(y, count)| y * (count / n)).sum::<f64>();
        let var = (0..self.len())
            .map(|i| {
                let spread = self.spreads.get(i).unwrap_or(&0.0);
                (self.counts[i] * (self.y[i] - mean) * (self.y[i] - mean) + spread) / n
            })
            .sum();
        (mean, var)
    }

    /// The variance that hyper-parameters are measured against: that of y, or 1 where y is constant.
    pub fn y_scale_var(&self) -> f64 {
        self.scale().y_scale_var()
    }

    /// Width of each input's range, 1 where it does not vary.
    pub fn x_ranges(&self) -> Vec<f64> {
        self.scale().x_ranges
    }

    /// The lowest and the highest entry of each input.
    fn ends(&self) -> Vec<(f64, f64)> {
        (0..self.dim())
            .map(|k| {
                let column = self.x.col(k);
                let (mut low, mut high) = (column[0], column[0]);
                for i in 1..self.len() {
                    low = low.min(column[i]);
                    high = high.max(column[i]);
                }
                (low, high)
            })
            .collect()
    }

    /// The rows named, copied.
    pub fn rows(&self, rows: &[usize]) -> (Mat<f64>, Vec<f64>) {
        let OwnRows { x, y, .. } = self.pick(rows);
        (x, y)
    }

    /// The rows named, copied with what they stand for.
    pub(super) fn pick(&self, rows: &[usize]) -> OwnRows {
        let x = Mat::from_fn(rows.len(), self.dim(), |i, k| self.x[(rows[i], k)]);
        let part = |all: &[f64]| rows.iter().filter_map(|&i| all.get(i).copied()).collect();
        let (counts, spreads, noise) = (part(self.counts), part(self.spreads), part(self.noise));
        OwnRows { x, y: part(self.y), counts, spreads, noise }
    }
}

/// Rows in memory of their own.
#[derive(Debug, Clone)]
pub(super) struct OwnRows {
    /// Inputs, [n, d].
    pub(super) x: Mat<f64>,
    /// Outputs.
    pub(super) y: Vec<f64>,
    /// How many rows each one stands for; empty if one.
    pub(super) counts: Vec<f64>,
    /// Σ (yᵢ - y)² over these; empty if zero.
    pub(super) spreads: Vec<f64>,
    /// ρ of each, whose noise variance is ρ σ²; empty if all are 1.
    pub(super) noise: Vec<f64>,
}

impl OwnRows {
    /// Rows that stand for themselves. They were checked.
    pub(super) fn new(x: Mat<f64>, y: Vec<f64>) -> OwnRows {
        OwnRows { x, y, counts: vec![], spreads: vec![], noise: vec![] }
    }

    pub(super) fn data(&self) -> Data<'_> {
        let OwnRows { x, y, counts, spreads, noise } = self;
        Data { x: x.as_ref(), y, counts, spreads, noise }
    }
}

/// One number for each row, positive, and such that sums and inverses of them are finite.
fn check_row_numbers(values: &[f64], n: usize, length: &'static str, what: &'static str) -> Result<()> {
    if values.len() != n {
        return Err(Error::Size { what: length, expected: n, found: values.len() });
    }
    let (low, high) = (SMALLEST, LARGEST);
    match values.iter().find(|value| !(low..=high).contains(*value)) {
        Some(&value) => Err(Error::OutOfRange { what, value, low, high }),
        None => Ok(()),
    }
}

/// A number of X or y must be finite and not so large that its square is not.
pub(crate) fn check_number(what: &'static str, (row, column): (usize, usize), value: f64) -> Result<()> {
    if !value.is_finite() {
        return Err(Error::NotFinite { what, row, column, value });
    }
    check_magnitude(what, value)
}

/// A number may not be so large that its square is infinite.
pub(super) fn check_magnitude(what: &'static str, value: f64) -> Result<()> {
    if value.abs() <= LARGEST {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, value, low: -LARGEST, high: LARGEST })
    }
}

/// Points must exist, have inputs, and be finite.
pub(crate) fn check_points(what: &'static str, x: MatRef<'_, f64>) -> Result<()> {
    if x.nrows() == 0 || x.ncols() == 0 {
        return Err(Error::Empty { what });
    }
    for column in 0..x.ncols() {
        let values = x.col(column);
        for row in 0..x.nrows() {
            check_number(what, (row, column), values[row])?;
        }
    }
    Ok(())
}

/// Query points must also have the model's dimension; there may be none.
pub(crate) fn check_queries(x: MatRef<'_, f64>, d: usize) -> Result<()> {
    if x.ncols() != d {
        return Err(Error::Size { what: "columns of the query points", expected: d, found: x.ncols() });
    }
    if x.nrows() == 0 { Ok(()) } else { check_points("query points", x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_data_are_refused_with_the_place() {
        let x = Mat::from_fn(3, 2, |i, k| i as f64 + k as f64);
        assert!(matches!(Data::new(x.as_ref(), &[1.0, 2.0]), Err(Error::Size { expected: 3, found: 2, .. })));
        let error = Data::new(x.as_ref(), &[1.0, f64::NAN, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "y[1, 0] is NaN; every entry must be finite");
        let mut bad = x.clone();
        bad[(2, 1)] = f64::INFINITY;
        let error = Data::new(bad.as_ref(), &[1.0, 2.0, 3.0]).unwrap_err();
        assert!(matches!(error, Error::NotFinite { what: "X", row: 2, column: 1, .. }));
        assert!(matches!(Data::new(Mat::zeros(0, 2).as_ref(), &[]), Err(Error::Empty { what: "X" })));
        assert!(matches!(Data::new(Mat::zeros(1, 0).as_ref(), &[1.0]), Err(Error::Empty { what: "X" })));
        assert!(matches!(
            Data::new(x.as_ref(), &[1.0, 1e200, 0.0]),
            Err(Error::OutOfRange { what: "y", .. })
        ));
    }

    #[test]
    fn scales_of_degenerate_data_are_one() {
        let x = Mat::full(4, 2, 3.5);
        let y = [1e12 / 3.0; 4];
        let data = Data::new(x.as_ref(), &y).unwrap();
        assert_eq!(data.y_scale_var(), 1.0);
        assert_eq!(data.x_ranges(), vec![1.0, 1.0]);
    }
}
