use super::*;
use crate::rng::Stream;
use crate::space::{Space, UnitPoint};
use proptest::prelude::*;

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::float("x", -2.0, 3.0),
        Parameter::log_float("y", 0.1, 10.0),
        Parameter::int("n", 1, 9),
        Parameter::float("v", 0.0, 1.0).with_size(3),
        Parameter::categorical("solver", ["a", "b", "c"]),
        Parameter::float("wing span", 0.0, 2.0),
    ]
}

/// The numbers of all inputs that can be named, by name.
const NAMED: [(&str, f64); 7] =
    [("x", 1.25), ("y", 0.7), ("n", 4.0), ("v[0]", 0.5), ("v[1]", 0.1), ("v[2]", 0.9), ("`wing span`", 1.5)];

/// Another way to say what a text means: a tree, walked by recursion.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Input(usize),
    One(&'static str, Box<Tree>),
    Two(&'static str, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Number(number) => format!("{number:?}"),
            Tree::Input(place) => NAMED[*place].0.to_owned(),
            // A power comes before a sign.
            Tree::One("-", a) => format!("(-{})", a.text()),
            Tree::One(name, a) => format!("{name}({})", a.text()),
            Tree::Two(name @ ("min" | "max"), a, b) => format!("{name}({}, {})", a.text(), b.text()),
            Tree::Two(name, a, b) => format!("({} {name} {})", a.text(), b.text()),
        }
    }

    fn value(&self) -> f64 {
        match self {
            Tree::Number(number) => *number,
            Tree::Input(place) => NAMED[*place].1,
            Tree::One(name, a) => {
                let a = a.value();
                match *name {
                    "-" => -a,
                    "sqrt" => a.sqrt(),
                    "exp" => a.exp(),
                    "log" => a.ln(),
                    "abs" => a.abs(),
                    "sin" => a.sin(),
                    "cos" => a.cos(),
                    _ => a.tan(),
                }
            }
            Tree::Two(name, a, b) => {
                let (a, b) = (a.value(), b.value());
                match *name {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    "^" => a.powf(b),
                    "min" if !a.is_nan() && !b.is_nan() => a.min(b),
                    "max" if !a.is_nan() && !b.is_nan() => a.max(b),
                    _ => f64::NAN,
                }
            }
        }
    }
}

fn trees() -> impl proptest::strategy::Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0.0..100.0).prop_map(Tree::Number),
        prop_oneof![Just(1e300), Just(2.0), Just(0.0), Just(5e-324)].prop_map(Tree::Number),
        (0..NAMED.len()).prop_map(Tree::Input),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let ones = prop::sample::select(vec!["-", "sqrt", "exp", "log", "abs", "sin", "cos", "tan"]);
        let twos = prop::sample::select(vec!["+", "-", "*", "/", "^", "min", "max"]);
        prop_oneof![
            (ones, inner.clone()).prop_map(|(name, a)| Tree::One(name, Box::new(a))),
            (twos, inner.clone(), inner).prop_map(|(name, a, b)| Tree::Two(name, Box::new(a), Box::new(b))),
        ]
    })
}

fn numbers(formula: &Formula) -> Vec<f64> {
    let parameters = parameters();
    let name = |(index, element): (usize, usize)| match parameters[index].name() {
        "wing span" => "`wing span`".to_owned(),
        _ => parameters[index].element_name(element),
    };
    let of = |&input: &(usize, usize)| {
        NAMED.iter().find(|(named, _)| *named == name(input)).map(|(_, value)| *value).unwrap()
    };
    formula.inputs.iter().map(of).collect()
}

