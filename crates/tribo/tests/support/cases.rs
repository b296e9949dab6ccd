//! Odd but legal data, each with a name. Whatever takes data must work on all of them.

use faer::Mat;
use tribo::rng::Stream;
use tribo::surrogate::data::Data;

/// Named data.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
    /// Whether y is a smooth function of X, so that a model with little noise must go through it.
    pub(crate) smooth: bool,
}

impl Case {
    pub(crate) fn data(&self) -> Data<'_> {
        Data::new(self.x.as_ref(), &self.y).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Lowest and highest value of every input, made one unit wide where the input does not vary.
    pub(crate) fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let widths = self.data().x_ranges();
        let low: Vec<f64> = (0..self.x.ncols())
            .map(|k| self.x.col_as_slice(k).iter().copied().fold(f64::INFINITY, f64::min))
            .collect();
        let high = low.iter().zip(&widths).map(|(low, width)| low + width).collect();
        (low, high)
    }
}

/// Points of the unit cube, fixed by `id`.
pub(crate) fn unit_points(n: usize, d: usize, id: u64) -> Mat<f64> {
    let mut stream = Stream::new(20, "points of the unit cube", id);
    Mat::from_fn(n, d, |_, _| stream.uniform())
}

/// A smooth function of a row of the unit cube, of order one.
fn smooth(u: &Mat<f64>, i: usize) -> f64 {
    (0..u.ncols()).map(|k| (3.0 * u[(i, k)] + k as f64).sin()).sum()
}

/// Smooth data: X is `place(k, u)` for input k of unit cube points u, y is `value(f(u))`.
fn smooth_case(
    name: &'static str,
    u: &Mat<f64>,
    place: impl Fn(usize, f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> Case {
    let x = Mat::from_fn(u.nrows(), u.ncols(), |i, k| place(k, u[(i, k)]));
    let y = (0..u.nrows()).map(|i| value(smooth(u, i))).collect();
    Case { name, x, y, smooth: true }
}

/// The list.
pub(crate) fn odd_data() -> Vec<Case> {
    let u = unit_points(14, 2, 0);
    let same_place = |_: usize, u: f64| u;
    let same_value = |f: f64| f;
    let each_twice = Mat::from_fn(16, 2, |i, k| u[(i / 2, k)]);
    // Apart by 1e-12 of the width: different numbers, the same point to any kernel.
    let nearly_twice = Mat::from_fn(16, 2, |i, k| u[(i / 2, k)] + 1e-12 * (i % 2) as f64);
    let identical = Mat::from_fn(9, 2, |_, k| u[(0, k)]);
    let flat = Mat::from_fn(14, 2, |i, k| if k == 0 { u[(i, 0)] } else { -3.5 });
    let mut unequal = smooth_case("one point, nine values", &identical, same_place, same_value);
    unequal.y = (0..9).map(|i| 1.0 + 0.1 * f64::from(i)).collect();
    unequal.smooth = false;
    let mut narrow = smooth_case("X too narrow to be measured", &u, |_, u| 1e-100 * u, same_value);
    narrow.smooth = false;
    vec![
        smooth_case("plain", &u, same_place, same_value),
        smooth_case("constant y", &u, same_place, |_| 7.25),
        smooth_case("y all zero", &u, same_place, |_| 0.0),
        smooth_case("constant y, large and not exact", &u, same_place, |_| 1e12 / 3.0),
        smooth_case("each point twice", &each_twice, same_place, same_value),
        smooth_case("each point nearly twice", &nearly_twice, same_place, same_value),
        smooth_case("all points identical", &identical, same_place, same_value),
        unequal,
        smooth_case("y of scale 1e12", &u, same_place, |f| 1e12 * f),
        smooth_case("y of scale 1e-12", &u, same_place, |f| 1e-12 * f),
        smooth_case("y far from zero", &u, same_place, |f| 1e9 + f),
        smooth_case("X far from the origin", &u, |_, u| 1e9 + u, same_value),
        smooth_case("X of scales 1e-9 and 1e9", &u, |k, u| u * [1e-9, 1e9][k], same_value),
        smooth_case("an input that does not vary", &flat, same_place, same_value),
        smooth_case("y and X as large as they may be", &u, |_, u| 1e60 * u, |f| 1e69 * f),
        smooth_case("y too small to be measured", &u, same_place, |f| 1e-100 * f),
        narrow,
        smooth_case("one point", &unit_points(1, 2, 1), same_place, same_value),
        smooth_case("one input", &unit_points(10, 1, 2), same_place, same_value),
        smooth_case("one point, one input", &unit_points(1, 1, 3), same_place, same_value),
        smooth_case("more inputs than points", &unit_points(3, 8, 4), same_place, same_value),
    ]
}
