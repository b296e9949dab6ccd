//! One picture of each kind, held against files that a person has looked at.
//!
//! A picture that was changed on purpose is looked at in both schemes (`cargo run -p tribo-chart --example gallery -- FOLDER`),
//! and its `-page.svg` put into `tests/golden`.

use tribo_chart::{
    Axis, Bar, Bars, Chart, Dots, HeatMap, LineChart, Mark, Matrix, Measure, Names, Parallel, ParallelAxis,
    Rule, Schedule, Series, Thread, level,
};

/// A number between 0 and 1 that looks like chance.
fn scattered(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract()
}

fn convergence() -> LineChart {
    let value = |i: usize| 3.0 * (-0.06 * i as f64).exp() * (0.4 + 1.6 * scattered(i)) + 0.4;
    let mut best = f64::INFINITY;
    let points = (0..60).map(|i| {
        best = best.min(value(i));
        (i as f64, best)
    });
    let best_line = Series {
        name: "best so far".to_owned(),
        points: points.collect(),
        stepped: true,
        ..Series::default()
    };
    let mark = |i: usize| Mark { x: i as f64, y: value(i), title: format!("trial {i}"), level: None };
    LineChart {
        title: "Convergence".to_owned(),
        description: "The best value falls from 2 to 0.4 in 60 trials.".to_owned(),
        x: Axis::linear("trial"),
        y: Axis::linear("loss").within(0.0, 4.0),
        series: vec![best_line],
        dots: vec![
            Dots {
                name: "measured".to_owned(),
                kind: 5,
                marks: (0..60).map(mark).collect(),
                ..Dots::default()
            },
            Dots {
                name: "failed".to_owned(),
                kind: 1,
                marks: vec![Mark { x: 7.0, y: 9.0, ..Mark::default() }],
                ..Dots::default()
            },
        ],
        rules: vec![Rule::Y(0.4, "target".to_owned())],
        ..LineChart::default()
    }
}

fn slice() -> LineChart {
    let at = |i: usize| 0.001 * 10_f64.powf(4.0 * i as f64 / 40.0);
    let mean = |x: f64| (x.log10() + 1.0).powi(2) - 0.5;
    let sd = |x: f64| 0.15 + 0.2 * (2.0 * x.log10()).sin().abs();
    let expected = Series {
        name: "expected".to_owned(),
        points: (0..=40).map(|i| (at(i), mean(at(i)))).collect(),
        band: (0..=40)
            .map(|i| (at(i), mean(at(i)) - 2.0 * sd(at(i)), mean(at(i)) + 2.0 * sd(at(i))))
            .collect(),
        ..Series::default()
    };
    LineChart {
        title: "The model along rate, through the best point".to_owned(),
        x: Axis::log("rate").within(0.001, 10.0),
        y: Axis::linear("loss"),
        series: vec![expected],
        rules: vec![Rule::X(0.1, "best".to_owned())],
        size: Some((300.0, 200.0)),
        ..LineChart::default()
    }
}

fn rivals() -> LineChart {
    let line = |name: &str, rate: f64| Series {
        name: name.to_owned(),
        points: (0..=20).map(|i| (f64::from(i) * 10.0, 100.0 * (-rate * f64::from(i)).exp())).collect(),
        band: (0..=20)
            .map(|i| {
                (
                    f64::from(i) * 10.0,
                    60.0 * (-rate * f64::from(i)).exp(),
                    160.0 * (-rate * f64::from(i)).exp(),
                )
            })
            .collect(),
        ..Series::default()
    };
    LineChart {
        title: "Regret".to_owned(),
        x: Axis::linear("evaluations"),
        y: Axis::log("regret"),
        series: vec![line("auto", 0.5), line("cma-es", 0.25), line("random", 0.05)],
        names: Names::Ends,
        ..LineChart::default()
    }
}

