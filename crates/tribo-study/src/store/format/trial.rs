//! A trial as it stands in the journal: the optimiser's own types, written out, so that those can change.

use serde::{Deserialize, Serialize};
use tribo::trial::{self, Trial, TrialId};

/// A trial.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    id: u64,
    embedding: usize,
    z: Vec<f64>,
    purpose: Purpose,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipe: Option<Recipe>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Purpose {
    Initial,
    Exploit,
    Explore,
    Added,
    Probe,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Recipe {
    Centre,
    Low,
    High,
    Latin {
        batch: usize,
        count: usize,
        row: usize,
    },
    Uniform,
    Jitter {
        base: u64,
        balanced: bool,
    },
    Scatter {
        base: u64,
        step: f64,
    },
    Move {
        round: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<Began>,
        parts: Vec<(usize, usize)>,
        chunk: Option<usize>,
        step: f64,
    },
    Set {
        base: u64,
        inputs: Vec<usize>,
    },
    Others {
        base: u64,
        kept: Vec<usize>,
    },
    Line {
        base: u64,
        shift: f64,
    },
    Bins {
        base: u64,
        #[serde(default)]
        number: usize,
    },
    Pairs {
        runs: usize,
        #[serde(default)]
        halves: bool,
    },
    Given,
}

/// Where a round of screening began.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Began {
    base: u64,
    moves: Moves,
    named: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Moves {
    Inside,
    Far,
    SumKept,
}

impl From<trial::RoundStart> for Began {
    fn from(trial::RoundStart { base, moves, named }: trial::RoundStart) -> Began {
        let moves = match moves {
            trial::Moves::Inside => Moves::Inside,
            trial::Moves::Far => Moves::Far,
            trial::Moves::SumKept => Moves::SumKept,
        };
        Began { base: base.0, moves, named }
    }
}

impl From<Began> for trial::RoundStart {
    fn from(Began { base, moves, named }: Began) -> trial::RoundStart {
        let moves = match moves {
            Moves::Inside => trial::Moves::Inside,
            Moves::Far => trial::Moves::Far,
            Moves::SumKept => trial::Moves::SumKept,
        };
        trial::RoundStart { base: TrialId(base), moves, named }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Decision {
    results: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fit: Option<Fit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fell_back: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nominees: Option<Vec<Vec<f64>>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Fit {
    hyper: Vec<f64>,
    noisy: bool,
    shift: f64,
    scale: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<[f64; 2]>,
    middle: f64,
    spacing: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen_at: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metric: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    results: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    AtOptimum,
    AtKnownOptimum,
    Astray,
}

impl TryFrom<&Trial> for Written {
    type Error = String;

    fn try_from(trial: &Trial) -> Result<Written, String> {
        let Trial { id, embedding, z, purpose, recipe, decision } = trial.clone();
        Ok(Written {
            id: id.0,
            embedding,
            z,
            purpose: purpose.try_into()?,
            recipe: recipe.map(|recipe| Recipe::try_from(*recipe)).transpose()?,
            decision: decision.map(|decision| (*decision).into()),
        })
    }
}

impl From<Written> for Trial {
    fn from(Written { id, embedding, z, purpose, recipe, decision }: Written) -> Trial {
        Trial {
            id: TrialId(id),
            embedding,
            z,
            purpose: purpose.into(),
            recipe: recipe.map(|recipe| Box::new(recipe.into())),
            decision: decision.map(|decision| Box::new(decision.into())),
        }
    }
}

impl TryFrom<trial::Purpose> for Purpose {
    type Error = String;

    fn try_from(purpose: trial::Purpose) -> Result<Purpose, String> {
        Ok(match purpose {
            trial::Purpose::Initial => Purpose::Initial,
            trial::Purpose::Exploit => Purpose::Exploit,
            trial::Purpose::Explore => Purpose::Explore,
            trial::Purpose::Added => Purpose::Added,
            trial::Purpose::Probe => Purpose::Probe,
            other => return Err(format!("the journal has no word for the purpose {other:?}")),
        })
    }
}

impl From<Purpose> for trial::Purpose {
    fn from(purpose: Purpose) -> trial::Purpose {
        match purpose {
            Purpose::Initial => trial::Purpose::Initial,
            Purpose::Exploit => trial::Purpose::Exploit,
            Purpose::Explore => trial::Purpose::Explore,
            Purpose::Added => trial::Purpose::Added,
            Purpose::Probe => trial::Purpose::Probe,
        }
    }
}

impl TryFrom<trial::Recipe> for Recipe {
    type Error = String;

    fn try_from(recipe: trial::Recipe) -> Result<Recipe, String> {
        use trial::Recipe as Made;
        Ok(match recipe {
            Made::Centre => Recipe::Centre,
            Made::Low => Recipe::Low,
            Made::High => Recipe::High,
            Made::Latin { batch, count, row } => Recipe::Latin { batch, count, row },
            Made::Uniform => Recipe::Uniform,
            Made::Jitter { base, balanced } => Recipe::Jitter { base: base.0, balanced },
            Made::Scatter { base, step } => Recipe::Scatter { base: base.0, step },
            Made::Move { round, began, parts, chunk, step } => {
                Recipe::Move { round, began: began.map(|began| (*began).into()), parts, chunk, step }
            }
            Made::Set { base, inputs } => Recipe::Set { base: base.0, inputs },
            Made::Others { base, kept } => Recipe::Others { base: base.0, kept },
            Made::Line { base, shift } => Recipe::Line { base: base.0, shift },
            Made::Bins { base, number } => Recipe::Bins { base: base.0, number },
            Made::Pairs { runs, halves } => Recipe::Pairs { runs, halves },
            Made::Given => Recipe::Given,
            other => return Err(format!("the journal has no word for the recipe {other:?}")),
        })
    }
}

impl From<Recipe> for trial::Recipe {
    fn from(recipe: Recipe) -> trial::Recipe {
        use trial::Recipe as Made;
        match recipe {
            Recipe::Centre => Made::Centre,
            Recipe::Low => Made::Low,
            Recipe::High => Made::High,
            Recipe::Latin { batch, count, row } => Made::Latin { batch, count, row },
            Recipe::Uniform => Made::Uniform,
            Recipe::Jitter { base, balanced } => Made::Jitter { base: TrialId(base), balanced },
            Recipe::Scatter { base, step } => Made::Scatter { base: TrialId(base), step },
            Recipe::Move { round, began, parts, chunk, step } => {
                Made::Move { round, began: began.map(|began| Box::new(began.into())), parts, chunk, step }
            }
            Recipe::Set { base, inputs } => Made::Set { base: TrialId(base), inputs },
            Recipe::Others { base, kept } => Made::Others { base: TrialId(base), kept },
            Recipe::Line { base, shift } => Made::Line { base: TrialId(base), shift },
            Recipe::Bins { base, number } => Made::Bins { base: TrialId(base), number },
            Recipe::Pairs { runs, halves } => Made::Pairs { runs, halves },
            Recipe::Given => Made::Given,
        }
    }
}

impl From<trial::Decision> for Decision {
    fn from(decision: trial::Decision) -> Decision {
        let trial::Decision { results, fit, ended, fell_back, nominees } = decision;
        Decision { results, fit: fit.map(Into::into), ended: ended.map(Into::into), fell_back, nominees }
    }
}

impl From<Decision> for trial::Decision {
    fn from(Decision { results, fit, ended, fell_back, nominees }: Decision) -> trial::Decision {
        trial::Decision {
            results,
            fit: fit.map(Into::into),
            ended: ended.map(Into::into),
            fell_back,
            nominees,
        }
    }
}

impl From<trial::Fit> for Fit {
    fn from(fit: trial::Fit) -> Fit {
        let trial::Fit { hyper, noisy, shift, scale, log, middle, spacing, chosen_at, metric, results } = fit;
        Fit { hyper, noisy, shift, scale, log, middle, spacing, chosen_at, metric, results }
    }
}

impl From<Fit> for trial::Fit {
    fn from(fit: Fit) -> trial::Fit {
        let Fit { hyper, noisy, shift, scale, log, middle, spacing, chosen_at, metric, results } = fit;
        trial::Fit { hyper, noisy, shift, scale, log, middle, spacing, chosen_at, metric, results }
    }
}

impl From<trial::Ended> for Ended {
    fn from(ended: trial::Ended) -> Ended {
        match ended {
            trial::Ended::AtOptimum => Ended::AtOptimum,
            trial::Ended::AtKnownOptimum => Ended::AtKnownOptimum,
            trial::Ended::Astray => Ended::Astray,
        }
    }
}

impl From<Ended> for trial::Ended {
    fn from(ended: Ended) -> trial::Ended {
        match ended {
            Ended::AtOptimum => trial::Ended::AtOptimum,
            Ended::AtKnownOptimum => trial::Ended::AtKnownOptimum,
            Ended::Astray => trial::Ended::Astray,
        }
    }
}
