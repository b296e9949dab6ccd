//! Scrambled Sobol sequence in any number of dimensions.
//!
//! Coordinate j of point i, with g = i ^ (i >> 1) the Gray code of i, is the binary fraction
//!
//!   x_j = L_j C_j g ^ s_j          (sums modulo 2, bit vectors of length 64)
//!
//! * C_j is the generator matrix. Its column k is a direction number: zero below row k, one on it. For
//!   the first [`TABLED`] dimensions it comes from the table of `[@joe2008]` and the recurrence
//!   of the sequence; further dimensions take the entries above the diagonal at random.
//! * L_j, lower triangular with a unit diagonal and random entries below, and the shift s_j scramble the
//!   digits `[@matousek1998]`: every point alone is uniform in the cube, and every dyadic box is
//!   sent to one of the same shape, so nets stay nets. The scramble is folded into the direction numbers: a
//!   point costs no more than without. This is why it was preferred to nested scrambling by hashing.
//!
//! What holds:
//! * any dimension: the first 2^k points, and every later aligned run of 2^k points, have one point in
//!   each of the 2^k slices of every coordinate (all leading minors of L_j C_j are one);
//! * within the table: a (t, s)-sequence with two-dimensional projections chosen to be good; dimensions
//!   1 and 2 form a (0, 2)-sequence;
//! * beyond it: two coordinates are related as in a random digital net, good on average and not for every
//!   pair; n points should be a power of two for all of this.
//!
//! Cost: a design of n points O(n d), a single point O(d) for each bit of its index. Memory half a kilobyte
//! for each tabled dimension, none for the others, whose matrices are drawn anew from their stream.

use faer::Mat;

use super::joe_kuo::TABLE;
use super::{check, place};
use crate::error::{Error, Result};
use crate::rng::Stream;

/// Number of dimensions with tabled direction numbers.
pub const TABLED: usize = TABLE.len() + 1;

const BITS: usize = 64;
const TOP: u64 = 1 << (BITS - 1);

/// A scrambled Sobol sequence in [0, 1)^dim with random access by index.
#[derive(Debug, Clone)]
pub struct Sobol {
    dim: usize,
    key: u64,
    /// The tabled coordinates; the others are made when asked for.
    tabled: Vec<Coordinate>,
}

impl Sobol {
    /// The sequence in `dim` dimensions whose scramble is named by the next draw of `stream`.
    ///
    /// The first coordinates do not depend on `dim`.
    pub fn new(dim: usize, stream: &mut Stream) -> Result<Self> {
        if dim == 0 {
            return Err(Error::Empty { what: "dimension of the Sobol sequence" });
        }
        let key = stream.bits();
        let tabled = (0..dim.min(TABLED)).map(|j| Coordinate::new(key, j, BITS)).collect();
        Ok(Sobol { dim, key, tabled })
    }

    /// Number of coordinates of a point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Writes point number `index` to `out`, each coordinate a multiple of 2^-53 in [0, 1).
    pub fn point(&self, index: u64, out: &mut [f64]) -> Result<()> {
        if out.len() != self.dim {
            let what = "length of out (dimension of the Sobol sequence)";
            return Err(Error::Size { what, expected: self.dim, found: out.len() });
        }
        let gray = index ^ (index >> 1);
        let columns = BITS - gray.leading_zeros() as usize;
        for (j, x) in out.iter_mut().enumerate() {
            let word = match self.tabled.get(j) {
                Some(coordinate) => coordinate.word(gray),
                None => Coordinate::new(self.key, j, columns).word(gray),
            };
            *x = fraction(word);
        }
        Ok(())
    }
}

/// The first `n` points of a scrambled Sobol sequence, in the box [low, high]: shape [n, d].
///
/// The same points, one by one, come from [`Sobol::new`] with the same stream.
pub fn sobol(n: usize, low: &[f64], high: &[f64], stream: &mut Stream) -> Result<Mat<f64>> {
    check(n, low, high)?;
    let key = stream.bits();
    let columns = BITS - (n as u64 - 1).leading_zeros() as usize;
    let mut points = Mat::zeros(n, low.len());
    for j in 0..low.len() {
        let coordinate = Coordinate::new(key, j, columns);
        let mut word = coordinate.shift;
        for (i, point) in points.col_as_slice_mut(j).iter_mut().enumerate() {
            if i > 0 {
                // The Gray codes of i - 1 and i differ in the bit of the last one of i.
                word ^= coordinate.directions[i.trailing_zeros() as usize];
            }
            *point = place(fraction(word), low[j], high[j]);
        }
    }
    Ok(points)
}

/// The top 53 bits as a fraction: a rounded conversion of all 64 could reach one.
fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// The columns of L_j C_j, topmost row in the highest bit, and the shift s_j.
#[derive(Debug, Clone)]
struct Coordinate {
    directions: [u64; BITS],
    shift: u64,
}

