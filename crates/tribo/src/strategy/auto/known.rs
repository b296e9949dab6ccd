//! What was known before: results, and which inputs matter.
//!
//! Results from elsewhere, or from another strategy, or from an earlier version of this one, are points in general position:
//! whatever inputs are named, a model of those sees them. With ten of them there is no need for a start of corners and rows;
//! what is left of it is the incumbent once more, moved by next to nothing, which shows the noise. Then all goes on as from
//! any start, and screening departs from the incumbent.
//!
//! A *hint* says what an earlier search had found. Inputs named then are optimised at once, and each is checked by one
//! evaluation, the incumbent with that input moved: what does not answer is dropped (`verify`). A rest check follows, and
//! what was missed is screened for. Where too many inputs mattered, the dense fallback begins at once.

use super::context::Context;
use super::earlier;
use super::phase::Step;
use crate::strategy::engine::Hint;

/// What was known about the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PriorKnowledge {
    /// Nothing, or no more.
    None,
    /// The user says which inputs matter, and nobody looks for others.
    Given,
    /// An earlier search says so.
    Hint(Hint),
}

/// Takes a hint, unless the user knows.
pub(super) fn take_hint(context: &mut Context, hint: Hint) {
    if context.prior == PriorKnowledge::Given {
        return;
    }
    if let Hint::Named(inputs) = &hint {
        let n = context.recipes.n_inputs;
        let inputs: Vec<usize> = inputs.iter().copied().filter(|&input| input < n).collect();
        context.name_unproven(&inputs);
    }
    context.prior = PriorKnowledge::Hint(hint);
}

/// Goes on where the earlier search was, if there is a hint.
pub(super) fn follow_hint(context: &mut Context) -> Option<Step> {
    let PriorKnowledge::Hint(hint) = context.prior.clone() else { return None };
    let step = match hint {
        Hint::Dense => Some(Step::Dense),
        Hint::Named(_) if !context.named.is_empty() => Some(Step::Optimise(earlier::judge(context))),
        Hint::Named(_) => None,
    };
    context.prior = PriorKnowledge::None;
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::phase::Opening;
    use crate::strategy::auto::rehearsal::context;

    #[test]
    fn a_hint_is_followed_once() {
        let mut told = context(60);
        take_hint(&mut told, Hint::Named(vec![3, 9, 70]));
        assert_eq!(told.named_inputs(), [3, 9], "input 70 is not there");
        assert_eq!(follow_hint(&mut told), Some(Step::Optimise(Opening::Checks)));
        assert_eq!(follow_hint(&mut told), None);
        let mut told = context(60);
        take_hint(&mut told, Hint::Dense);
        assert_eq!(follow_hint(&mut told), Some(Step::Dense));
        let mut told = context(60);
        take_hint(&mut told, Hint::Named(vec![]));
        assert_eq!(follow_hint(&mut told), None);
    }

    #[test]
    fn the_user_knows_better() {
        let mut given = context(60);
        given.prior = PriorKnowledge::Given;
        take_hint(&mut given, Hint::Named(vec![3]));
        assert!(given.named.is_empty() && given.prior == PriorKnowledge::Given);
    }
}
