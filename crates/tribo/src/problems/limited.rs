//! Problems with limits on other outputs than the objective, and their known optima.
//!
//! The g functions are those of `[@liang2006]`, the engineering problems those of `[@coello2002]` and `[@ray2003]`, in the
//! form that people would write them in: `stress <= 13600`, not a difference that must not be positive. The objective is to
//! be minimised in a box.

use super::{active_inputs, path, wrong_dim};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::rng::Stream;
use std::f64::consts::{E, PI, TAU};
use std::fmt;
use std::sync::Arc;

/// The objective and what is limited, in the order of the limits.
type Answer = (f64, Vec<f64>);
type Function = dyn Fn(&[f64]) -> Answer + Send + Sync;

/// A function on a box with limits on its other outputs.
#[derive(Clone)]
pub struct Limited {
    name: &'static str,
    low: Vec<f64>,
    high: Vec<f64>,
    limits: Vec<Limit>,
    optimum_value: f64,
    optimiser: Vec<f64>,
    /// Inputs that are whole numbers.
    whole: Vec<usize>,
    function: Arc<Function>,
}

impl Limited {
    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Lower bounds.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Upper bounds.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The limits.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The smallest value within all limits.
    pub fn optimum_value(&self) -> f64 {
        self.optimum_value
    }

    /// A point where it is taken, to six digits or more.
    pub fn optimiser(&self) -> &[f64] {
        &self.optimiser
    }

    /// Inputs that are whole numbers, in increasing order.
    pub fn whole(&self) -> &[usize] {
        &self.whole
    }

    /// The objective at x and what is limited, in the order of the limits; nothing for a point with another number of
    /// coordinates.
    pub fn evaluate(&self, x: &[f64]) -> Option<Answer> {
        (x.len() == self.low.len()).then(|| (self.function)(x))
    }

    /// The same among `dim` inputs: its own at the places of [`active_inputs`], in random order, and between them others from 0 to
    /// 1 that drive nothing.
    pub fn among(&self, dim: usize, seed: u64) -> Result<Limited> {
        let n = self.low.len();
        if dim < n {
            return Err(wrong_dim(self.name, dim, format!("at least {n}")));
        }
        let mut places = active_inputs(dim, n, seed);
        Stream::new(seed, "order of active inputs", 0).shuffle(&mut places);
        let spread = |own: &[f64], other: f64| {
            let mut all = vec![other; dim];
            places.iter().zip(own).for_each(|(&place, &own)| all[place] = own);
            all
        };
        let (low, high, optimiser) =
            (spread(&self.low, 0.0), spread(&self.high, 1.0), spread(&self.optimiser, 0.5));
        let mut whole: Vec<usize> = self.whole.iter().map(|&k| places[k]).collect();
        whole.sort_unstable();
        let own = Arc::clone(&self.function);
        let function = move |x: &[f64]| own(&places.iter().map(|&place| x[place]).collect::<Vec<f64>>());
        Ok(Limited { low, high, optimiser, whole, function: Arc::new(function), ..self.clone() })
    }
}

impl fmt::Debug for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limited({}, {} inputs, {} limits)", self.name, self.low.len(), self.limits.len())
    }
}

/// The names that [`limited`] knows.
pub const LIMITED_NAMES: [&str; 20] = [
    "welded_beam",
    "spring",
    "speed_reducer",
    "pressure_vessel",
    "pressure_vessel_plates",
    "g01",
    "g02",
    "g03",
    "g04",
    "g05",
    "g06",
    "g07",
    "g08",
    "g09",
    "g10",
    "g24",
    "gardner",
    "ackley10",
    "path",
    "path_fine",
];

/// The problem of this name: one of [`LIMITED_NAMES`].
pub fn limited(name: &str) -> Result<Limited> {
    let Some(&name) = LIMITED_NAMES.iter().find(|known| **known == name) else {
        return Err(Error::UnknownProblem { name: name.to_owned(), known: LIMITED_NAMES.join(", ") });
    };
    let (bounds, limits, optimum_value, optimiser, function) = parts(name);
    let whole = if name == "pressure_vessel_plates" { vec![0, 1] } else { vec![] };
    let (low, high) = bounds.into_iter().unzip();
    let limits = limits.into_iter().map(Limit::parse).collect::<Result<_>>()?;
    Ok(Limited { name, low, high, limits, optimum_value, optimiser, whole, function: Arc::new(function) })
}

