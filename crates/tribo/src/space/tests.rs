use super::*;
use crate::rng::Stream;

fn mixed() -> Space {
    Space::new(vec![
        Parameter::float("x", -1.0, 1.0).with_size(3),
        Parameter::log_float("rate", 1e-6, 1e2),
        Parameter::int("layers", -2, 7),
        Parameter::log_int("width", 1, 4096).with_size(2),
        Parameter::categorical("restart", ["no", "yes"]).with_size(2),
        Parameter::categorical("solver", ["cg", "gmres", "lu"]).with_size(2),
    ])
    .unwrap()
}

fn random_unit(stream: &mut Stream, dim: usize) -> UnitPoint {
    UnitPoint::new((0..dim).map(|_| stream.uniform()).collect()).unwrap()
}

fn fault(parameters: Vec<Parameter>) -> (String, ParameterFault) {
    match Space::new(parameters) {
        Err(Error::Parameter { name, fault }) => (name, fault),
        other => panic!("expected a fault of a parameter, found {other:?}"),
    }
}

#[test]
fn layout_and_names() {
    let space = mixed();
    assert_eq!((space.n_inputs(), space.dim()), (11, 15));
    let names: Vec<_> = (0..space.dim()).map(|i| space.input_name(i).unwrap()).collect();
    assert_eq!(names[..6], ["x[0]", "x[1]", "x[2]", "rate", "layers", "width[0]"]);
    assert_eq!(names[7..11], ["restart[0]", "restart[1]", "solver[0]", "solver[0]"]);
    assert_eq!(names[14], "solver[1]");
    assert_eq!(space.coordinate(12), Some(Coordinate { parameter: 5, element: 1, category: Some(0) }));
    assert_eq!(space.coordinate(15), None);
}

#[test]
fn decoded_points_come_back_bit_for_bit() {
    let space = mixed();
    let seed = 21;
    let mut stream = Stream::new(seed, "space round trip", 0);
    for draw in 0..5_000 {
        let unit = random_unit(&mut stream, space.dim());
        let point = space.decode(&unit).unwrap();
        let snapped = space.encode(&point).unwrap();
        assert_eq!(space.decode(&snapped).unwrap(), point, "seed {seed}, draw {draw}");
        assert_eq!(space.snap(&snapped).unwrap(), snapped, "seed {seed}, draw {draw}");
        assert_eq!(space.point(point.columns().to_vec()).unwrap(), point, "seed {seed}, draw {draw}");
    }
}

#[test]
fn corners_are_the_bounds() {
    let space = mixed();
    let low = space.decode(&UnitPoint::new(vec![-0.0; 15]).unwrap()).unwrap();
    let high = space.decode(&UnitPoint::new(vec![1.0; 15]).unwrap()).unwrap();
    let expected_low = [
        Values::Float(vec![-1.0; 3]),
        Values::Float(vec![1e-6]),
        Values::Int(vec![-2]),
        Values::Int(vec![1; 2]),
        Values::Category(vec![0; 2]),
        Values::Category(vec![0; 2]),
    ];
    let expected_high = [
        Values::Float(vec![1.0; 3]),
        Values::Float(vec![1e2]),
        Values::Int(vec![7]),
        Values::Int(vec![4096; 2]),
        Values::Category(vec![1; 2]),
        Values::Category(vec![0; 2]),
    ];
    assert_eq!(low.columns(), expected_low);
    assert_eq!(high.columns(), expected_high);
    for corner in [low, high] {
        assert_eq!(space.decode(&space.encode(&corner).unwrap()).unwrap(), corner);
    }
}

#[test]
fn every_integer_and_category_round_trips() {
    let space = Space::new(vec![
        Parameter::int("i", -40, 60),
        Parameter::log_int("j", 3, 103),
        Parameter::categorical("c", (0..101).map(|i| format!("c{i}"))),
        Parameter::categorical("two", ["a", "b"]),
    ])
    .unwrap();
    for k in 0..101_usize {
        let columns = vec![
            Values::Int(vec![k as i64 - 40]),
            Values::Int(vec![k as i64 + 3]),
            Values::Category(vec![k]),
            Values::Category(vec![k % 2]),
        ];
        let point = space.point(columns).unwrap();
        assert_eq!(space.decode(&space.encode(&point).unwrap()).unwrap(), point);
    }
}