/// Both sides of a formula of one comparison, by its tape.
fn sides(formula: &Formula) -> (f64, f64) {
    let values = formula.tape.values(&numbers(formula));
    (values[formula.comparisons[0].left], values[formula.comparisons[0].right])
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = Formula::parse(&text, &parameters());
    }

    #[test]
    fn no_text_of_the_right_letters_panics(text in "[xyn0-9.e+*/^()<>=, \\[\\]-]{0,40}") {
        let _ = Formula::parse(&text, &parameters());
    }

    #[test]
    fn values_are_those_of_a_tree_and_print_reads_back(tree in trees()) {
        let text = format!("{} <= x", tree.text());
        let formula = Formula::parse(&text, &parameters()).unwrap();
        let (left, right) = sides(&formula);
        let expected = tree.value();
        prop_assert!(left.to_bits() == expected.to_bits() || (left.is_nan() && expected.is_nan()), "{text}: {left} {expected}");
        prop_assert_eq!(right, 1.25);
        let values = formula.tape.values(&numbers(&formula));
        prop_assert_eq!(formula.comparisons[0].is_met(&values), expected <= 1.25);
        let all = parameters();
        let name = |place: usize| {
            let (index, element) = formula.inputs[place];
            match all[index].name() {
                "wing span" => "`wing span`".to_owned(),
                _ => all[index].element_name(element),
            }
        };
        let printed: Vec<String> =
            [formula.comparisons[0].left, formula.comparisons[0].right].map(|place| formula.tape.text(place, &name)).into();
        let again = Formula::parse(&printed.join(" <= "), &parameters()).unwrap();
        prop_assert_eq!(&again.tape, &formula.tape);
        prop_assert_eq!(&again.comparisons, &formula.comparisons);
        // What it is called reads back too.
        prop_assert_eq!(Formula::parse(&formula.to_string(), &parameters()).unwrap(), formula);
    }

    #[test]
    fn slopes_are_those_of_differences(tree in trees()) {
        let formula = Formula::parse(&format!("{} <= x", tree.text()), &parameters()).unwrap();
        let (at, place) = (numbers(&formula), formula.comparisons[0].left);
        let values = formula.tape.values(&at);
        prop_assume!(values.iter().all(|value| value.abs() < 1e4 && (value.abs() > 1e-3 || *value == 0.0)));
        let mut slopes = vec![0.0; at.len()];
        formula.tape.add_slopes(&values, place, 1.0, &mut slopes);
        for k in 0..at.len() {
            let moved = |by: f64| {
                let mut there = at.clone();
                there[k] += by;
                formula.tape.values(&there)[place]
            };
            // Two widths that agree, and both sides, say that differences can be trusted here: no steep wall, and no kink,
            // whose two slopes may cancel at the point itself.
            let (wide, narrow) = ((moved(1e-4) - moved(-1e-4)) / 2e-4, (moved(1e-5) - moved(-1e-5)) / 2e-5);
            let (after, before) = ((moved(1e-5) - values[place]) / 1e-5, (values[place] - moved(-1e-5)) / 1e-5);
            let size = 1.0 + narrow.abs();
            if (wide - narrow).abs() <= 1e-6 * size && (after - before).abs() <= 1e-4 * size && slopes[k].is_finite() {
                prop_assert!((slopes[k] - narrow).abs() <= 1e-4 * size, "{}: {} {narrow}", formula, slopes[k]);
            }
        }
    }
}

