//! The page of a comparison: `rivals.md` and a figure for each problem beside it.

use super::table::{CELLS, aligned, markdown, number, wins};
use super::{Block, Options, Run, rival, suite};
use tribo_chart::{Axis, Chart, LineChart, Names, Series};

use crate::seeds::Spread;
use std::fmt::Write as _;
use std::path::Path;

/// Writes the page and its figures to `folder`, which exists. `made` says when and on what, `command` is what was typed.
pub fn write(
    options: &Options,
    blocks: &[Block],
    made: &str,
    command: &str,
    folder: &Path,
) -> std::io::Result<()> {
    for block in blocks {
        std::fs::write(folder.join(file(block)), chart(options, block).to_svg())?;
    }
    let text = text(options, blocks, made, command).map_err(std::io::Error::other)?;
    std::fs::write(folder.join("rivals.md"), text)
}

fn text(options: &Options, blocks: &[Block], made: &str, command: &str) -> Result<String, std::fmt::Error> {
    let (evaluations, workers, seeds) = (options.evaluations, options.workers, seeds(options));
    let mut page = String::from("# Strategies against each other\n\n");
    write!(page, "Made {made} by\n\n```text\n{command}\n```\n\n")?;
    let at_work = if workers == 1 { "one worker".to_owned() } else { format!("{workers} workers") };
    write!(
        page,
        "{evaluations} evaluations, {seeds}, {at_work}. A seed decides where the active inputs are, where the optimum \
         was moved to and which noise is drawn, the same for all strategies. All problems are minimised and values are true \
         ones, without the noise: at the best measured point, or under noise at the point that the strategy's model thinks \
         best, if it has a model. A win is a seed in which no other strategy ends lower; those that end equal share it. Own \
         time is that of all proposals of a run, median"
    )?;
    if workers > 1 || options.target.is_some() {
        write!(page, "; evaluations last 30 to 900 s on a virtual clock, on which proposals take no time")?;
    }
    if let Some(target) = options.target {
        write!(page, ". The target is {target}")?;
    }
    page += ".\n";
    if blocks.len() > 1 {
        page += "\n## Overview\n\nMedian of the last value; the lowest of each row in bold.\n\n";
        page += &overview(blocks);
    }
    for block in blocks {
        let (case, optimum) = (&block.case, number(block.runs[0].optimum));
        write!(page, "\n## {case}\n\n")?;
        let what = suite::description(&case.problem);
        write!(page, "{what} The lowest value is {optimum}. Values are {CELLS}.\n\n")?;
        page += &markdown(options, block);
        write!(page, "\n![{case}]({})\n", file(block))?;
    }
    page += "\n## Who is who\n\n";
    for (name, what) in rival::KNOWN {
        let word = name.trim_end_matches("-N");
        if options
            .strategies
            .iter()
            .any(|strategy| strategy == word || (strategy.starts_with(word) && name != word))
        {
            writeln!(page, "- `{name}`: {what}.")?;
        }
    }
    Ok(page)
}

/// Problems against strategies.
fn overview(blocks: &[Block]) -> String {
    let mut head = vec!["problem".to_owned()];
    head.extend(blocks[0].summaries.iter().map(|summary| summary.strategy.clone()));
    let mut rows = vec![head];
    for block in blocks {
        let medians: Vec<f64> = block.summaries.iter().map(|summary| summary.last().median).collect();
        let lowest = medians.iter().copied().fold(f64::INFINITY, f64::min);
        let cell = |&median: &f64| match median == lowest {
            true => format!("**{}**", number(median)),
            false => number(median),
        };
        let mut row = vec![block.case.to_string()];
        row.extend(medians.iter().map(cell));
        rows.push(row);
    }
    let mut total = vec!["wins in all".to_owned()];
    for at in 0..blocks[0].summaries.len() {
        total.push(wins(blocks.iter().map(|block| block.summaries[at].wins).sum()));
    }
    rows.push(total);
    aligned(&rows)
}

fn seeds(options: &Options) -> String {
    format!("{} {}", options.seeds, if options.seeds == 1 { "seed" } else { "seeds" })
}

fn file(block: &Block) -> String {
    format!("rivals-{}-{}.svg", block.case.problem, block.case.dim)
}

/// Regrets below this part of the largest are drawn as if they were it: rounding has no shape worth showing.
const SMALLEST_PART: f64 = 1e-12;

