//! Which columns have strays, where their edges are, and what is read through them.

use super::*;
use crate::surrogate::data::Data;
use crate::surrogate::source::pick;
use crate::surrogate::watch::Unwatched;
use faer::Mat;

const SEED: u64 = 12;

/// Edges of rows whose values depend on the last two columns.
fn strays(x: &Mat<f64>) -> Edges {
    let mut stream = Stream::new(SEED, "values", 0);
    let y: Vec<f64> = (0..x.nrows()).map(|i| x[(i, 2)] / 20.0 + x[(i, 3)] + 0.1 * stream.normal()).collect();
    Edges::without_strays(&Data::new(x.as_ref(), &y).unwrap(), &Unwatched).unwrap()
}

/// Normal, uniform, exponential and integer columns.
fn clean(n: usize) -> Mat<f64> {
    let mut stream = Stream::new(SEED, "edges", 0);
    Mat::from_fn(n, 4, |_, k| match k {
        0 => 5.0 + stream.normal(),
        1 => stream.uniform(),
        2 => stream.below(40) as f64,
        _ => f64::from(u8::try_from(stream.below(7)).unwrap()),
    })
}

#[test]
fn clean_columns_have_no_edges() {
    for n in [1, 100, 499, 500, 20_000, 120_000] {
        assert!(strays(&clean(n)).is_none(), "{n} rows, seed {SEED}");
    }
    // A rare label is no stray, nor is a column that hardly varies.
    let mut rare = clean(2_000);
    rare[(7, 3)] = 9.0;
    (0..2_000).for_each(|i| rare[(i, 2)] = f64::from(u8::from(i == 55)));
    assert!(strays(&rare).is_none());
}

#[test]
fn strays_make_edges_at_both_ends_of_their_column_alone() {
    for n in [1_000, 20_000, 120_000] {
        let mut x = clean(n);
        let last = |x: &Mat<f64>, sign: f64| (0..n).map(|i| sign * x[(i, 0)]).fold(f64::INFINITY, f64::min);
        x[(17, 0)] = 5.0;
        x[(n - 1, 0)] = 5.0;
        let expected = (0, last(&x, 1.0), -last(&x, -1.0));
        x[(17, 0)] = -29.0;
        // The last row: every block is looked at.
        x[(n - 1, 0)] = -30.0;
        let found: Vec<_> = strays(&x).columns().collect();
        assert_eq!(found, [expected], "{n} rows, seed {SEED}");
    }
}

#[test]
fn strays_that_alone_say_the_value_stay_as_they_are() {
    // The value of a stray is that of the entry as it is, or of the one that it should have been: without another column that says
    // so, to take it for the edge would be to know what nobody knows.
    let mut stream = Stream::new(SEED, "told by one", 0);
    let x = Mat::from_fn(1_500, 2, |_, _| stream.normal());
    for is_mistake in [true, false] {
        let mut wrong = x.clone();
        (wrong[(3, 0)], wrong[(900, 0)]) = (40.0, 55.0);
        let told = if is_mistake { &x } else { &wrong };
        let y: Vec<f64> = (0..1_500).map(|i| 2.0 * told[(i, 0)] + 0.1 * stream.normal()).collect();
        let edges =
            |x: &Mat<f64>| Edges::without_strays(&Data::new(x.as_ref(), &y).unwrap(), &Unwatched).unwrap();
        assert!(edges(&wrong).is_none(), "{is_mistake}, seed {SEED}");
    }
}

#[test]
fn more_than_a_few_are_a_population() {
    let mut x = clean(10_000);
    (0..20).for_each(|i| x[(i * 31, 1)] = -4.0);
    assert_eq!(strays(&x).columns().count(), 1);
    x[(9_999, 1)] = -4.0;
    assert!(strays(&x).is_none());
}

#[test]
fn quantiles_are_the_least_entries_not_exceeded() {
    let x = Mat::from_fn(400, 1, |i, _| ((i * 7) % 400) as f64);
    let y = vec![0.0; 400];
    let data = Data::new(x.as_ref(), &y).unwrap();
    let edges = Edges::at_quantiles(&data, 0.01, &Unwatched).unwrap();
    assert_eq!(edges.ends(), (&[3.0][..], &[395.0][..]));
    assert!(Edges::at_quantiles(&data, 0.0, &Unwatched).unwrap().is_none());
    assert!(Edges::at_quantiles(&data, 0.5, &Unwatched).is_err());
}

#[test]
fn a_clipped_source_ends_at_the_edges() {
    let x = Mat::from_fn(30, 2, |i, k| i as f64 - 10.0 * k as f64);
    let y: Vec<f64> = (0..30).map(f64::from).collect();
    let edges = Edges::new(vec![f64::NEG_INFINITY, -3.0], vec![f64::INFINITY, 4.0]).unwrap();
    let data = Data::new(x.as_ref(), &y).unwrap();
    let clipped = Clipped::new(&data, &edges).unwrap();
    let (found, values) = pick(&clipped, &[0, 5, 10, 29], &Unwatched).unwrap();
    for (i, row) in [0_usize, 5, 10, 29].into_iter().enumerate() {
        let mut point = [x[(row, 0)], x[(row, 1)]];
        edges.clip_point(&mut point);
        assert_eq!(([found[(i, 0)], found[(i, 1)]], values[i]), (point, row as f64));
        assert_eq!(point, [row as f64, (row as f64 - 10.0).clamp(-3.0, 4.0)]);
    }
    assert!(Clipped::new(&data, &Edges::none(3)).is_err());
    assert!(Edges::new(vec![1.0], vec![0.0]).is_err());
    assert!(Edges::new(vec![f64::NAN], vec![0.0]).is_err());
}
