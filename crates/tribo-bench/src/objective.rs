//! A test problem as a study sees it: its box as a space, its value at a suggested point.

use tribo::Result;
use tribo::problems::{self, Problem};
use tribo::space::{Parameter, Point, Space, Values};

/// How far `--shift` moves the optimum, as a part of the half width: between half of this and this.
const SHIFT: f64 = 0.5;

/// The problem `name` with `dim` inputs. With `active` the problem has that many and they are placed at random
/// among `dim`; with `shifted` its optimum is moved first. The seed decides both.
pub fn problem(name: &str, dim: usize, active: Option<usize>, shifted: bool, seed: u64) -> Result<Problem> {
    let plain = problems::by_name(name, active.unwrap_or(dim))?;
    let moved = if shifted { problems::shift(&plain, seed, SHIFT)? } else { plain };
    if active.is_some() { problems::embed_active(&moved, dim, seed) } else { Ok(moved) }
}

/// The box of a problem: one vector if all sides are alike, else one parameter for each input.
pub fn space(problem: &Problem) -> Result<Space> {
    let (low, high) = (problem.low(), problem.high());
    let alike = low.iter().all(|&l| l == low[0]) && high.iter().all(|&h| h == high[0]);
    if alike {
        return Space::new(vec![Parameter::float("x", low[0], high[0]).with_size(problem.dim())]);
    }
    Space::new((0..problem.dim()).map(|i| Parameter::float(format!("x{i}"), low[i], high[i])).collect())
}

/// The value of the problem at a point of its space.
pub fn evaluate(problem: &Problem, point: &Point) -> f64 {
    let mut x = Vec::with_capacity(problem.dim());
    for column in point.columns() {
        if let Values::Float(values) = column {
            x.extend_from_slice(values);
        }
    }
    problem.evaluate(&x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_the_space_are_points_of_the_problem() {
        for (name, dim, active) in [("branin", 2, None), ("hartmann6", 30, Some(6)), ("zdt1", 5, None)] {
            let problem = problem(name, dim, active, false, 3).unwrap();
            let space = space(&problem).unwrap();
            assert_eq!(space.dim(), dim);
            let best = &problem.optimisers()[0];
            let columns = match space.parameters().len() {
                1 => vec![Values::Float(best.clone())],
                _ => best.iter().map(|&x| Values::Float(vec![x])).collect(),
            };
            let value = evaluate(&problem, &space.point(columns).unwrap());
            assert!((value - problem.optimum_value()).abs() < 1e-4, "{name}: {value}");
        }
    }
}