impl Coordinate {
    /// Coordinate `j` with its first `columns` direction numbers; the rest stay zero.
    fn new(key: u64, j: usize, columns: usize) -> Self {
        let mut stream = Stream::new(key, "sobol coordinate", j as u64);
        let shift = stream.bits();
        let tabled = j < TABLED;
        let mut directions = if tabled { tabled_directions(j, columns) } else { [0; BITS] };
        let mut scramble = [0_u64; BITS];
        for k in 0..columns {
            let diagonal = TOP >> k;
            scramble[k] = diagonal | (stream.bits() & (diagonal - 1));
            if !tabled {
                // Everything above the diagonal: !(2 diagonal - 1), written so that it does not overflow.
                directions[k] = diagonal | (stream.bits() & !(diagonal | (diagonal - 1)));
            }
        }
        for direction in &mut directions[..columns] {
            *direction = combine(&scramble, *direction);
        }
        Coordinate { directions, shift }
    }

    fn word(&self, gray: u64) -> u64 {
        // Column k belongs to bit k of the Gray code, counted from the lowest.
        combine(&self.directions, gray.reverse_bits()) ^ self.shift
    }
}

/// Matrix times bit vector modulo 2: the sum of the columns k where bit k of `vector`, from the top, is set.
fn combine(columns: &[u64; BITS], mut vector: u64) -> u64 {
    let mut sum = 0;
    while vector != 0 {
        let k = vector.leading_zeros() as usize;
        sum ^= columns[k];
        vector ^= TOP >> k;
    }
    sum
}

/// The first `columns` direction numbers of tabled dimension `j` (from 0), without scramble.
///
/// v_k = m_k / 2^k for k <= s, then
/// v_k = a_1 v_{k-1} ^ … ^ a_{s-1} v_{k-s+1} ^ v_{k-s} ^ (v_{k-s} >> s), with s the degree
/// of the polynomial x^s + a_1 x^{s-1} + … + 1 `[@joe2008]`.
fn tabled_directions(j: usize, columns: usize) -> [u64; BITS] {
    let mut v = [0; BITS];
    if j == 0 {
        for k in 0..columns {
            v[k] = TOP >> k;
        }
        return v;
    }
    let (polynomial, initial) = TABLE[j - 1];
    let degree = initial.len();
    for k in 0..columns {
        if k < degree {
            v[k] = u64::from(initial[k]) << (BITS - 1 - k);
            continue;
        }
        v[k] = v[k - degree] ^ (v[k - degree] >> degree);
        for i in 1..degree {
            if polynomial >> (degree - i) & 1 == 1 {
                v[k] ^= v[k - i];
            }
        }
    }
    v
}

#[cfg(test)]
mod tests {
    use super::super::uniform;
    use super::*;

    /// The coordinates whose behaviour could differ: the first, both ends of the table, and well past it.
    const COORDINATES: [usize; 9] = [0, 1, 2, 17, 100, TABLED - 1, TABLED, TABLED + 1, 99_999];

    fn unscrambled(j: usize, index: u64) -> u64 {
        let gray = index ^ (index >> 1);
        Coordinate { directions: tabled_directions(j, BITS), shift: 0 }.word(gray)
    }

    /// How many of `n` fractions fall in each of `n` slices is one.
    fn one_in_each(n: usize, fractions: impl Iterator<Item = f64>) -> bool {
        let mut hits = vec![0; n];
        fractions.for_each(|x| hits[(x * n as f64) as usize] += 1);
        hits.iter().all(|&count| count == 1)
    }

