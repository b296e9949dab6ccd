//! `[[output]]`: what an evaluation gives, and where some of it has to be; or `direction`, the short form for one output
//! called `value`.

use super::limit;
use crate::config::keys::OUTPUT;
use crate::config::place::Complaint;
use crate::config::view::View;
use crate::outputs::{Goal, Output, VALUE};
use std::collections::BTreeSet;
use tribo::limit::Limit;
use tribo::space::Direction;

/// The outputs in their order, the direction of the one that is optimised, and the limits on others.
pub(super) fn read(file: &View<'_>) -> Result<(Vec<Output>, Direction, Vec<Limit>), Complaint> {
    let views = file.sections("output", &OUTPUT);
    let (outputs, limits) = match (file.text("direction"), views.is_empty()) {
        (Some(_), false) => {
            let message = "`direction` is the short form for one output; with [[output]] remove `direction`, and give \
                           the output to optimise a `goal`";
            return Err(file.complaint("direction", message));
        }
        (Some(direction), true) => (vec![Output { name: VALUE.to_owned(), goal: goal(&direction) }], vec![]),
        (None, true) => return Err(file.missing("direction")),
        (None, false) => declared(&views)?,
    };
    let maximize = outputs.iter().any(|output| output.goal == Goal::Maximize);
    Ok((outputs, if maximize { Direction::Maximize } else { Direction::Minimize }, limits))
}

fn declared(views: &[View<'_>]) -> Result<(Vec<Output>, Vec<Limit>), Complaint> {
    let (mut outputs, mut limits, mut names, mut aims) = (Vec::new(), Vec::new(), BTreeSet::new(), 0);
    for view in views {
        let name = view.text("name").ok_or_else(|| view.missing("name"))?;
        let limit = limit::read(view, &name)?;
        let goal = match (view.text("goal"), &limit) {
            (Some(word), _) => goal(&word),
            (None, Some(_)) => Goal::Record,
            (None, None) => return Err(view.missing("goal")),
        };
        if name.contains(char::is_control) || name.trim() != name {
            let message =
                format!("the output {name:?} has blanks at an end or control characters; use a plain name");
            return Err(view.complaint("name", message));
        }
        if !names.insert(name.clone()) {
            return Err(
                view.complaint("name", format!("two outputs are called `{name}`; give each its own name"))
            );
        }
        aims += usize::from(goal != Goal::Record);
        if aims > 1 {
            let message = "this is the second output with a goal; one output is optimised today: use goal = \"record\" \
                           for all others";
            return Err(view.complaint("goal", message));
        }
        if let (Some(limit), true) = (&limit, goal != Goal::Record) {
            let message = format!(
                "`{name}` is optimised, and `{limit}` is a limit on it; remove one of them. What is good enough is `target` in \
                 [budget]"
            );
            return Err(view.complaint("goal", message));
        }
        limits.extend(limit);
        outputs.push(Output { name, goal });
    }
    match (aims, views.first()) {
        (0, Some(first)) => Err(first.complaint(
            "goal",
            "no output is optimised; give exactly one of them goal = \"minimize\" or goal = \"maximize\"",
        )),
        _ => Ok((outputs, limits)),
    }
}

fn goal(word: &str) -> Goal {
    match word {
        "maximize" => Goal::Maximize,
        "record" => Goal::Record,
        _ => Goal::Minimize,
    }
}
