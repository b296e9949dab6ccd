//! `[[output]]`: what an evaluation gives; or `direction`, the short form for one output called `value`.

use crate::config::keys::OUTPUT;
use crate::config::place::Complaint;
use crate::config::view::View;
use crate::outputs::{Goal, Output, VALUE};
use std::collections::BTreeSet;
use tribo::space::Direction;

/// The outputs in their order, and the direction of the one that is optimised.
pub(super) fn read(file: &View<'_>) -> Result<(Vec<Output>, Direction), Complaint> {
    let views = file.sections("output", &OUTPUT);
    let outputs = match (file.text("direction"), views.is_empty()) {
        (Some(_), false) => {
            let message = "`direction` is the short form for one output; with [[output]] remove `direction`, and give \
                           the output to optimise a `goal`";
            return Err(file.complaint("direction", message));
        }
        (Some(direction), true) => vec![Output { name: VALUE.to_owned(), goal: goal(&direction) }],
        (None, true) => return Err(file.missing("direction")),
        (None, false) => declared(&views)?,
    };
    let maximize = outputs.iter().any(|output| output.goal == Goal::Maximize);
    Ok((outputs, if maximize { Direction::Maximize } else { Direction::Minimize }))
}

fn declared(views: &[View<'_>]) -> Result<Vec<Output>, Complaint> {
    let (mut outputs, mut names, mut aims) = (Vec::new(), BTreeSet::new(), 0);
    for view in views {
        let name = view.text("name").ok_or_else(|| view.missing("name"))?;
        let goal = goal(&view.text("goal").ok_or_else(|| view.missing("goal"))?);
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
        outputs.push(Output { name, goal });
    }
    match (aims, views.first()) {
        (0, Some(first)) => Err(first.complaint(
            "goal",
            "no output is optimised; give exactly one of them goal = \"minimize\" or goal = \"maximize\"",
        )),
        _ => Ok(outputs),
    }
}

fn goal(word: &str) -> Goal {
    match word {
        "maximize" => Goal::Maximize,
        "record" => Goal::Record,
        _ => Goal::Minimize,
    }
}
