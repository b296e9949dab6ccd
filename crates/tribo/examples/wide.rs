//! Ten thousand inputs of which a few matter, and nobody knows which. `auto` moves groups of them by tiny steps to find
//! out, names those that matter, and optimises them alone.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use tribo::problems::{by_name, embed_active};
use tribo::space::{Direction, Parameter, Space, Values};
use tribo::strategy::{Strategy, Study};

const INPUTS: usize = 10_000;
const EVALUATIONS: usize = 100;

fn main() -> tribo::Result<()> {
    // Branin's two inputs hidden among the others.
    let problem = embed_active(&by_name("branin", 2)?, INPUTS, 3)?;
    let space = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(INPUTS)])?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::auto(), Some(EVALUATIONS), 1)?;
    println!("{}", study.explanation());

    for evaluation in 1..=EVALUATIONS {
        for suggestion in study.ask(1)? {
            if let [Values::Float(x)] = suggestion.point.columns() {
                study.tell(suggestion.id, problem.evaluate(x))?;
            }
        }
        if evaluation % 10 == 0
            && let Some(best) = study.best()?
        {
            println!("{evaluation:>4} evaluations: {:.4}", best.value);
        }
    }
    print!("{}", study.insight());
    println!("the lowest value there is: {:.4}", problem.optimum_value());
    Ok(())
}
