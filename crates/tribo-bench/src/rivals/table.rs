//! What the runs of a problem say together, and the table of it: a row for each strategy.

use super::{Block, Options, Run};
use crate::seeds::Spread;
use serde::Serialize;

/// What the seeds of a strategy say about a problem.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Problem and inputs.
    #[serde(flatten)]
    pub case: super::Case,
    /// Strategy.
    pub strategy: String,
    /// Seeds.
    pub seeds: usize,
    /// Values after evaluations.
    pub values: Vec<(usize, Spread)>,
    /// Seeds in which its last value is the lowest of all strategies; k that share it have a k-th each.
    pub wins: f64,
    /// Seeds that reached the target.
    pub reached: usize,
    /// Virtual seconds to the target; none if fewer than half of the seeds reached it.
    pub median_time_to_target_s: Option<f64>,
    /// Busy part of the workers' time, median.
    pub utilisation: f64,
    /// The largest idle part of a worker, of all seeds.
    pub largest_idle: f64,
    /// Seconds in ask and tell, for one run.
    pub own_s: Spread,
    /// Active inputs named, active inputs, idle inputs named; sums over the seeds.
    pub named: Option<(usize, usize, usize)>,
}

/// Summaries of runs that are in groups of `seeds` for each strategy, each with the seeds in the same order.
pub fn summarise(runs: &[Run], seeds: usize) -> Vec<Summary> {
    let groups: Vec<&[Run]> = runs.chunks(seeds).collect();
    let mut wins = vec![0.0; groups.len()];
    for i in 0..seeds {
        let last = |group: &[Run]| group[i].last();
        let lowest = groups.iter().map(|group| last(group)).fold(f64::INFINITY, f64::min);
        let winners: Vec<usize> = (0..groups.len()).filter(|&g| last(groups[g]) == lowest).collect();
        winners.iter().for_each(|&g| wins[g] += 1.0 / winners.len() as f64);
    }
    groups.iter().zip(wins).map(|(runs, wins)| summary(runs, wins)).collect()
}

fn summary(runs: &[Run], wins: f64) -> Summary {
    let spread = |of: &dyn Fn(&Run) -> f64| Spread::of(runs.iter().map(of));
    let time = spread(&|run| run.time_to_target_s.unwrap_or(f64::INFINITY)).median;
    Summary {
        case: runs[0].case.clone(),
        strategy: runs[0].strategy.clone(),
        seeds: runs.len(),
        values: (0..runs[0].values.len())
            .map(|at| (runs[0].values[at].0, spread(&|run| run.values[at].1)))
            .collect(),
        wins,
        reached: runs.iter().filter(|run| run.time_to_target_s.is_some()).count(),
        median_time_to_target_s: time.is_finite().then_some(time),
        utilisation: spread(&|run| run.utilisation).median,
        largest_idle: runs.iter().map(|run| run.largest_idle).fold(0.0, f64::max),
        own_s: spread(&|run| run.own_s),
        named: named(runs),
    }
}

/// Active inputs named, active inputs, idle inputs named, of all runs; none where that is not defined.
pub fn named(runs: &[Run]) -> Option<(usize, usize, usize)> {
    let all = runs.iter().map(|run| run.named);
    all.reduce(|a, b| a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1, a.2 + b.2)))?
}

impl Summary {
    /// The values in the end.
    pub fn last(&self) -> Spread {
        self.values.last().map_or(Spread::of([f64::NAN]), |(_, spread)| *spread)
    }
}

/// What the cells of values are.
pub const CELLS: &str = "median / mean [quartiles]";

/// The table of a problem in Markdown, columns aligned so that it also reads well as plain text. Of the reported numbers of
/// evaluations it shows those nearest below a quarter and a half of all, and all.
pub fn markdown(options: &Options, block: &Block) -> String {
    let Block { summaries, .. } = block;
    let shown = shown_marks(&options.marks());
    let (parallel, timed) = (options.workers > 1, options.target.is_some());
    // The others name no inputs and are not to be blamed for it.
    let named = |summary: &Summary| summary.named.filter(|_| summary.strategy == "auto");
    let naming = summaries.iter().any(|summary| named(summary).is_some());
    let mut head = vec!["strategy".to_owned()];
    head.extend(shown.iter().map(|&(_, n)| format!("after {n}")));
    head.push("wins".to_owned());
    if timed {
        head.extend(["time to target [h]", "reached"].map(str::to_owned));
    }
    if parallel {
        head.extend(["busy", "most idle worker"].map(str::to_owned));
    }
    head.push("own time [s]".to_owned());
    if naming {
        head.extend(["inputs named", "named in error"].map(str::to_owned));
    }
    let mut rows = vec![head];
    for summary in summaries {
        let mut row = vec![summary.strategy.clone()];
        row.extend(shown.iter().map(|&(at, _)| cell(&summary.values[at].1)));
        row.push(wins(summary.wins));
        if timed {
            let hours = |s: f64| format!("{:.2}", s / 3600.0);
            row.push(summary.median_time_to_target_s.map_or("-".to_owned(), hours));
            row.push(format!("{} of {}", summary.reached, summary.seeds));
        }
        if parallel {
            row.push(format!("{:.1} %", 100.0 * summary.utilisation));
            row.push(format!("{:.1} %", 100.0 * summary.largest_idle));
        }
        row.push(format!("{:.2}", summary.own_s.median));
        if naming {
            let (right, wrong) = named(summary).map_or(("-".to_owned(), "-".to_owned()), |named| {
                (format!("{} of {}", named.0, named.1), named.2.to_string())
            });
            row.extend([right, wrong]);
        }
        rows.push(row);
    }
    aligned(&rows)
}

