//! What every embedding promises, then the laws of the random ones.

use super::*;

const KINDS: [Kind; 5] = [
    Kind::Identity,
    Kind::Gaussian { dim: 3, half_width: 1.0 },
    Kind::Gaussian { dim: 7, half_width: 2.5 },
    Kind::Hashing { dim: 4, signs: true },
    Kind::Hashing { dim: 4, signs: false },
];

fn map(embedding: &Embedding, z: &[f64]) -> Vec<f64> {
    let mut x = vec![f64::NAN; embedding.input_dim()];
    embedding.to_unit(z, &mut x).unwrap();
    x
}

/// A point of the model's box, uniform.
fn draw(embedding: &Embedding, stream: &mut Stream) -> Vec<f64> {
    let (low, high) = embedding.bounds();
    low.iter().zip(&high).map(|(low, high)| low + stream.uniform() * (high - low)).collect()
}

#[test]
fn the_centre_maps_to_the_centre_and_nothing_leaves_the_cube() {
    let extreme = [f64::MIN_POSITIVE, f64::MAX].map(|half_width| Kind::Gaussian { dim: 3, half_width });
    for kind in KINDS.into_iter().chain(extreme) {
        let embedding = Embedding::new(kind, 50, 1, 0).unwrap();
        let (low, high) = embedding.bounds();
        assert_eq!((low.len(), high.len()), (embedding.model_dim(), embedding.model_dim()));
        let centre: Vec<f64> = low.iter().zip(&high).map(|(low, high)| (low + high) / 2.0).collect();
        assert_eq!(map(&embedding, &centre), vec![0.5; 50]);
        for corner in [&low, &high] {
            assert!(map(&embedding, corner).iter().all(|x| (0.0..=1.0).contains(x)), "{kind:?}");
        }
    }
}

#[test]
fn an_input_does_not_depend_on_how_many_there_are() {
    let seed = 9;
    for kind in &KINDS[1..] {
        let (long, short) =
            (Embedding::new(*kind, 300, seed, 2).unwrap(), Embedding::new(*kind, 20, seed, 2).unwrap());
        let z = draw(&long, &mut Stream::new(seed, "z", 0));
        assert_eq!(map(&long, &z)[..20], map(&short, &z), "{kind:?}, seed {seed}");
    }
}

#[test]
fn seed_and_index_decide_the_map() {
    for kind in &KINDS[1..] {
        let image = |seed, index| {
            let embedding = Embedding::new(*kind, 40, seed, index).unwrap();
            map(&embedding, &draw(&embedding, &mut Stream::new(3, "z", 0)))
        };
        assert_eq!(image(1, 2), image(1, 2), "{kind:?}");
        assert_ne!(image(1, 2), image(1, 3), "{kind:?}");
        assert_ne!(image(1, 2), image(2, 2), "{kind:?}");
    }
}

#[test]
fn identity_returns_its_argument() {
    let embedding = Embedding::new(Kind::Identity, 4, 0, 0).unwrap();
    let z = [0.0, 1e-300, 1.0 / 3.0, 1.0];
    assert_eq!(map(&embedding, &z), z);
    assert_eq!(embedding.clip_fraction(&z), Ok(0.0));
}

#[test]
fn a_point_outside_the_box_counts_as_the_nearest_inside() {
    for kind in KINDS {
        let embedding = Embedding::new(kind, 50, 1, 0).unwrap();
        let (_, high) = embedding.bounds();
        for far in [2.0, f64::MAX / 10.0] {
            let outside: Vec<f64> = high.iter().map(|high| far * high).collect();
            assert_eq!(map(&embedding, &outside), map(&embedding, &high), "{kind:?}");
            assert_eq!(embedding.clip_fraction(&outside), embedding.clip_fraction(&high), "{kind:?}");
        }
    }
}

#[test]
fn hashing_gives_each_input_one_coordinate_and_never_clips() {
    let (inputs, dim, seed) = (40_000, 8, 12);
    let signed = Embedding::new(Kind::Hashing { dim, signs: true }, inputs, seed, 0).unwrap();
    let plain = Embedding::new(Kind::Hashing { dim, signs: false }, inputs, seed, 0).unwrap();
    let z: Vec<f64> = (0..dim).map(|bin| (bin as f64 + 0.5) / 8.0).collect();
    let (mut counts, mut n_negative) = (vec![0_usize; dim], 0_usize);
    for (x_signed, x_plain) in map(&signed, &z).into_iter().zip(map(&plain, &z)) {
        let bin = z.iter().position(|z| (1.0 + z) / 2.0 == x_plain).unwrap();
        counts[bin] += 1;
        assert!(x_signed == x_plain || x_signed == (1.0 - z[bin]) / 2.0);
        n_negative += usize::from(x_signed != x_plain);
    }
    // Binomial counts, within five standard errors.
    let (n, expected) = (inputs as f64, inputs as f64 / dim as f64);
    assert!(
        counts.iter().all(|&count| (count as f64 - expected).abs() < 5.0 * expected.sqrt()),
        "seed {seed}"
    );
    assert!((n_negative as f64 - n / 2.0).abs() < 5.0 * (n / 4.0).sqrt(), "seed {seed}");

    let mut stream = Stream::new(seed, "z", 0);
    for _ in 0..20 {
        assert_eq!(signed.clip_fraction(&draw(&signed, &mut stream)), Ok(0.0));
    }
    assert_eq!(signed.clip_fraction(&vec![-1.0; dim]), Ok(0.0));
    assert_eq!(map(&plain, &vec![-1.0; dim]), vec![0.0; inputs]);
    assert_eq!(map(&plain, &vec![1.0; dim]), vec![1.0; inputs]);
}