#[test]
fn the_widest_integers_round_trip() {
    let seed = 22;
    let mut stream = Stream::new(seed, "wide ints", 0);
    let (two_53, two_50, two_40) = (1_i64 << 53, 1_i64 << 50, 1_i64 << 40);
    let ranges = [(-two_53, two_50 - two_53 - 1), (two_53 + 1 - two_50, two_53), (0, two_50 - 1)];
    let mut cases: Vec<_> = ranges.map(|(low, high)| (low, high, Parameter::int("i", low, high))).to_vec();
    for (low, high) in [(1, two_40), (two_40 - 1, two_40), (two_40 / 2, two_40)] {
        cases.push((low, high, Parameter::log_int("i", low, high)));
    }
    for (low, high, parameter) in cases {
        let space = Space::new(vec![parameter]).unwrap();
        let mut values = vec![low, low + 1, high - 1, high];
        values.extend((0..2_000).map(|_| low + stream.below((high - low + 1) as usize) as i64));
        for i in values {
            let point = space.point(vec![Values::Int(vec![i])]).unwrap();
            let unit = space.encode(&point).unwrap();
            assert_eq!(space.decode(&unit).unwrap(), point, "seed {seed}: {i} in [{low}, {high}]");
            assert_eq!(space.snap(&unit).unwrap(), unit, "seed {seed}: {i} in [{low}, {high}]");
        }
    }
}

#[test]
fn integers_and_categories_are_equally_likely() {
    // Each count within five standard deviations of its binomial law.
    let space = Space::new(vec![
        Parameter::int("i", 1, 7),
        Parameter::categorical("c", ["0", "1", "2", "3", "4", "5", "6"]),
    ])
    .unwrap();
    let (seed, n) = (23, 14_000);
    let mut stream = Stream::new(seed, "even cells", 0);
    let mut counts = [[0_usize; 7]; 2];
    for _ in 0..n {
        let point = space.decode(&random_unit(&mut stream, space.dim())).unwrap();
        for column in 0..2 {
            match point.columns()[column].get(0) {
                Some(Value::Int(i)) => counts[column][i as usize - 1] += 1,
                Some(Value::Category(index)) => counts[column][index] += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    let (expected, p) = (n as f64 / 7.0, 1.0 / 7.0);
    let bound = 5.0 * (n as f64 * p * (1.0 - p)).sqrt();
    assert!(
        counts.as_flattened().iter().all(|&c| (c as f64 - expected).abs() < bound),
        "seed {seed}: {counts:?}"
    );
}

#[test]
fn equal_coordinates_choose_the_first_category() {
    let space = Space::new(vec![Parameter::categorical("c", ["a", "b", "c"])]).unwrap();
    let choice =
        |u: [f64; 3]| space.decode(&UnitPoint::new(u.to_vec()).unwrap()).unwrap().columns()[0].get(0);
    assert_eq!(choice([0.5, 0.5, 0.5]), Some(Value::Category(0)));
    assert_eq!(choice([0.1, 0.9, 0.9]), Some(Value::Category(1)));
    assert_eq!(choice([0.1, 0.2, 0.9]), Some(Value::Category(2)));
}

#[test]
fn a_million_elements_are_one_entry() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(1_000_000)]).unwrap();
    assert_eq!(space.dim(), 1_000_000);
    assert_eq!((space.codecs.len(), space.offsets.len(), space.parameters.len()), (1, 2, 1));
    assert_eq!(space.input_name(999_999).unwrap(), "x[999999]");
    let unit = UnitPoint::new(vec![0.25; 1_000_000]).unwrap();
    assert_eq!(space.decode(&unit).unwrap().columns(), [Values::Float(vec![0.25; 1_000_000])]);
}

