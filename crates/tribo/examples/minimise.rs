//! Minimises a closure of two parameters, printing every new best value.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Strategy, Study};

fn main() -> tribo::Result<()> {
    // Himmelblau's function; its lowest value is 0, at (3, 2) and three other points.
    let f = |x: &[f64]| (x[0] * x[0] + x[1] - 11.0).powi(2) + (x[0] + x[1] * x[1] - 7.0).powi(2);

    let space = Space::new(vec![Parameter::float("x", -5.0, 5.0).with_size(2)])?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::auto(), Some(40), 1)?;
    println!("strategy {}", study.explanation());
    for evaluation in 1..=40 {
        for suggestion in study.ask(1)? {
            let x = suggestion.point.numbers();
            study.tell(suggestion.id, f(&x))?;
            if let Some(best) = study.best()?.filter(|best| best.id == suggestion.id) {
                println!("evaluation {evaluation:2}: {:10.3e} at x = ({:.4}, {:.4})", best.value, x[0], x[1]);
            }
        }
    }
    Ok(())
}