type Parts = (Vec<(f64, f64)>, Vec<&'static str>, f64, Vec<f64>, fn(&[f64]) -> Answer);

#[rustfmt::skip]
fn parts(name: &str) -> Parts {
    match name {
        "welded_beam" => (
            vec![(0.125, 10.0), (0.1, 10.0), (0.1, 10.0), (0.1, 10.0)],
            vec!["shear <= 13600", "bending <= 30000", "thicker <= 0", "cost <= 5", "deflection <= 0.25", "buckling >= 6000"],
            1.724_852_309, vec![0.205_729_64, 3.470_488_66, 9.036_623_91, 0.205_729_64], welded_beam,
        ),
        "spring" => (
            vec![(0.05, 1.0), (0.25, 1.3), (2.0, 15.0)],
            vec!["deflection >= 1", "stress <= 1", "frequency >= 1", "diameter <= 1.5"],
            0.012_665_233, vec![0.051_689_06, 0.356_717_74, 11.288_966], spring,
        ),
        "speed_reducer" => (
            vec![(2.6, 3.6), (0.7, 0.8), (17.0, 28.0), (7.3, 8.3), (7.8, 8.3), (2.9, 3.9), (5.0, 5.5)],
            vec!["teeth_bending <= 1", "contact <= 1", "deflection_1 <= 1", "deflection_2 <= 1", "stress_1 <= 1100",
                 "stress_2 <= 850", "space <= 40", "5 <= ratio <= 12", "shaft_1 <= 1", "shaft_2 <= 1"],
            2_996.348_165, vec![3.5, 0.7, 17.0, 7.3, 7.8, 3.350_214_67, 5.286_683_23], speed_reducer,
        ),
        "pressure_vessel" => (
            vec![(0.0625, 6.1875), (0.0625, 6.1875), (10.0, 200.0), (10.0, 200.0)],
            vec!["shell >= 0", "head >= 0", "volume >= 1296000", "length <= 240"],
            5_885.332_773_6, vec![0.778_168_64, 0.384_649_16, 40.319_618_7, 200.0], pressure_vessel,
        ),
        "pressure_vessel_plates" => (
            vec![(1.0, 99.0), (1.0, 99.0), (10.0, 200.0), (10.0, 200.0)],
            vec!["shell >= 0", "head >= 0", "volume >= 1296000", "length <= 240"],
            6_059.714_335, vec![13.0, 7.0, 42.098_445_6, 176.636_595_8],
            |x| pressure_vessel(&[x[0] / 16.0, x[1] / 16.0, x[2], x[3]]),
        ),
        "g01" => {
            let mut bounds = vec![(0.0, 1.0); 13];
            bounds[9..12].fill((0.0, 100.0));
            let mut optimiser = vec![1.0; 13];
            optimiser[9..12].fill(3.0);
            (bounds, vec!["c1 <= 10", "c2 <= 10", "c3 <= 10", "c4 <= 0", "c5 <= 0", "c6 <= 0", "c7 <= 0", "c8 <= 0",
                          "c9 <= 0"], -15.0, optimiser, g01)
        }
        "g02" => (
            vec![(0.0, 10.0); 20], vec!["product >= 0.75", "sum <= 150"], -0.803_619_104,
            vec![3.162_460_62, 3.128_331_43, 3.094_792_13, 3.061_450_6, 3.027_929_16, 2.993_826_07, 2.958_668_72,
                 2.921_842_27, 0.494_825_115, 0.488_357_11, 0.482_316_427, 0.476_644_751, 0.471_295_508, 0.466_230_993,
                 0.461_420_05, 0.456_836_648, 0.452_458_769, 0.448_267_622, 0.444_247_01, 0.440_382_86],
            g02,
        ),
        "g03" => (vec![(0.0, 1.0); 10], vec!["squares == 1"], -1.0, vec![0.1_f64.sqrt(); 10], |x| {
            (-10.0_f64.powi(5) * x.iter().product::<f64>(), vec![squares(x)])
        }),
        "g04" => (
            vec![(78.0, 102.0), (33.0, 45.0), (27.0, 45.0), (27.0, 45.0), (27.0, 45.0)],
            vec!["0 <= c1 <= 92", "90 <= c2 <= 110", "20 <= c3 <= 25"], -30_665.538_672,
            vec![78.0, 33.0, 29.995_256_03, 45.0, 36.775_812_91], g04,
        ),
        "g05" => (
            vec![(0.0, 1_200.0), (0.0, 1_200.0), (-0.55, 0.55), (-0.55, 0.55)],
            vec!["-0.55 <= difference <= 0.55", "c1 == 894.8", "c2 == 894.8", "c3 == 1294.8"], 5_126.496_714,
            vec![679.945_148_3, 1_026.066_976, 0.118_876_369, -0.396_233_485], g05,
        ),
        "g06" => (
            vec![(13.0, 100.0), (0.0, 100.0)], vec!["c1 >= 100", "c2 <= 82.81"], -6_961.813_876,
            vec![14.095, 0.842_960_789], |x| {
                let square = |a: f64, b: f64| (x[0] - a).powi(2) + (x[1] - b).powi(2);
                ((x[0] - 10.0).powi(3) + (x[1] - 20.0).powi(3), vec![square(5.0, 5.0), square(6.0, 5.0)])
            },
        ),
        "g07" => (
            vec![(-10.0, 10.0); 10],
            vec!["c1 <= 105", "c2 <= 0", "c3 <= 12", "c4 <= 120", "c5 <= 40", "c6 <= 0", "c7 <= 30", "c8 <= 0"],
            24.306_209_068,
            vec![2.171_996_341, 2.363_683_042, 8.773_925_739, 5.095_984_437, 0.990_654_757, 1.430_573_929,
                 1.321_644_154, 9.828_725_765, 8.280_091_589, 8.375_926_648],
            g07,
        ),
        "g08" => (
            vec![(0.0, 10.0), (0.0, 10.0)], vec!["c1 <= -1", "c2 <= -1"], -0.095_825_041_4,
            vec![1.227_971_353, 4.245_373_366], |x| {
                // At zero the quotient has no value; nearby it is as large as the sine allows.
                let value = (TAU * x[0]).sin().powi(3) * (TAU * x[1]).sin() / (x[0].powi(3) * (x[0] + x[1]));
                let value = if value.is_finite() { -value } else { 0.0 };
                (value, vec![x[0] * x[0] - x[1], -x[0] + (x[1] - 4.0).powi(2)])
            },
        ),
        "g09" => (
            vec![(-10.0, 10.0); 7], vec!["c1 <= 127", "c2 <= 282", "c3 <= 196", "c4 <= 0"], 680.630_057_374,
            vec![2.330_499_351, 1.951_372_368, -0.477_541_4, 4.365_726_249, -0.624_486_959, 1.038_131, 1.594_226_678],
            g09,
        ),
        "g10" => (
            vec![(100.0, 10_000.0), (1_000.0, 10_000.0), (1_000.0, 10_000.0), (10.0, 1_000.0), (10.0, 1_000.0),
                 (10.0, 1_000.0), (10.0, 1_000.0), (10.0, 1_000.0)],
            vec!["c1 <= 1", "c2 <= 1", "c3 <= 1", "c4 <= 83333.333", "c5 <= 0", "c6 <= -1250000"], 7_049.248_020_5,
            vec![579.306_685_018, 1_359.970_678_079, 5_109.970_657_431, 182.017_699_631, 295.601_173_703,
                 217.982_300_369, 286.416_525_928, 395.601_173_703],
            g10,
        ),
        "g24" => (
            vec![(0.0, 3.0), (0.0, 4.0)], vec!["c1 <= 2", "c2 <= 36"], -5.508_013_271_6,
            vec![2.329_520_197, 3.178_493_074], |x| {
                let a = x[0];
                let first = -2.0 * a.powi(4) + 8.0 * a.powi(3) - 8.0 * a * a + x[1];
                let second = -4.0 * a.powi(4) + 32.0 * a.powi(3) - 88.0 * a * a + 96.0 * a + x[1];
                (-a - x[1], vec![first, second])
            },
        ),
        "gardner" => (
            vec![(0.0, 6.0), (0.0, 6.0)], vec!["c <= -0.95"], 0.95_f64.asin() - 1.0,
            vec![1.5 * PI, 0.95_f64.asin()], |x| (x[0].sin() + x[1], vec![x[0].sin() * x[1].sin()]),
        ),
        "path" | "path_fine" => {
            let corners = if name == "path" { 1 } else { 2 };
            let (length, way) = path::optimum(corners);
            let bounds = [(0.0, 10.0), (-3.0, 3.0)].repeat(2 * corners);
            (bounds, vec!["clearance_1 >= 1.5", "clearance_2 >= 1.5"], length, way, path::path)
        }
        _ => (
            vec![(-5.0, 10.0); 10], vec!["sum <= 0", "norm <= 5"], 0.0, vec![0.0; 10], |x| {
                let d = x.len() as f64;
                let cosines = x.iter().map(|x| (TAU * x).cos()).sum::<f64>();
                let value = 20.0 + E - 20.0 * (-0.2 * (squares(x) / d).sqrt()).exp() - (cosines / d).exp();
                (value, vec![x.iter().sum(), squares(x).sqrt()])
            },
        ),
    }
}

fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

fn welded_beam(x: &[f64]) -> Answer {
    let [h, l, t, b] = *x else { return (f64::NAN, vec![]) };
    let (load, length, young, shear) = (6_000.0, 14.0, 30e6, 12e6);
    let radius_squared = l * l / 4.0 + ((h + t) / 2.0).powi(2);
    let radius = f64::sqrt(radius_squared);
    let inertia = 2.0 * 2.0_f64.sqrt() * h * l * (l * l / 12.0 + ((h + t) / 2.0).powi(2));
    let primary = load / (2.0_f64.sqrt() * h * l);
    let secondary = load * (length + l / 2.0) * radius / inertia;
    let stress = (primary * primary + primary * secondary * l / radius + secondary * secondary).sqrt();
    let critical = 4.013 * young * t * b.powi(3) / 6.0 / (length * length)
        * (1.0 - t / (2.0 * length) * (young / (4.0 * shear)).sqrt());
    let bar = 0.048_11 * t * b * (14.0 + l);
    let limited = vec![
        stress,
        6.0 * load * length / (b * t * t),
        h - b,
        0.104_71 * h * h + bar,
        4.0 * load * length.powi(3) / (young * t.powi(3) * b),
        critical,
    ];
    (1.104_71 * h * h * l + bar, limited)
}

fn spring(x: &[f64]) -> Answer {
    let (wire, coil, turns) = (x[0], x[1], x[2]);
    let limited = vec![
        coil.powi(3) * turns / (71_785.0 * wire.powi(4)),
        (4.0 * coil * coil - wire * coil) / (12_566.0 * (coil * wire.powi(3) - wire.powi(4)))
            + 1.0 / (5_108.0 * wire * wire),
        140.45 * wire / (coil * coil * turns),
        wire + coil,
    ];
    ((turns + 2.0) * coil * wire * wire, limited)
}

#[allow(clippy::approx_constant)] // The published formula has four digits of it, and so has its optimum.
fn speed_reducer(x: &[f64]) -> Answer {
    let [width, module, teeth, l1, l2, d1, d2] = *x else { return (f64::NAN, vec![]) };
    let value = 0.785_4 * width * module * module * (3.333_3 * teeth * teeth + 14.933_4 * teeth - 43.093_4)
        - 1.508 * width * (d1 * d1 + d2 * d2)
        + 7.477_7 * (d1.powi(3) + d2.powi(3))
        + 0.785_4 * (l1 * d1 * d1 + l2 * d2 * d2);
    let stress = |l: f64, d: f64, other: f64| {
        ((745.0 * l / (module * teeth)).powi(2) + other).sqrt() / (0.1 * d.powi(3))
    };
    let limited = vec![
        27.0 / (width * module * module * teeth),
        397.5 / (width * module * module * teeth * teeth),
        1.93 * l1.powi(3) / (module * teeth * d1.powi(4)),
        1.93 * l2.powi(3) / (module * teeth * d2.powi(4)),
        stress(l1, d1, 16.9e6),
        stress(l2, d2, 157.5e6),
        module * teeth,
        width / module,
        (1.5 * d1 + 1.9) / l1,
        (1.1 * d2 + 1.9) / l2,
    ];
    (value, limited)
}

fn pressure_vessel(x: &[f64]) -> Answer {
    let [shell, head, radius, length] = *x else { return (f64::NAN, vec![]) };
    let value = 0.622_4 * shell * radius * length
        + 1.778_1 * head * radius * radius
        + 3.166_1 * shell * shell * length
        + 19.84 * shell * shell * radius;
    let volume = PI * radius * radius * length + 4.0 / 3.0 * PI * radius.powi(3);
    (value, vec![shell - 0.019_3 * radius, head - 0.009_54 * radius, volume, length])
}

fn g01(x: &[f64]) -> Answer {
    let value = 5.0 * x[..4].iter().sum::<f64>() - 5.0 * squares(&x[..4]) - x[4..].iter().sum::<f64>();
    let limited = vec![
        2.0 * x[0] + 2.0 * x[1] + x[9] + x[10],
        2.0 * x[0] + 2.0 * x[2] + x[9] + x[11],
        2.0 * x[1] + 2.0 * x[2] + x[10] + x[11],
        -8.0 * x[0] + x[9],
        -8.0 * x[1] + x[10],
        -8.0 * x[2] + x[11],
        -2.0 * x[3] - x[4] + x[9],
        -2.0 * x[5] - x[6] + x[10],
        -2.0 * x[7] - x[8] + x[11],
    ];
    (value, limited)
}

fn g02(x: &[f64]) -> Answer {
    let fourth: f64 = x.iter().map(|x| x.cos().powi(4)).sum();
    let product: f64 = x.iter().map(|x| x.cos().powi(2)).product();
    let weighted: f64 = x.iter().enumerate().map(|(k, x)| (k + 1) as f64 * x * x).sum();
    let value = -((fourth - 2.0 * product) / weighted.max(1e-12).sqrt()).abs();
    (value, vec![x.iter().product(), x.iter().sum()])
}

fn g04(x: &[f64]) -> Answer {
    let value = 5.357_854_7 * x[2] * x[2] + 0.835_689_1 * x[0] * x[4] + 37.293_239 * x[0] - 40_792.141;
    let limited = vec![
        85.334_407 + 0.005_685_8 * x[1] * x[4] + 0.000_626_2 * x[0] * x[3] - 0.002_205_3 * x[2] * x[4],
        80.512_49 + 0.007_131_7 * x[1] * x[4] + 0.002_995_5 * x[0] * x[1] + 0.002_181_3 * x[2] * x[2],
        9.300_961 + 0.004_702_6 * x[2] * x[4] + 0.001_254_7 * x[0] * x[2] + 0.001_908_5 * x[2] * x[3],
    ];
    (value, limited)
}

fn g05(x: &[f64]) -> Answer {
    let value = 3.0 * x[0] + 1e-6 * x[0].powi(3) + 2.0 * x[1] + 2e-6 / 3.0 * x[1].powi(3);
    let sine = |a: f64| 1_000.0 * (a - 0.25).sin();
    let limited = vec![
        x[3] - x[2],
        x[0] - sine(-x[2]) - sine(-x[3]),
        x[1] - sine(x[2]) - sine(x[2] - x[3]),
        -sine(x[3]) - sine(x[3] - x[2]),
    ];
    (value, limited)
}

fn g07(x: &[f64]) -> Answer {
    let [a, b, c, d, e, f, g, h, i, j] = *x else { return (f64::NAN, vec![]) };
    let value = a * a + b * b + a * b - 14.0 * a - 16.0 * b
        + (c - 10.0).powi(2)
        + 4.0 * (d - 5.0).powi(2)
        + (e - 3.0).powi(2)
        + 2.0 * (f - 1.0).powi(2)
        + 5.0 * g * g
        + 7.0 * (h - 11.0).powi(2)
        + 2.0 * (i - 10.0).powi(2)
        + (j - 7.0).powi(2)
        + 45.0;
    let limited = vec![
        4.0 * a + 5.0 * b - 3.0 * g + 9.0 * h,
        10.0 * a - 8.0 * b - 17.0 * g + 2.0 * h,
        -8.0 * a + 2.0 * b + 5.0 * i - 2.0 * j,
        3.0 * (a - 2.0).powi(2) + 4.0 * (b - 3.0).powi(2) + 2.0 * c * c - 7.0 * d,
        5.0 * a * a + 8.0 * b + (c - 6.0).powi(2) - 2.0 * d,
        a * a + 2.0 * (b - 2.0).powi(2) - 2.0 * a * b + 14.0 * e - 6.0 * f,
        0.5 * (a - 8.0).powi(2) + 2.0 * (b - 4.0).powi(2) + 3.0 * e * e - f,
        -3.0 * a + 6.0 * b + 12.0 * (i - 8.0).powi(2) - 7.0 * j,
    ];
    (value, limited)
}

fn g09(x: &[f64]) -> Answer {
    let [a, b, c, d, e, f, g] = *x else { return (f64::NAN, vec![]) };
    let value = (a - 10.0).powi(2)
        + 5.0 * (b - 12.0).powi(2)
        + c.powi(4)
        + 3.0 * (d - 11.0).powi(2)
        + 10.0 * e.powi(6)
        + 7.0 * f * f
        + g.powi(4)
        - 4.0 * f * g
        - 10.0 * f
        - 8.0 * g;
    let limited = vec![
        2.0 * a * a + 3.0 * b.powi(4) + c + 4.0 * d * d + 5.0 * e,
        7.0 * a + 3.0 * b + 10.0 * c * c + d - e,
        23.0 * a + b * b + 6.0 * f * f - 8.0 * g,
        4.0 * a * a + b * b - 3.0 * a * b + 2.0 * c * c + 5.0 * f - 11.0 * g,
    ];
    (value, limited)
}

fn g10(x: &[f64]) -> Answer {
    let limited = vec![
        0.002_5 * (x[3] + x[5]),
        0.002_5 * (x[4] + x[6] - x[3]),
        0.01 * (x[7] - x[4]),
        -x[0] * x[5] + 833.332_52 * x[3] + 100.0 * x[0],
        -x[1] * x[6] + 1_250.0 * x[4] + x[1] * x[3] - 1_250.0 * x[3],
        -x[2] * x[7] + x[2] * x[4] - 2_500.0 * x[4],
    ];
    (x[0] + x[1] + x[2], limited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_among_many_inputs_is_the_same_problem() {
        let problem = limited("pressure_vessel_plates").unwrap();
        let many = problem.among(50, 3).unwrap();
        assert_eq!((many.low().len(), many.whole().len()), (50, 2));
        assert_eq!(many.evaluate(many.optimiser()), problem.evaluate(problem.optimiser()));
        let active = active_inputs(50, 4, 3);
        for place in 0..50 {
            let mut x = many.optimiser().to_vec();
            x[place] += 0.5;
            let is_idle = many.evaluate(&x) == many.evaluate(many.optimiser());
            assert_eq!(is_idle, !active.contains(&place), "input {place}");
        }
        assert!(problem.among(3, 1).is_err());
    }

    #[test]
    fn the_stated_optima_are_feasible_and_no_point_near_or_far_is_better() {
        let seed = 5;
        for name in LIMITED_NAMES {
            let problem = limited(name).unwrap();
            let (value, limits) = (problem.optimum_value(), problem.limits());
            let (found, limited) = problem.evaluate(problem.optimiser()).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 2e-6 * b.abs().max(1e-3);
            assert!(near(found, value), "{name}: {found} for {value}");
            assert_eq!(limited.len(), limits.len(), "{name}");
            for (limit, &is) in limits.iter().zip(&limited) {
                // The stated points have some eight digits.
                assert!(limit.excess(is) <= 2e-4 * limit.size(), "{name}: {limit} but {is}");
            }
            let mut stream = Stream::new(seed, name, 0);
            for draw in 0..20_000 {
                let reach = [1.0, 1e-2, 1e-4][draw % 3];
                let coordinate = |k: usize, stream: &mut Stream| {
                    let (low, high, at) = (problem.low()[k], problem.high()[k], problem.optimiser()[k]);
                    let x = at + reach * (2.0 * stream.uniform() - 1.0) * (high - low);
                    let x = x.clamp(low, high);
                    if problem.whole().contains(&k) { x.round() } else { x }
                };
                let x: Vec<f64> = (0..problem.low().len()).map(|k| coordinate(k, &mut stream)).collect();
                let (other, limited) = problem.evaluate(&x).unwrap();
                // Equalities are met by no random point.
                let feasible = limits.iter().zip(&limited).all(|(limit, &is)| limit.excess(is) <= 0.0);
                assert!(
                    !feasible || other >= value - 1e-6 * value.abs(),
                    "{name}, seed {seed}: {other} at {x:?}"
                );
            }
        }
        assert!(limited("none").is_err());
    }
}
