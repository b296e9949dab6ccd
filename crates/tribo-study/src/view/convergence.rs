//! Convergence: every result as it came, and the best so far.

use super::{Outcome, SHOWN_RESULTS, View, thinned};
use tribo_chart::{Axis, Dots, LineChart, Mark, Rule, Series, plain};

/// Positive values that differ by more than this factor are drawn on a logarithmic axis.
const DECADES: f64 = 100.0;
/// Values beyond this many times the distance from the best to the ninth decile are drawn at the edge.
const FAR: f64 = 4.0;

impl View {
    /// The values in the order told, and the best so far; None before the first.
    pub fn convergence(&self) -> Option<LineChart> {
        let direction = self.config.direction;
        let (mut best, mut line) = (None, vec![]);
        let (mut measured, mut beyond, mut failed) = (vec![], vec![], vec![]);
        let worst_edge = if self.is_maximized() { f64::NEG_INFINITY } else { f64::INFINITY };
        for (n, outcome) in self.outcomes.iter().enumerate() {
            let x = (n + 1) as f64;
            let Some(value) = outcome.value else {
                failed.push((x, outcome));
                continue;
            };
            if !outcome.is_feasible {
                beyond.push((x, value, outcome));
                continue;
            }
            measured.push((x, value, outcome));
            if best.is_none_or(|best| direction.to_internal(value) < direction.to_internal(best)) {
                best = Some(value);
                line.push((x, value));
            }
        }
        // Words for those that are drawn only: there may be a hundred thousand.
        let value_mark = |(x, y, outcome): (f64, f64, &Outcome)| {
            let title = format!("trial {}: {}", outcome.trial, plain(y));
            Mark { x, y, title, level: None }
        };
        let failure_mark = |(x, outcome): (f64, &Outcome)| {
            let title = format!("trial {}: {}", outcome.trial, outcome.state.name());
            Mark { x, y: worst_edge, title, level: None }
        };
        let best = best?;
        line.push((self.outcomes.len() as f64, best));
        let rules = self.config.budget.target.map(|target| Rule::Y(target, "target".to_owned()));
        let mut dots = vec![Dots {
            name: "measured".to_owned(),
            kind: 5,
            marks: thinned(measured, SHOWN_RESULTS).into_iter().map(value_mark).collect(),
            ..Dots::default()
        }];
        if !beyond.is_empty() {
            let marks = thinned(beyond, SHOWN_RESULTS).into_iter().map(value_mark).collect();
            dots.push(Dots { name: "beyond a limit".to_owned(), kind: 2, marks, ..Dots::default() });
        }
        if !failed.is_empty() {
            let marks = thinned(failed, SHOWN_RESULTS).into_iter().map(failure_mark).collect();
            dots.push(Dots { name: "no value".to_owned(), kind: 1, marks, ..Dots::default() });
        }
        Some(LineChart {
            title: "Convergence".to_owned(),
            description: format!(
                "The best {} so far is {} after {} trials; at first it was {}.",
                self.objective(),
                plain(best),
                self.outcomes.len(),
                plain(line[0].1)
            ),
            x: Axis::linear("trials done"),
            y: self.value_axis(best),
            series: vec![Series {
                name: "best so far".to_owned(),
                points: line,
                stepped: true,
                ..Series::default()
            }],
            dots,
            rules: rules.into_iter().collect(),
            ..LineChart::default()
        })
    }

    /// An axis that shows the good values well: logarithmic where all are positive and span decades, cut off where a few
    /// are far worse than the others.
    fn value_axis(&self, best: f64) -> Axis {
        let mut values: Vec<f64> = self.measured().map(|(_, value)| value).collect();
        let internal = |value: &f64| self.config.direction.to_internal(*value);
        let (label, last) = (self.objective(), values.len() - 1);
        let by_worth = |a: &f64, b: &f64| internal(a).total_cmp(&internal(b));
        let worst = *values.select_nth_unstable_by(last, by_worth).1;
        let decile = *values.select_nth_unstable_by(last * 9 / 10, by_worth).1;
        let positive = values.iter().all(|value| *value > 0.0);
        if positive && (worst / best).max(best / worst) > DECADES {
            return Axis::log(label);
        }
        let usual = (decile - best).abs();
        if usual > 0.0 && (worst - best).abs() > FAR * usual {
            let edge = best + 1.3 * (decile - best);
            let room = best - 0.06 * (edge - best);
            return Axis::linear(label).within(edge.min(room), edge.max(room));
        }
        Axis::linear(label)
    }
}