    #[test]
    fn without_scramble_it_is_the_sequence_of_scipy() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/golden/sobol.json")).unwrap();
        for (i, point) in golden["first"].as_array().unwrap().iter().enumerate() {
            for (j, value) in point.as_array().unwrap().iter().enumerate() {
                assert_eq!(
                    unscrambled(j, i as u64) >> 32,
                    value.as_u64().unwrap(),
                    "point {i}, dimension {j}"
                );
            }
        }
        let index = golden["index"].as_u64().unwrap();
        let values = golden["all_columns"].as_array().unwrap();
        assert_eq!(values.len(), TABLED);
        for (j, value) in values.iter().enumerate() {
            assert_eq!(unscrambled(j, index) >> 32, value.as_u64().unwrap(), "point {index}, dimension {j}");
        }
    }

    #[test]
    fn the_table_has_every_primitive_polynomial_once() {
        // There are φ(2^s - 1) / s primitive polynomials of degree s.
        let expected = [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176];
        let mut counts = [0; 11];
        for (row, &(polynomial, initial)) in TABLE.iter().enumerate() {
            assert_eq!(polynomial.ilog2() as usize, initial.len());
            assert!(polynomial & 1 == 1 && TABLE[..row].iter().all(|other| other.0 != polynomial));
            assert!(initial.iter().enumerate().all(|(k, m)| m & 1 == 1 && m >> (k + 1) == 0));
            counts[initial.len() - 1] += 1;
        }
        assert_eq!(counts, expected);
    }

    #[test]
    fn aligned_runs_hit_every_slice_of_every_coordinate() {
        let seed = 3;
        let sequence = Sobol::new(100_000, &mut Stream::new(seed, "sobol", 0)).unwrap();
        for j in COORDINATES {
            let coordinate = Coordinate::new(sequence.key, j, BITS);
            let value = |i: u64| fraction(coordinate.word(i ^ (i >> 1)));
            for k in 0..=10 {
                for run in [0, 1, 5, 1 << 40] {
                    let points = (run << k)..(run + 1) << k;
                    assert!(
                        one_in_each(1 << k, points.map(value)),
                        "coordinate {j}, run {run} of 2^{k}, seed {seed}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_first_two_dimensions_are_nets() {
        // (0, m, 2): every elementary interval of area 2^-m holds one point, whatever its shape.
        for seed in 0..4 {
            let points = sobol(256, &[0.0; 2], &[1.0; 2], &mut Stream::new(seed, "sobol", 0)).unwrap();
            for a in 0..=8 {
                let (columns, rows) = ((1 << a) as f64, (256 >> a) as f64);
                let cell =
                    |i| ((points[(i, 0)] * columns).floor() * rows + (points[(i, 1)] * rows).floor()) / 256.0;
                assert!(one_in_each(256, (0..256).map(cell)), "2^{a} columns, seed {seed}");
            }
        }
    }

    #[test]
    fn a_design_is_the_sequence_in_a_box() {
        let (low, high) = (vec![-1.0; 400], vec![3.0; 400]);
        let points = sobol(37, &low, &high, &mut Stream::new(8, "sobol", 0)).unwrap();
        let sequence = Sobol::new(400, &mut Stream::new(8, "sobol", 0)).unwrap();
        let short = Sobol::new(350, &mut Stream::new(8, "sobol", 0)).unwrap();
        let (mut point, mut first) = (vec![0.0; sequence.dim()], vec![0.0; short.dim()]);
        for i in 0..37 {
            sequence.point(i as u64, &mut point).unwrap();
            short.point(i as u64, &mut first).unwrap();
            assert_eq!(point[..350], first);
            assert!((0..400).all(|j| points[(i, j)] == 4.0 * point[j] - 1.0));
        }
        let other = sobol(37, &low, &high, &mut Stream::new(9, "sobol", 0)).unwrap();
        assert!((0..400).all(|j| points[(0, j)] != other[(0, j)]));
    }

    #[test]
    fn smooth_integrals_are_far_better_than_by_random_points() {
        // Product of 1 + (x - 1/2) / 2 over six coordinates; its integral is one. The error of random points
        // falls as n^-1/2, that of scrambled nets nearly as n^-3/2: at n = 4096 a factor of 20 leaves room.
        // Beyond the table only sums of functions of one coordinate are sure to gain, here 95 % of the
        // variance, which alone gives a factor of 4: 2 is asked for.
        let (n, seeds) = (4096, 10);
        let error = |points: &Mat<f64>, first: usize| {
            let value = |i| (first..first + 6).map(|j| 0.75 + 0.5 * points[(i, j)]).product::<f64>();
            (0..n).map(value).sum::<f64>() / n as f64 - 1.0
        };
        let rms = |squares: f64| (squares / seeds as f64).sqrt();
        let (mut within, mut beyond, mut random) = (0.0, 0.0, 0.0);
        let (low, high) = ([0.0; TABLED + 6], [1.0; TABLED + 6]);
        for seed in 0..seeds {
            let points = sobol(n, &low, &high, &mut Stream::new(seed, "sobol", 0)).unwrap();
            within += error(&points, 0).powi(2);
            beyond += error(&points, TABLED).powi(2);
            let points = uniform(n, &[0.0; 6], &[1.0; 6], &mut Stream::new(seed, "uniform", 0)).unwrap();
            random += error(&points, 0).powi(2);
        }
        let (within, beyond, random) = (rms(within), rms(beyond), rms(random));
        assert!(within < random / 20.0, "tabled {within:e}, random {random:e}, seeds 0 to 9");
        assert!(beyond < random / 2.0, "beyond the table {beyond:e}, random {random:e}, seeds 0 to 9");
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let mut stream = Stream::new(1, "sobol", 0);
        assert!(matches!(Sobol::new(0, &mut stream), Err(Error::Empty { .. })));
        let sequence = Sobol::new(3, &mut stream).unwrap();
        assert!(matches!(sequence.point(0, &mut [0.0; 2]), Err(Error::Size { expected: 3, found: 2, .. })));
        assert!(matches!(sobol(0, &[0.0], &[1.0], &mut stream), Err(Error::Empty { .. })));
        assert!(sobol(1, &[0.0], &[1.0], &mut stream).is_ok());
        let mut last = [0.0; 3];
        sequence.point(u64::MAX, &mut last).unwrap();
        assert!(last.iter().all(|x| (0.0..1.0).contains(x)));
    }
}