fn map() -> HeatMap {
    let n = 32;
    let branin = |i: usize, j: usize| {
        let (x, y) = (-5.0 + 15.0 * i as f64 / (n - 1) as f64, 15.0 * j as f64 / (n - 1) as f64);
        let a = y - 5.1 / (4.0 * std::f64::consts::PI.powi(2)) * x * x + 5.0 / std::f64::consts::PI * x - 6.0;
        (a * a + 10.0 * (1.0 - 1.0 / (8.0 * std::f64::consts::PI)) * x.cos() + 10.0).ln()
    };
    let mark = |x: f64, y: f64| Mark { x, y, title: format!("{x}, {y}"), level: None };
    HeatMap {
        title: "log Branin".to_owned(),
        x: Axis::linear("x").within(-5.0, 10.0),
        y: Axis::linear("y").within(0.0, 15.0),
        columns: n,
        rows: n,
        values: (0..n * n).map(|k| branin(k % n, k / n)).collect(),
        value_label: "log value".to_owned(),
        dots: vec![
            Dots {
                kind: 7,
                marks: (0..20)
                    .map(|i| mark(-5.0 + 15.0 * scattered(i), 15.0 * scattered(3 * i + 1)))
                    .collect(),
                ..Dots::default()
            },
            Dots { kind: 1, strong: true, marks: vec![mark(9.42, 2.47)], ..Dots::default() },
        ],
        ..HeatMap::default()
    }
}

fn shares() -> Bars {
    let bar = |name: &str, value: f64, part: f64, error: f64| Measure {
        name: name.to_owned(),
        value,
        part: Some(part),
        interval: Some((value - error, value + error)),
        label: format!("{:.0} %", 100.0 * value),
        title: format!("{name}: {value} in all, {part} alone"),
    };
    Bars {
        title: "Which inputs matter".to_owned(),
        label: "share of the variance".to_owned(),
        bars: vec![
            bar("thickness", 0.62, 0.5, 0.06),
            bar("angle_of_attack", 0.41, 0.3, 0.1),
            bar("roughness", 0.03, 0.01, 0.02),
        ],
        end: Some(1.0),
        ..Bars::default()
    }
}

fn threads() -> Parallel {
    let axis = |name: &str, low: &str, high: &str| ParallelAxis {
        name: name.to_owned(),
        ticks: vec![(0.0, low.to_owned()), (1.0, high.to_owned())],
    };
    let thread = |i: usize| {
        let places = vec![scattered(i), scattered(2 * i + 1), scattered(5 * i), 1.0 - i as f64 / 40.0];
        Thread { places, level: level(1.0 - i as f64 / 40.0), strong: i == 40, title: format!("trial {i}") }
    };
    Parallel {
        title: "Where the search went".to_owned(),
        axes: vec![
            axis("x", "0", "1"),
            axis("width", "2 mm", "9 mm"),
            axis("mesh", "coarse", "fine"),
            axis("loss", "0.4", "12"),
        ],
        threads: (0..=40).map(thread).collect(),
        ..Parallel::default()
    }
}

fn schedule() -> Schedule {
    let bar = |i: usize| {
        let start = (i / 4) as f64 * 1.1 + scattered(i);
        Bar {
            worker: i % 4,
            start,
            end: start + 0.9,
            kind: usize::from(i % 7 == 3),
            title: format!("trial {i}"),
        }
    };
    Schedule {
        title: "4 workers, 82 % busy".to_owned(),
        time_label: "time [h]".to_owned(),
        n_workers: 4,
        kinds: vec!["measured".to_owned(), "failed".to_owned()],
        bars: (0..40).map(bar).collect(),
        ..Schedule::default()
    }
}

fn pairs() -> Matrix {
    let result = |i: usize| {
        (vec![scattered(i), scattered(3 * i + 1), scattered(7 * i + 2)], level(1.0 - i as f64 / 80.0))
    };
    Matrix {
        title: "Results in all pairs of inputs".to_owned(),
        names: ["x", "width", "mesh"].map(str::to_owned).to_vec(),
        results: (0..=80).map(result).collect(),
        ..Matrix::default()
    }
}

/// Each kind of picture, by name.
pub(crate) fn pictures() -> Vec<(&'static str, Box<dyn Chart>)> {
    vec![
        ("convergence", Box::new(convergence())),
        ("slice", Box::new(slice())),
        ("rivals", Box::new(rivals())),
        ("heat-map", Box::new(map())),
        ("bars", Box::new(shares())),
        ("parallel", Box::new(threads())),
        ("schedule", Box::new(schedule())),
        ("matrix", Box::new(pairs())),
    ]
}

#[test]
fn pictures_are_those_that_were_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, chart) in pictures() {
        let svg = chart.picture().svg(tribo_chart::Scheme::Page);
        let golden = std::fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap_or_default();
        let differs = svg.lines().zip(golden.lines()).position(|(a, b)| a != b);
        assert!(
            svg == golden,
            "{name}.svg differs from tests/golden, first in line {differs:?}; see the head of this file"
        );
    }
}
