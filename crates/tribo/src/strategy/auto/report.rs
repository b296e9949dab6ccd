//! What the strategy says about itself: what it knows, what it concluded, what it does now.

use super::{Auto, Phase, tuning};
use crate::strategy::study::insight::{ActiveInput, Evidence, Fact, Finding, Insight, Verdict};

impl Auto {
    /// What is known so far. `sign` is that of the user's values.
    pub(super) fn account(&self, sign: f64) -> Insight {
        let turned = |named: &ActiveInput| {
            let evidence =
                named.evidence.map(|evidence| Evidence { effect: sign * evidence.effect, ..evidence });
            ActiveInput { evidence, ..named.clone() }
        };
        let mut active: Vec<ActiveInput> = self.named.iter().map(turned).collect();
        let strength = |input: &ActiveInput| input.evidence.map_or(0.0, |evidence| evidence.effect.abs());
        active.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.input.cmp(&b.input)));
        let verdict = match (self.bins || self.whole, self.named.is_empty()) {
            // Too noisy to tell.
            (true, _) if self.noise.noisy => Verdict::Open,
            (true, _) => Verdict::Dense,
            (false, false) if self.phase == Phase::Optimise => Verdict::Sparse,
            _ => Verdict::Open,
        };
        let findings = self.findings.iter().map(|finding| {
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
            n_inputs: self.points.n_inputs(),
            active,
            n_idle: self.n_idle,
            noise_sd: (self.noise.step > 0.0).then_some(self.noise.sigma),
            findings: findings.collect(),
        }
    }

    fn doing(&self) -> String {
        let n = self.points.n_inputs();
        match self.phase {
            Phase::Start => format!("looking at {n} inputs: first points, and how noisy the values are"),
            Phase::Wait => "measuring the noise: values of one point differ".to_owned(),
            Phase::Screen => {
                format!("screening: which of {n} inputs change the value? {} so far", self.named.len())
            }
            Phase::Line | Phase::Bottom => "all inputs act alike: searching along them together".to_owned(),
            Phase::Optimise if self.bins => {
                let why =
                    if self.noise.noisy { "the noise hides which ones matter" } else { "too many matter" };
                format!("searching in {} bins of inputs: {why}", tuning::BINS)
            }
            Phase::Optimise if self.evolution().is_some() => {
                format!("searching in all {n} inputs by CMA-ES: too many matter")
            }
            Phase::Optimise if self.whole => format!("searching in all {n} inputs: too many matter"),
            Phase::Optimise => format!("optimising the {} inputs that matter", self.named.len()),
        }
    }
}
