//! What the strategy says about itself: what it knows, what it concluded, what it does now.

use super::context::Context;
use super::phase::Phase;
use super::search::SearchSpace;
use super::{Auto, tuning};
use crate::strategy::study::insight::{ActiveInput, Evidence, Fact, Finding, Insight, Verdict};

impl Auto {
    /// What is known so far. `sign` is that of the user's values.
    pub(super) fn report(&self, sign: f64) -> Insight {
        let turned = |named: &ActiveInput| {
            let evidence =
                named.evidence.map(|evidence| Evidence { effect: sign * evidence.effect, ..evidence });
            ActiveInput { evidence, ..named.clone() }
        };
        let Context { named, noise, recipes, findings, .. } = &self.context;
        let mut active: Vec<ActiveInput> = named.iter().map(turned).collect();
        let strength = |input: &ActiveInput| input.evidence.map_or(0.0, |evidence| evidence.effect.abs());
        active.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.input.cmp(&b.input)));
        let verdict = match (self.search.is_over_named(), named.is_empty()) {
            // Too noisy to tell.
            (false, _) if noise.noisy => Verdict::Open,
            (false, _) => Verdict::Dense,
            (true, false) if self.phase.is_optimise() => Verdict::Sparse,
            _ => Verdict::Open,
        };
        let findings = findings.iter().map(|finding| {
            let fact = match &finding.fact {
                Fact::Named(named) => Fact::Named(turned(named)),
                Fact::Line { value } => Fact::Line { value: sign * value },
                Fact::Rest { inputs, change, threshold } => {
                    Fact::Rest { inputs: *inputs, change: sign * change, threshold: *threshold }
                }
                Fact::Dropped { name, change, threshold } => {
                    Fact::Dropped { name: name.clone(), change: sign * change, threshold: *threshold }
                }
                other => other.clone(),
            };
            Finding { fact, ..finding.clone() }
        });
        Insight {
            doing: self.doing(),
            verdict,
            n_inputs: recipes.n_inputs,
            active,
            outputs: vec![],
            n_idle: self.verification.n_idle,
            noise_sd: (noise.step > 0.0).then_some(noise.sigma),
            findings: findings.collect(),
        }
    }

    fn doing(&self) -> String {
        let (n, n_named) = (self.context.recipes.n_inputs, self.context.named.len());
        match (&self.phase, &self.search.space) {
            (Phase::Start(_), _) => {
                format!("looking at {n} inputs: first points, and how noisy the values are")
            }
            (Phase::Noise(_), _) => "measuring the noise: values of one point differ".to_owned(),
            (Phase::Screen(_), _) => {
                format!("screening: which of {n} inputs change the value? {n_named} so far")
            }
            (Phase::Line(_), _) => "all inputs act alike: searching along them together".to_owned(),
            (Phase::Optimise(_), SearchSpace::Bins(_)) => {
                let hides = self.context.noise.noisy;
                let why = if hides { "the noise hides which ones matter" } else { "too many matter" };
                format!("searching in {} bins of inputs: {why}", tuning::BINS)
            }
            (Phase::Optimise(_), SearchSpace::Evolution(_)) => {
                format!("searching in all {n} inputs by CMA-ES: too many matter")
            }
            (Phase::Optimise(_), SearchSpace::Singles(singles)) => match singles.inputs().len() {
                gained if !singles.is_sweeping() => {
                    format!("searching in {gained} of {n} inputs: moving these alone gained")
                }
                gained => format!("moving {n} inputs one at a time: {gained} gained so far"),
            },
            (Phase::Optimise(_), SearchSpace::Pairs(pairs)) => match pairs.runs {
                _ if pairs.is_tried() => format!("looking whether {n} inputs are pairs"),
                1 => format!("moving all pairs of {n} inputs together"),
                runs => format!("moving {runs} runs of pairs of {n} inputs"),
            },
            (Phase::Optimise(_), SearchSpace::AllInputs) => {
                format!("searching in all {n} inputs: too many matter")
            }
            (Phase::Optimise(_), SearchSpace::Named) => {
                format!("optimising the {n_named} inputs that matter")
            }
        }
    }
}