/// Mean and standard error, over independent embeddings, of `statistic` at a uniform z.
fn over_embeddings(kind: Kind, statistic: impl Fn(&Embedding, &[f64]) -> f64) -> (f64, f64) {
    let n = 4_000;
    let mut stream = Stream::new(21, "z", 0);
    let values: Vec<f64> = (0..n)
        .map(|index| {
            let embedding = Embedding::new(kind, 50, 21, index).unwrap();
            let z = draw(&embedding, &mut stream);
            statistic(&embedding, &z)
        })
        .collect();
    let mean = values.iter().sum::<f64>() / n as f64;
    let var = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    (mean, (var / n as f64).sqrt())
}

#[test]
fn as_many_coordinates_are_clipped_as_the_law_says() {
    // P(|x̂| <= h) = E erf(h d / (√2 |z|)) for z uniform in the box, integrated with SciPy's erf and 8 x 2^18
    // scrambled Sobol points to six digits (tools/golden/clipping.py). h = 1 is the default, √d the paper's
    // code, 1/d REMBO.
    let golden = [
        (1, 0.906007, 0.906007, 0.906007),
        (2, 0.910695, 0.974465, 0.666971),
        (3, 0.913126, 0.992947, 0.481863),
        (5, 0.915063, 0.999412, 0.290698),
        (10, 0.916232, 0.999999, 0.142164),
    ];
    for (dim, one, root, rembo) in golden {
        let d = dim as f64;
        for (half_width, expected) in [(1.0, one), (d.sqrt(), root), (1.0 / d, rembo)] {
            let kind = Kind::Gaussian { dim, half_width };
            let (inside, se) =
                over_embeddings(kind, |embedding, z| 1.0 - embedding.clip_fraction(z).unwrap());
            // Where clipping is rarer than one in the 200,000 draws, none may be seen, and se is then zero.
            let bound = 5.0 * se.max(1.0 / 200_000.0);
            assert!((inside - expected).abs() < bound, "{kind:?}: {inside}, expected {expected}, seed 21");
        }
    }
}

#[test]
fn coordinates_spread_as_the_law_says() {
    // Unclipped, 2x - 1 = x̂ / h has variance E|z|² / (d h)² = 1 / (3 h²). With the printed h = √d^d this
    // is the collapse to the centre: 1.0e-2 of the half range for d = 5, 5.8e-6 for d = 10.
    let printed = |dim: usize| (dim as f64).sqrt().powi(dim as i32);
    for (dim, half_width) in [(1, 10.0), (5, 10.0), (5, printed(5)), (10, printed(10))] {
        let kind = Kind::Gaussian { dim, half_width };
        let (var, se) = over_embeddings(kind, |embedding, z| {
            map(embedding, z).iter().map(|x| (2.0 * x - 1.0).powi(2)).sum::<f64>() / 50.0
        });
        let expected = 1.0 / (3.0 * half_width * half_width);
        assert!((var - expected).abs() < 5.0 * se, "{kind:?}: {var:e}, expected {expected:e}, seed 21");
    }
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let gaussian = |dim, half_width| Embedding::new(Kind::Gaussian { dim, half_width }, 10, 1, 0);
    assert!(matches!(Embedding::new(Kind::Identity, 0, 1, 0), Err(Error::Empty { .. })));
    for (dim, half_width) in [(0, 1.0), (11, 1.0), (2, 0.0), (2, -1.0), (2, f64::NAN), (2, f64::INFINITY)] {
        assert!(matches!(gaussian(dim, half_width), Err(Error::OutOfRange { .. })), "{dim}, {half_width}");
    }
    let embedding = gaussian(2, 1.0).unwrap();
    let mut x = [0.0; 10];
    assert!(matches!(embedding.to_unit(&[0.0; 3], &mut x), Err(Error::Size { expected: 2, found: 3, .. })));
    assert!(matches!(embedding.to_unit(&[0.0; 2], &mut x[..4]), Err(Error::Size { expected: 10, .. })));
    assert!(matches!(embedding.to_unit(&[0.0, f64::NAN], &mut x), Err(Error::NotFinite { column: 1, .. })));
    assert!(matches!(embedding.clip_fraction(&[0.0]), Err(Error::Size { .. })));
}