#[test]
fn formulas_are_read_as_people_write_them() {
    for (text, expected) in [
        ("2 + 3 * 4 <= x", 14.0),
        ("2 * 3 ^ 2 <= x", 18.0),
        ("-2 ^ 2 <= x", -4.0),
        ("2 ^ -1 <= x", 0.5),
        ("2 ^ 3 ^ 2 <= x", 512.0),
        ("2 ** 3 <= x", 8.0),
        ("8 / 4 / 2 <= x", 1.0),
        ("10 - 4 - 3 <= x", 3.0),
        ("--4 <= x", 4.0),
        ("(1 + 2) * 3 <= x", 9.0),
        ("1.5e1 <= x", 15.0),
        (".5 <= x", 0.5),
        ("max(1, 2 + 3, 4) <= x", 5.0),
        ("min(v) <= x", 0.1),
        ("sum(v, 1) <= x", 2.5),
        ("sqrt(16) <= x", 4.0),
        ("pi <= x", std::f64::consts::PI),
        ("`wing span` * 2 <= x", 3.0),
        ("v[2] + n ≤ x", 4.9),
    ] {
        let formula = Formula::parse(text, &parameters()).unwrap();
        assert_eq!(sides(&formula), (expected, 1.25), "{text}");
    }
    let chain = Formula::parse("0 < x<=  n *2 < 100", &parameters()).unwrap();
    assert_eq!((chain.comparisons.len(), chain.to_string().as_str()), (3, "0 < x <= n * 2 < 100"));
    assert!(Formula::parse("n == 3", &parameters()).is_ok(), "integers can be equal");
    for (text, written) in [
        ("- x^2<= -1", "-x ^ 2 <= -1"),
        ("max( v[ 0 ],y )*(x-1)<2--n", "max(v[0], y) * (x - 1) < 2 - -n"),
        (" sqrt (x) >= (1)", "sqrt(x) >= (1)"),
    ] {
        let formula = Formula::parse(text, &parameters()).unwrap();
        assert_eq!(formula.to_string(), written);
        assert_eq!(Formula::parse(written, &parameters()).unwrap(), formula);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let deep = format!("{}x{} <= 1", "(".repeat(100_000), ")".repeat(100_000));
    let minus = format!("{}x <= 1", "-".repeat(100_000));
    let tower = format!("x{} <= 1", "^2".repeat(100_000));
    for (text, at, words) in [
        ("", 1, "it is empty"),
        ("x + y", 6, "nothing is compared"),
        ("x + <= 1", 5, "a number or a name was expected, and not `<=`"),
        ("x + y <= 1 2", 12, "an operator was expected, and not `2`"),
        ("(x + y <= 1", 8, "`)` was expected"),
        ("x + yy <= 1", 5, "no parameter is called `yy`"),
        ("x + spam <= 1", 5, "there are `x`, `y`"),
        ("solver <= 1", 1, "is a category"),
        ("v <= 1", 3, "`v` has 3 elements; write one of them, `v[0]`"),
        ("v[3] <= 1", 3, "numbered 0 to 2, not `3`"),
        ("v[1.5] <= 1", 3, "numbered 0 to 2, not `1.5`"),
        ("x[0] <= 1", 3, "`x` is one number"),
        ("sqr(x) <= 1", 1, "no function is called `sqr`; did you mean `sqrt`?"),
        ("sqrt(x, y) <= 1", 1, "`sqrt` is of one number, and 2 were given"),
        ("x(y) <= 1", 1, "`x` is a parameter and not a function"),
        ("x = 1", 3, "`=` is no comparison"),
        ("x => 1", 3, "write `>=`"),
        ("x != 1", 3, "must differ"),
        ("0 <= x >= y", 8, "different ways"),
        ("x <= 1 == 1", 8, "different ways"),
        ("1 <= 2", 1, "names no parameter"),
        ("x == 1", 1, "remove `x` and compute it"),
        ("x <= 1 $", 8, "`$` has no meaning"),
        ("x <= 1e999", 6, "`1e999` is no finite number"),
        ("é <= `x", 6, "not closed"),
        ("x <= 1..2", 8, "an operator was expected"),
        (&deep, 202, "nested more than 200"),
        (&minus, 202, "nested more than 200"),
        (&tower, 403, "nested more than 200"),
    ] {
        let short: String = text.chars().take(40).collect();
        match Formula::parse(text, &parameters()) {
            Err(Error::Formula { at: found, why, .. }) => {
                assert!(why.contains(words), "{short}: {why}");
                assert_eq!(found, at, "{short}: {why}");
            }
            other => panic!("{short}: {other:?}"),
        }
    }
}

fn constrained(constraints: &[&str]) -> Space {
    Space::new(parameters()).unwrap().constrained(constraints).unwrap()
}

#[test]
fn what_is_inside_stays_and_what_is_not_goes_to_the_border() {
    let seed = 5;
    let cases: [&[&str]; 8] = [
        &["x + y <= 1"],
        &["x^2 + v[0]^2 <= 0.1", "v[0] >= 0.2"],
        &["sum(v) <= 0.5", "x <= 1", "n * x <= 3"],
        &["0.9 <= x / y <= 1.1"],
        &["n == 7", "x < v[1]"],
        &["sin(5 * x) * cos(3 * v[0]) > 0.95"],
        &["x^2 + v[0]^2 >= 8"],
        &["log(x) + sqrt(v[0] - 0.5) < y"],
    ];
    for constraints in cases {
        let space = constrained(constraints);
        let region = space.region().unwrap();
        let mut stream = Stream::new(seed, "region", 0);
        for number in 0..200 {
            let u: Vec<f64> = (0..space.dim()).map(|_| stream.uniform()).collect();
            let near = region.nearest(&u).unwrap();
            assert!(region.admits(&near), "{constraints:?}, seed {seed}, {number}: {near:?}");
            if region.admits(&u) {
                assert_eq!(near, u);
            }
            // It is met by what the user sees.
            let point = space.decode(&UnitPoint::new(near.clone()).unwrap()).unwrap();
            let again = space.encode(&point).unwrap();
            assert!(region.admits(again.as_slice()), "{constraints:?}, seed {seed}, {number}");
            let drawn = region.draw(space.dim(), &mut stream).unwrap();
            assert!(region.admits(&drawn) && drawn.iter().all(|u| (0.0..=1.0).contains(u)));
        }
    }
}

#[test]
fn the_nearest_point_of_a_half_space_is_its_foot() {
    let seed = 3;
    let plain = |n: usize| Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(n)]).unwrap();
    let space = plain(4).constrained(&["x[0] + 2 * x[1] - x[3] <= 0.7"]).unwrap();
    let region = space.region().unwrap();
    let normal = [1.0, 2.0, 0.0, -1.0];
    let mut stream = Stream::new(seed, "foot", 0);
    let mut n_outside = 0;
    for _ in 0..200 {
        let u: Vec<f64> = (0..4).map(|_| 0.25 + 0.5 * stream.uniform()).collect();
        let excess = u.iter().zip(normal).map(|(u, a)| u * a).sum::<f64>() - 0.7;
        if excess <= 0.0 {
            continue;
        }
        n_outside += 1;
        let foot: Vec<f64> = u.iter().zip(normal).map(|(u, a)| u - a * excess / 6.0).collect();
        if foot.iter().any(|x| !(0.0..=1.0).contains(x)) {
            continue;
        }
        let near = region.nearest(&u).unwrap();
        let off = near.iter().zip(&foot).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Some margins of 1e-15 beyond the foot.
        assert!(off < 1e-12, "seed {seed}: {off:e}");
    }
    assert!(n_outside > 50);
    // A ball, whose nearest points are known too.
    let region =
        plain(3).constrained(&["sum(x) >= 0", "x[0]^2 + x[1]^2 + x[2]^2 <= 0.25"]).unwrap().region().unwrap();
    let near = region.nearest(&[0.6, 0.8, 0.0]).unwrap();
    assert!((near[0] - 0.3).abs() < 1e-9 && (near[1] - 0.4).abs() < 1e-9, "{near:?}");
}

