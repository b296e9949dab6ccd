//! Studies as a user meets them.

use super::*;
use crate::space::{Direction, Parameter, Space};

#[test]
fn a_study_proposes_points_of_its_space() {
    let space = Space::new(vec![Parameter::float("x", -5.0, 5.0)]).unwrap();
    let mut study = Study::new(space, Direction::Minimize, Strategy::Auto, Some(10), 1).unwrap();
    assert_eq!(study.ask(3).unwrap().len(), 3);
}