/// Median and quartiles against evaluations: of the regret on a logarithmic axis, or of the value itself where a value is
/// below the stated optimum.
fn chart(options: &Options, block: &Block) -> LineChart {
    let groups: Vec<&[Run]> = block.runs.chunks(options.seeds).collect();
    let optimum = block.runs[0].optimum;
    let regrets = || block.runs.iter().flat_map(|run| &run.curve).map(|(_, value)| value - optimum);
    let largest = regrets().fold(0.0, f64::max);
    let is_known = regrets().all(|regret| regret >= -SMALLEST_PART * largest);
    // A problem that is solved exactly, as those of integers are, ends below the smallest regret there is.
    let positive = regrets().filter(|regret| *regret > 0.0).fold(f64::INFINITY, f64::min);
    let floor = (0.5 * positive).clamp(SMALLEST_PART * largest, f64::MAX);
    let drawn = |value: f64| if is_known { (value - optimum).max(floor) } else { value };
    let y = match is_known {
        true if regrets().any(|regret| regret < floor) => {
            Axis::log(&format!("best value above the optimum, from {floor:.1e} on"))
        }
        true => Axis::log("best value above the optimum"),
        false => Axis::linear("best value"),
    };
    let spreads = |runs: &[Run]| -> Vec<(f64, Spread)> {
        let of = |at: usize| Spread::of(runs.iter().map(|run| drawn(run.curve[at].1)));
        (0..runs[0].curve.len()).map(|at| (runs[0].curve[at].0 as f64, of(at))).collect()
    };
    let series = groups
        .iter()
        .map(|runs| {
            let curve = spreads(runs);
            Series {
                name: runs[0].strategy.clone(),
                points: curve.iter().map(|(n, spread)| (*n, spread.median)).collect(),
                band: curve.iter().map(|(n, spread)| (*n, spread.q25, spread.q75)).collect(),
                ..Series::default()
            }
        })
        .collect();
    LineChart {
        title: format!("{}: median and quartiles of {}", block.case, seeds(options)),
        x: Axis::linear("evaluations"),
        y,
        series,
        names: Names::Ends,
        ..LineChart::default()
    }
}

/// The day of a number of seconds since 1970 began, in Greenwich, as `2026-11-15`.
pub fn date(seconds: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut day) = (1970, seconds / 86_400);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo_chart::Scale;

    #[test]
    fn solved_problems_end_at_the_bottom_and_wrong_optima_show_values() {
        let chart_of = |values: [f64; 3]| {
            let case = super::super::Case { problem: "p".to_owned(), dim: 2 };
            let run = Run {
                case: case.clone(),
                strategy: "auto".to_owned(),
                seed: 1,
                values: vec![(3, values[2])],
                optimum: 1.0,
                time_to_target_s: None,
                utilisation: 1.0,
                largest_idle: 0.0,
                own_s: 0.0,
                first: values[0],
                named: None,
                curve: (1..).zip(values).collect(),
            };
            let options = <Options as clap::Args>::augment_args(clap::Command::new("rivals"));
            let matches = options.get_matches_from(["rivals", "--seeds", "1"]);
            let options = <Options as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
            chart(&options, &Block { case, runs: vec![run], summaries: vec![] })
        };
        let heights = |chart: &LineChart| chart.series[0].points.iter().map(|(_, y)| *y).collect::<Vec<_>>();
        assert_eq!(heights(&chart_of([5.0, 3.0, 2.0])), [4.0, 2.0, 1.0]);
        let solved = chart_of([5.0, 3.0, 1.0]);
        assert_eq!((heights(&solved), solved.y.scale), (vec![4.0, 2.0, 1.0], Scale::Log));
        assert!(solved.y.label.contains("from 1.0e0 on"), "{}", solved.y.label);
        let below = chart_of([5.0, 3.0, 0.5]);
        assert_eq!((heights(&below), below.y.scale), (vec![5.0, 3.0, 0.5], Scale::Linear));
        // Solved from the first point on: nothing to draw, and no panic.
        assert!(chart_of([1.0; 3]).to_svg().contains("</svg>"));
    }

    #[test]
    fn days_have_their_dates() {
        // From the calendar: the first day, both sides of a leap day, a year's end, a century that is a leap year.
        for (day, written) in [
            (0, "1970-01-01"),
            (789, "1972-02-29"),
            (790, "1972-03-01"),
            (10_956, "1999-12-31"),
            (11_016, "2000-02-29"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date(day * 86_400 + 86_399), written);
        }
    }
}
