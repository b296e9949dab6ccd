//! What the machine says about itself: which inputs drive which output, what it concluded, what it does now.

use super::search::Searched;
use super::{LimitedAuto, NamedInput, Phase};
use crate::strategy::auto::tuning;
use crate::strategy::study::insight::{ActiveInput, DrivenOutput, Evidence, Fact, Finding, Insight, Verdict};

/// What the objective is called where nobody has said it.
const OBJECTIVE: &str = "objective";

impl LimitedAuto {
    /// An input with what shows best that it matters: the change that is largest beside the spread of its output.
    pub(super) fn active(&self, named: &NamedInput) -> ActiveInput {
        let part = |k: usize| {
            named.shown[k].map_or(0.0, |shown| shown.effect.abs() / self.noise[k].scale.max(1e-300))
        };
        let strongest = (0..named.shown.len()).fold(0, |best, k| if part(k) > part(best) { k } else { best });
        self.named(named, named.shown[strongest])
    }

    fn named(&self, named: &NamedInput, evidence: Option<Evidence>) -> ActiveInput {
        ActiveInput { name: self.recipes.name(named.input), input: named.input, evidence }
    }

    /// The inputs that drive each output; `sign` is that of the user's objective.
    fn driven(&self, sign: f64) -> Vec<DrivenOutput> {
        let output = |k: usize| {
            let sign = if k == 0 { sign } else { 1.0 };
            let drives = |named: &NamedInput| {
                let shown = named.shown[k]?;
                Some(self.named(named, Some(Evidence { effect: sign * shown.effect, ..shown })))
            };
            let mut inputs: Vec<ActiveInput> = self.named.iter().filter_map(drives).collect();
            // Rounds differ in their steps.
            let strength =
                |input: &ActiveInput| input.evidence.map_or(0.0, |shown| shown.effect.abs() / shown.step);
            inputs.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.input.cmp(&b.input)));
            let name = if k == 0 { OBJECTIVE } else { self.limits[k - 1].name() };
            DrivenOutput { output: name.to_owned(), inputs }
        };
        (0..self.table.n_outputs()).map(output).collect()
    }

    /// What is known so far.
    pub(super) fn report(&self, sign: f64) -> Insight {
        let mut named: Vec<&NamedInput> = self.named.iter().collect();
        named.sort_by_key(|named| named.input);
        let searched = self.search.as_ref().map(|search| &search.searched);
        let verdict = match (searched, self.named.is_empty()) {
            (Some(Searched::All | Searched::Bins(_)), _) => Verdict::Dense,
            (Some(Searched::Inputs(_)), false) if matches!(self.phase, Phase::Search) => Verdict::Sparse,
            _ => Verdict::Open,
        };
        let is_known =
            self.findings.iter().any(|finding: &Finding| matches!(finding.fact, Fact::Noise { .. }));
        Insight {
            doing: self.doing(),
            verdict,
            n_inputs: self.recipes.n_inputs,
            active: named.into_iter().map(|named| self.active(named)).collect(),
            outputs: self.driven(sign),
            n_idle: self.rest.n_idle,
            noise_sd: is_known.then_some(self.noise[0].sigma),
            findings: self.findings.clone(),
        }
    }

    fn doing(&self) -> String {
        let (n, n_named) = (self.recipes.n_inputs, self.named.len());
        match (&self.phase, self.search.as_ref().map(|search| &search.searched)) {
            (Phase::Start(_), _) => {
                format!("looking at {n} inputs: first points, and how noisy the outputs are")
            }
            (Phase::Repeats(..), _) => "measuring the noise: values of one point differ".to_owned(),
            (Phase::Screen(_), _) => {
                format!("screening: which of {n} inputs change an output? {n_named} so far")
            }
            (Phase::Search, Some(Searched::Inputs(_))) => {
                format!("searching under limits in the {n_named} inputs that matter")
            }
            (Phase::Search, Some(Searched::Bins(_))) => {
                format!("searching under limits in {} bins of inputs: too many matter", tuning::BINS)
            }
            (Phase::Search, _) => format!("searching under limits in all {n} inputs: too many matter"),
        }
    }
}
