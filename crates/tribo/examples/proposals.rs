//! What a study proposes depends on its seed and the order of what it is told alone: run this twice, or tell the same to
//! `tribo ask` and `tribo tell` or to Python's `tribo.Study`, and the same bits come out.
//!
//! Prints each point, its numbers in the shortest text that reads back to the same bits.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use tribo::space::{Direction, Parameter, Point, Space};
use tribo::strategy::{Settings, Strategy, Study};

fn drag(point: &Point) -> f64 {
    let x = point.numbers();
    (x[0] - 0.3).powi(2) + (x[1].log10() + 2.0).powi(2) + (x[2] - 4.0).abs() + x[3] * 0.5
}

fn main() -> tribo::Result<()> {
    let space = Space::new(vec![
        Parameter::float("x", -1.0, 2.0),
        Parameter::log_float("rate", 1e-5, 1e-1),
        Parameter::int("layers", 1, 8),
        Parameter::categorical("solver", ["cg", "gmres", "lu"]),
    ])?;
    let mut study = Study::new(space, Direction::Maximize, Strategy::Bo(Settings::bo()), None, 11)?;
    let mut late = None;
    for round in 0..12 {
        let asked = study.ask(2)?;
        for suggestion in &asked {
            println!("{} {:?}", suggestion.id, suggestion.point.numbers());
        }
        // The second of each pair is told one round later, and one of them failed.
        study.tell(asked[0].id, -drag(&asked[0].point))?;
        if let Some((id, value)) = late.replace((asked[1].id, -drag(&asked[1].point))) {
            match round {
                5 => study.tell_failed(id, "diverged")?,
                _ => study.tell(id, value)?,
            };
        }
    }
    Ok(())
}
