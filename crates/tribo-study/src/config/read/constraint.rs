//! `constraints`: what is known to hold between parameters.

use crate::config::place::Complaint;
use crate::config::value;
use crate::config::view::View;
use crate::outputs::Output;
use tribo::Error;
use tribo::space::Space;
use tribo::space::formula::Formula;

/// The space with its constraints. What is wrong with one of them is reported at the character.
pub(super) fn read(file: &View<'_>, space: Space, outputs: &[Output]) -> Result<Space, Complaint> {
    let Some(given) = file.given("constraints").and_then(|given| given.get_ref().as_array()) else {
        return Ok(space);
    };
    let mut texts = vec![];
    for element in given {
        let Some(text) = value::text(element.get_ref()) else { continue };
        if let Err(error) = Formula::parse(&text, space.parameters()) {
            let span = element.span();
            let offset = match &error {
                // The character inside the quotes, where nothing in the text is escaped.
                Error::Formula { at, .. } if span.len() == text.len() + 2 => {
                    1 + text.chars().take(at - 1).map(char::len_utf8).sum::<usize>()
                }
                _ => 0,
            };
            return Err(Complaint::new(span.start + offset, message(&error, outputs)));
        }
        texts.push(text);
    }
    space.constrained(&texts).map_err(|error| file.complaint("constraints", error.to_string()))
}

/// The message; an output that was taken for a parameter has its limit elsewhere.
fn message(error: &Error, outputs: &[Output]) -> String {
    let Error::Formula { why, .. } = error else { return error.to_string() };
    let meant = |output: &&Output| why.starts_with(&format!("no parameter is called `{}`", output.name));
    match outputs.iter().find(meant) {
        Some(Output { name, .. }) => format!(
            "`{name}` is an output, and `constraints` are between parameters; its limit stands in its [[output]], such as \
             at_most = 200"
        ),
        None => error.to_string(),
    }
}