#[test]
fn bad_spaces_are_refused_by_name() {
    use ParameterFault::*;
    assert_eq!(Space::new(vec![]), Err(Error::Empty { what: "the list of parameters" }));
    let ok = Parameter::float("ok", 0.0, 1.0);
    let refused = |parameter: Parameter| {
        let expected = parameter.name().to_string();
        let (name, fault) = fault(vec![ok.clone(), parameter]);
        assert_eq!(name, expected);
        fault
    };
    assert_eq!(refused(Parameter::float("a", 1.0, 1.0)), EmptyRange { low: 1.0, high: 1.0 });
    assert_eq!(refused(Parameter::float("b", 2.0, 1.0)), EmptyRange { low: 2.0, high: 1.0 });
    assert!(matches!(refused(Parameter::float("c", f64::NAN, 1.0)), NotFinite { .. }));
    assert!(matches!(refused(Parameter::float("d", 0.0, f64::INFINITY)), NotFinite { .. }));
    assert!(matches!(refused(Parameter::float("e", -1e308, 1e308)), TooWide { .. }));
    assert_eq!(refused(Parameter::log_float("f", 0.0, 1.0)), LogOfNonPositive { low: 0.0 });
    assert_eq!(refused(Parameter::log_int("g", -1, 5)), LogOfNonPositive { low: -1.0 });
    assert_eq!(refused(Parameter::int("h", 3, 3)), EmptyIntRange { low: 3, high: 3 });
    assert_eq!(refused(Parameter::int("i", 4, 3)), EmptyIntRange { low: 4, high: 3 });
    assert!(matches!(refused(Parameter::int("j", i64::MIN, i64::MAX)), IntTooWide { .. }));
    assert!(matches!(refused(Parameter::int("k", 0, 1 << 50)), IntTooWide { .. }));
    assert!(matches!(refused(Parameter::log_int("l", 1, (1 << 40) + 1)), IntTooWide { .. }));
    assert_eq!(refused(Parameter::categorical::<&str>("m", [])), TooFewCategories { count: 0 });
    assert_eq!(refused(Parameter::categorical("n", ["a"])), TooFewCategories { count: 1 });
    assert_eq!(refused(Parameter::categorical("o", ["a", "a"])), DuplicateCategory { category: "a".into() });
    assert_eq!(refused(Parameter::categorical("p", ["a", ""])), EmptyCategory { index: 1 });
    assert_eq!(refused(Parameter::float("q", 0.0, 1.0).with_size(0)), NoElements);
    assert_eq!(
        refused(Parameter::float("r", 0.0, 1.0).with_size(usize::MAX)),
        TooManyElements { size: usize::MAX }
    );
    assert_eq!(refused(Parameter::float("s[1]", 0.0, 1.0)), NameCharacter { character: '[' });
    assert_eq!(refused(ok.clone()), DuplicateName);
    assert_eq!(refused(Parameter::float("", 0.0, 1.0)), EmptyName { index: 1 });
}

#[test]
fn values_that_do_not_fit_are_refused_by_name() {
    let space = Space::new(vec![
        Parameter::float("x", 0.0, 1.0).with_size(2),
        Parameter::int("i", 0, 3),
        Parameter::categorical("c", ["a", "b"]),
    ])
    .unwrap();
    let good = vec![Values::Float(vec![0.0, 1.0]), Values::Int(vec![3]), Values::Category(vec![1])];
    assert!(space.point(good.clone()).is_ok());
    let bad = [
        (0, Values::Float(vec![0.0]), "parameter `x`: the number of values is 1; it must be 2"),
        (0, Values::Float(vec![0.0, f64::NAN]), "parameter `x`: element 1: NaN is outside of [0, 1]"),
        (0, Values::Int(vec![0, 1]), "parameter `x`: expected float values, found int values"),
        (1, Values::Int(vec![4]), "parameter `i`: 4 is outside of [0, 3]"),
        (
            2,
            Values::Category(vec![2]),
            "parameter `c`: there is no category number 2; there are 2, counted from 0",
        ),
    ];
    for (column, values, message) in bad {
        let mut columns = good.clone();
        columns[column] = values;
        assert_eq!(space.point(columns).unwrap_err().to_string(), message);
    }
    assert!(matches!(space.point(vec![]), Err(Error::Size { .. })));
    assert!(matches!(space.decode(&UnitPoint::new(vec![0.5]).unwrap()), Err(Error::Size { .. })));
    // A point of another space.
    let other = mixed();
    assert!(other.encode(&space.point(good).unwrap()).is_err());
}

#[test]
fn unit_points_are_clipped_and_finite() {
    let point = UnitPoint::new(vec![-0.5, 1.5, -0.0, 0.3]).unwrap();
    let bits: Vec<_> = point.as_slice().iter().map(|u| u.to_bits()).collect();
    assert_eq!(bits, [0.0_f64, 1.0, 0.0, 0.3].map(f64::to_bits));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(UnitPoint::new(vec![0.0, bad]), Err(Error::NotFinite { column: 1, .. })));
    }
}
