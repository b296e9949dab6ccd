//! What came of the trials, for every output: the objective first, then the limited ones in the order of the limits.

use crate::limit::Limit;
use crate::strategy::auto::start::spread;
use crate::strategy::auto::tuning;
use crate::trial::TrialId;

/// One trial.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: TrialId,
    /// Nothing where an output was not measured; nothing at all where the evaluation broke.
    pub(super) values: Vec<Option<f64>>,
    /// Whether a model may see it.
    pub(super) in_model: bool,
}

/// How good a result is, the smaller the better: outputs that are missing, how far it is beyond its limits, the objective.
type Score = (usize, f64, f64);

/// Results in the order told.
pub(super) struct Table {
    limits: Vec<Limit>,
    pub(super) rows: Vec<Row>,
    /// The best row, the first of equals.
    best: Option<(Score, usize)>,
}

impl Table {
    pub(super) fn new(limits: Vec<Limit>) -> Table {
        Table { limits, rows: vec![], best: None }
    }

    /// Outputs: the objective and those limited.
    pub(super) fn n_outputs(&self) -> usize {
        1 + self.limits.len()
    }

    pub(super) fn push(&mut self, row: Row) {
        if let Some(score) = self.score(&row.values)
            && self.best.is_none_or(|(best, _)| is_less(score, best))
        {
            self.best = Some((score, self.rows.len()));
        }
        self.rows.push(row);
    }

    fn score(&self, values: &[Option<f64>]) -> Option<Score> {
        let missing = values.iter().filter(|value| value.is_none()).count();
        let beyond = |(limit, value): (&Limit, &Option<f64>)| {
            let excess = limit.excess((*value)?);
            Some(if excess > limit.tolerance() { excess / limit.size() } else { 0.0 })
        };
        let violation = self.limits.iter().zip(&values[1..]).filter_map(beyond).sum();
        (missing < values.len()).then_some((missing, violation, values[0].unwrap_or(f64::MAX)))
    }

    /// The best feasible result; as long as there is none, the one with most outputs that is least beyond its limits.
    pub(super) fn incumbent(&self) -> Option<&Row> {
        self.best.map(|(_, row)| &self.rows[row])
    }

    /// What came of a trial.
    pub(super) fn row(&self, id: TrialId) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// Results with a value of any output that a model may see.
    pub(super) fn n_seen(&self) -> usize {
        let seen = |row: &&Row| row.in_model && row.values.iter().any(Option::is_some);
        self.rows.iter().filter(seen).count()
    }

    /// How far the values of an output are spread.
    fn spread(&self, k: usize) -> f64 {
        let seen = self.rows.iter().filter(|row| row.in_model);
        let values: Vec<f64> = seen.filter_map(|row| row.values[k]).collect();
        if values.is_empty() { 0.0 } else { spread(&values) }
    }
}

fn is_less(a: Score, b: Score) -> bool {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)).is_lt()
}

/// How noisy an output is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Noise {
    /// Standard deviation of a value.
    pub(super) sigma: f64,
    /// Spread of the first values.
    pub(super) scale: f64,
}

impl Noise {
    /// Of every output, from values of one point.
    pub(super) fn of(table: &Table, repeats: &[Vec<Option<f64>>]) -> Vec<Noise> {
        let sigma = |k: usize| {
            let values: Vec<f64> = repeats.iter().filter_map(|values| values[k]).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n.max(1.0);
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let raised = if values.len() > 2 { tuning::FEW_REPEATS } else { 1.0 };
            if values.len() > 1 { raised * (squares / (n - 1.0)).sqrt() } else { 0.0 }
        };
        (0..table.n_outputs()).map(|k| Noise { sigma: sigma(k), scale: table.spread(k) }).collect()
    }

    /// Whether it has to be measured by repeats.
    pub(super) fn is_noticed(&self) -> bool {
        self.sigma > tuning::NOTICED_NOISE * self.scale
    }

    /// Whether small steps are lost in it.
    pub(super) fn is_much(&self) -> bool {
        self.sigma > tuning::MUCH_NOISE * self.scale
    }

    /// Changes up to here mean nothing.
    pub(super) fn nothing(&self) -> f64 {
        (tuning::REST_DEVIATIONS.0 * self.sigma).max(tuning::REST_NOTHING * self.scale)
    }

    /// The step that small moves take, as far as this output goes.
    pub(super) fn step(&self) -> f64 {
        let (least, most) = tuning::SMALL_STEP;
        (self.sigma / self.scale.max(1e-300)).sqrt().clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incumbent_is_feasible_or_the_nearest_to_it() {
        let mut table = Table::new(vec![Limit::parse("stress <= 200").unwrap()]);
        let mut push = |values: Vec<Option<f64>>| {
            let id = TrialId(table.rows.len() as u64);
            table.push(Row { id, values, in_model: true });
            table.incumbent().map(|row| row.id.0)
        };
        assert_eq!(push(vec![None, None]), None);
        assert_eq!(push(vec![Some(1.0), None]), Some(1), "half an answer is better than none");
        assert_eq!(push(vec![Some(9.0), Some(400.0)]), Some(2));
        assert_eq!(push(vec![Some(9.0), Some(210.0)]), Some(3));
        assert_eq!(push(vec![Some(20.0), Some(200.0)]), Some(4));
        assert_eq!(push(vec![Some(20.0), Some(100.0)]), Some(4), "the first of equals");
        assert_eq!(push(vec![Some(19.0), Some(150.0)]), Some(6));
    }

    #[test]
    fn noise_is_told_for_each_output() {
        let mut table = Table::new(vec![Limit::parse("stress <= 200").unwrap()]);
        for k in 0..8 {
            let values = vec![Some(f64::from(k)), Some(1e6 * f64::from(k * k))];
            table.push(Row { id: TrialId(k as u64), values, in_model: true });
        }
        let repeats = [vec![Some(1.0), Some(5e4)], vec![Some(1.0), Some(-5e4)]];
        let noise = Noise::of(&table, &repeats);
        assert_eq!((noise[0].sigma, noise[0].is_noticed()), (0.0, false));
        assert!(
            (noise[1].sigma - 5e4 * 2.0_f64.sqrt()).abs() < 1e-9
                && noise[1].is_noticed()
                && noise[1].is_much()
        );
    }
}