#[test]
fn what_admits_nothing_is_refused() {
    let refuse = |constraints: &[&str]| {
        let error = Space::new(parameters()).unwrap().constrained(constraints).unwrap_err();
        error.to_string()
    };
    let message = refuse(&["x + v[0] >= 5"]);
    assert!(message.contains("misses `x + v[0] >= 5` by 1.0.") && message.contains("Loosen it"), "{message}");
    assert!(refuse(&["x <= 0", "v[0] <= x - 0.1"]).contains("all 2 constraints together"));
    assert!(refuse(&["log(-y) <= 0"]).contains("misses"));
    assert!(refuse(&["n * n == 7"]).contains("misses"));
    // A sliver is found, and what is a point too.
    for narrow in ["0.5 <= x + v[0] * v[1] <= 0.5000001", "x >= 3", "x^2 + v[0]^2 + v[1]^2 <= 1e-12"] {
        let region = constrained(&[narrow]).region().unwrap();
        assert!(region.share() < 0.01 && region.nearest(&[0.5; 10]).is_some(), "{narrow}");
    }
}

#[test]
fn a_slice_moves_only_its_own() {
    let space = constrained(&["x + v[0] + v[1] <= 1"]);
    let region = space.region().unwrap();
    assert_eq!(region.coordinates(), [0, 3, 4]);
    // x is -1 there; v[0] is fixed at 1, v[1] moves as the second coordinate of the search.
    let slice = region.slice(&[8, 4], &[0.2, 1.0, 0.0]);
    assert!(slice.admits(&[0.3, 0.9]));
    let slice = region.slice(&[8, 4], &[0.6, 0.0, 0.0]);
    assert!(!slice.admits(&[0.3, 0.9]), "x is 1");
    assert_eq!(slice.nearest(&[0.3, 0.9]).map(|x| x[0]), Some(0.3));
    assert!(region.slice(&[8], &[0.9, 1.0, 1.0]).nearest(&[0.5]).is_none(), "nothing that moves helps");
}