/// Indices and values of the marks that the table shows.
fn shown_marks(marks: &[usize]) -> Vec<(usize, usize)> {
    let end = marks.last().copied().unwrap_or(0);
    let mut shown: Vec<(usize, usize)> = [4, 2, 1]
        .iter()
        .filter_map(|part| marks.iter().copied().enumerate().rfind(|(_, n)| n * part <= end))
        .collect();
    shown.dedup();
    shown
}

fn cell(spread: &Spread) -> String {
    let Spread { median, mean, q25, q75 } = *spread;
    format!("{} / {} [{}, {}]", number(median), number(mean), number(q25), number(q75))
}

/// Four digits.
pub(super) fn number(value: f64) -> String {
    let exponent = value.abs().log10().floor();
    if value == 0.0 {
        "0".to_owned()
    } else if (-3.0..5.0).contains(&exponent) {
        format!("{value:.0$}", (3.0 - exponent).max(0.0) as usize)
    } else {
        format!("{value:.2e}")
    }
}

/// A whole number if it is one.
pub(super) fn wins(wins: f64) -> String {
    if (wins - wins.round()).abs() < 1e-9 { format!("{wins:.0}") } else { format!("{wins:.1}") }
}

/// Rows as a Markdown table with columns of even width, the first row its head.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut table = String::new();
    for (i, row) in rows.iter().enumerate() {
        for (column, text) in row.iter().enumerate() {
            table += &format!("| {text:<width$} ", width = width(column));
        }
        table += "|\n";
        if i == 0 {
            (0..row.len()).for_each(|column| table += &format!("|{}", "-".repeat(width(column) + 2)));
            table += "|\n";
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: &str, seed: u64, last: f64) -> Run {
        Run {
            case: super::super::Case { problem: "p".to_owned(), dim: 3 },
            strategy: strategy.to_owned(),
            seed,
            values: vec![(10, last + 1.0), (20, last)],
            optimum: 0.0,
            time_to_target_s: (last < 2.0).then_some(last),
            utilisation: 0.5,
            largest_idle: 0.1 * last,
            own_s: 1.0,
            first: 9.0,
            named: (strategy == "a").then_some((1, 2, 0)),
            curve: vec![],
        }
    }

    #[test]
    fn wins_are_shared_and_medians_are_of_the_seeds() {
        let of =
            |name: &str, lasts: [f64; 3]| (1..).zip(lasts).map(|(i, v)| run(name, i, v)).collect::<Vec<_>>();
        let runs = [of("a", [1.0, 2.0, 3.0]), of("b", [1.0, 1.0, 5.0]), of("c", [1.0, 4.0, 4.0])].concat();
        let summaries = summarise(&runs, 3);
        let wins: Vec<f64> = summaries.iter().map(|s| s.wins).collect();
        assert_eq!(wins, [1.0 + 1.0 / 3.0, 1.0 + 1.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(summaries[1].last().median, 1.0);
        assert_eq!((summaries[1].reached, summaries[1].median_time_to_target_s), (2, Some(1.0)));
        assert_eq!((summaries[0].reached, summaries[0].median_time_to_target_s), (1, None));
        assert_eq!((summaries[0].named, summaries[1].named), (Some((3, 6, 0)), None));
        assert_eq!(summaries[1].largest_idle, 0.5);
    }

    #[test]
    fn a_quarter_a_half_and_all_are_shown() {
        let values = |marks: &[usize]| shown_marks(marks).into_iter().map(|(_, n)| n).collect::<Vec<_>>();
        assert_eq!(values(&[25, 50, 75, 100, 150, 200]), [50, 100, 200]);
        assert_eq!(values(&[25, 50, 75, 100, 110]), [25, 50, 110]);
        assert_eq!(values(&[15]), [15]);
    }

    #[test]
    fn numbers_have_four_digits() {
        let written = [0.0, -3.322_37, 0.397_887, 12_345.6, 1.5e-7, 1e6, 0.001].map(number);
        assert_eq!(written, ["0", "-3.322", "0.3979", "12346", "1.50e-7", "1.00e6", "0.001000"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest() {
        let rows = [["a", "long head"], ["wide", "é"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), "| a    | long head |\n|------|-----------|\n| wide | é         |\n");
    }
}
