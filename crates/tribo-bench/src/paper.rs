//! `paper`: all of the paper's experiments on one page, its values and ours side by side `[@tran2021]`.
//!
//! The page is Markdown, the figures are SVG files beside it. What the paper shows only as a curve is quoted as it
//! describes the curve in words.

use crate::dimension::{self, Which, parse_positive};
use crate::seeds::Failure;
use crate::{data, projection, workers};
use std::fmt::Write as _;
use std::path::PathBuf;
use tribo::surrogate::kernel::Shape;

/// Inputs of the paper's dimension study.
const INPUTS: usize = 10_000;
/// Evaluations of its studies.
const EVALUATIONS: usize = 200;
/// Inducing points of the data study.
const INDUCING: [usize; 3] = [10, 100, 300];
const SEED: u64 = 1;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Number of seeds: 1, 2, ...
    #[arg(long, default_value_t = 10, value_parser = parse_positive)]
    pub seeds: usize,
    /// Run the data study up to a million points; up to 100,000 without.
    #[arg(long)]
    pub full: bool,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Folder for the page and its figures.
    #[arg(long)]
    pub out: PathBuf,
}

/// Runs everything and writes `paper.md`; `say` is told what is going on.
pub fn write_page(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<(), Failure> {
    std::fs::create_dir_all(&options.out)?;
    let mut page = String::from(
        "# The paper's experiments\n\nMade by `tribo-bench paper`. Each table sets what the paper reports \
         ([@tran2021]) beside what tribo does.\n",
    );
    page += &projection_part(options, say)?;
    page += &dimension_part(options, say)?;
    page += &workers_part(options, say)?;
    page += &data_part(options, say)?;
    page += ERRATA;
    std::fs::write(options.out.join("paper.md"), page)?;
    Ok(())
}

fn projection_part(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<String, Failure> {
    say("projection");
    let (samples, threads, out) = (1_000_000, options.threads, None);
    let rows = projection::measure(&projection::Options { samples, largest: 20, threads, seed: SEED, out })?;
    projection::write_figures(&rows, &options.out)?;
    let mut part = String::from(
        "\n## Random embeddings\n\nz is uniform in [-√d, √d]^d, A has independent normal entries. The paper: for Az/d \
         in ±√d \"approximately 90.6 %\" need no projection, and nearly all other readings have probability zero.\n\n\
         ![one coordinate](projection.svg)\n\n![d coordinates](projection-all.svg)\n\n\
         | reading | d = 1 | d = 2 | d = 3 | d = 5 | d = 10 | d = 20 |\n|---|---|---|---|---|---|---|\n",
    );
    for reading in rows.iter().filter(|row| row.d == 1).map(|row| row.reading) {
        write!(part, "| {reading}, one coordinate (d coordinates) |")?;
        for row in rows.iter().filter(|row| row.reading == reading && [1, 2, 3, 5, 10, 20].contains(&row.d)) {
            write!(part, " {:.3} ({:.3}) |", row.each, row.all)?;
        }
        part.push('\n');
    }
    part += "\n90.6 % is the value for d = 1, where all readings agree. Az/d in ±1 keeps it for every d, so that is what \
             the strategy `paper` uses: a tenth of the inputs is clipped and the whole range can be reached. Az/d in \
             ±√d clips next to nothing and leaves the corners out of reach; ±√d^d collapses to the centre.\n";
    Ok(part)
}

fn dimension_part(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<String, Failure> {
    let mut part = format!(
        "\n## Many inputs\n\nThe strategy `paper`, D = {INPUTS}, {EVALUATIONS} evaluations, {} seeds: best value, median \
         [quartiles]. The paper shows one curve for each and calls \"a fast convergence to 10⁰\" a fair achievement. The \
         centre of the box, which we never place on purpose, gives 1 for ZDT1-3 and 0 for the sphere; so each problem is \
         also run with its optimum shifted away from where it was.\n\n\
         | problem | d | paper | at 50 | at 100 | at {EVALUATIONS} | optimum | clipped | own time [s] |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        options.seeds
    );
    let mut figures = String::new();
    let problems = [
        ("zdt1", 10, "about 1"),
        ("zdt2", 3, "about 1"),
        ("zdt3", 3, "about 1"),
        ("sphere", 10, "a curve only"),
        ("sphere_unit", 10, "a curve only"),
    ];
    for (name, model_dim, reported) in problems {
        for shift in [false, true] {
            let run = dimension::Options {
                problem: name.to_owned(),
                dim: INPUTS,
                active: None,
                shift,
                strategy: Which::Paper,
                embed: None,
                model_dim,
                half_width: 1.0,
                embeddings: 1,
                evaluations: EVALUATIONS,
                seeds: options.seeds,
                threads: options.threads,
                out: None,
            };
            let (runs, summary) =
                dimension::measure(&run, |run| say(&format!("{} seed {}", run.label, run.seed)))?;
            let file = dimension::write_figure(&run, &runs, summary.optimum, &options.out)?;
            let title = if shift { format!("{name}, shifted") } else { name.to_owned() };
            let reported = if shift { "not run" } else { reported };
            write!(part, "| {title} | {model_dim} | {reported} |")?;
            for checkpoint in summary.checkpoints.iter().filter(|checkpoint| checkpoint.evaluations >= 50) {
                let best = checkpoint.best;
                write!(part, " {} [{}, {}] |", number(best.median), number(best.q25), number(best.q75))?;
            }
            let (clipped, own_s) = (100.0 * summary.clip_fraction, summary.own_s.median);
            writeln!(part, " {} | {clipped:.1} % | {own_s:.1} |", number(summary.optimum))?;
            write!(figures, "\n![{title}]({file})\n")?;
        }
    }
    Ok(part + &figures)
}

fn workers_part(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<String, Failure> {
    let run = workers::Options {
        workers: vec![1, 2, 5, 10, 20],
        problem: "hartmann4".to_owned(),
        dim: 4,
        evaluations: 120,
        target: 0.05,
        first_seed: 1,
        seeds: options.seeds,
        asynchronous_only: false,
        threads: options.threads,
        out: None,
    };
    let (runs, summaries) = workers::measure(&run, |run| {
        say(&format!("{} workers {:?} seed {}", run.workers, run.mode, run.seed));
    })?;
    workers::write_figures(&runs, &options.out)?;
    let mut part = format!(
        "\n## Many workers\n\nHartmann-4, evaluations of 30 to 900 s on a virtual clock, two initial points, {} \
         evaluations, {} seeds; the real time of proposals is added. The paper shows curves: more workers are faster, \
         and workers are \"nearly continuously\" busy. Synchronous runs wait for all results before the next \
         proposals.\n\n| workers | mode | busy | median time to regret 0.05 [h] | seeds that got there | final regret |\n\
         |---|---|---|---|---|---|\n",
        run.evaluations, run.seeds
    );
    for summary in &summaries {
        let mode = format!("{:?}", summary.mode).to_lowercase();
        let busy = 100.0 * summary.utilisation.median;
        let time = summary.median_time_to_target_s.map_or("-".to_owned(), |s| format!("{:.2}", s / 3600.0));
        let (reached, regret) = (summary.reached, number(summary.regret.median));
        writeln!(
            part,
            "| {} | {mode} | {busy:.2} % | {time} | {reached} of {} | {regret} |",
            summary.workers, summary.seeds
        )?;
    }
    part += "\n![regret against time](workers-regret.svg)\n\n![schedule](workers-schedule.svg)\n";
    Ok(part)
}

fn data_part(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<String, Failure> {
    let sizes: &[usize] = match options.full {
        true => &[10, 100, 1_000, 10_000, 100_000, 1_000_000],
        false => &[10, 100, 1_000, 10_000, 100_000],
    };
    let threads = usize::from(options.threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut rows = vec![];
    for m in INDUCING {
        for &n in sizes {
            say(&format!("data n = {n}, m = {m}"));
            rows.push(
                pool.install(|| data::measure(n, 3, None, m, Shape::Matern32, threads, SEED, 0.15, |_| {}))?,
            );
        }
    }
    data::write_figures(&rows, &options.out)?;
    let mut part = format!(
        "\n## Much data\n\nA sparse process of the sphere in three inputs, Matern-3/2, {threads} threads. The paper: about \
         49 minutes for n = 1,000,000 and m = 300 on a Xeon Platinum 8160, an error that levels off near 1e-5.\n\n\
         | n | m | training [s] | testing 1,000 points [s] | error (RMSE) |\n|---|---|---|---|---|\n"
    );
    for row in &rows {
        writeln!(
            part,
            "| {} | {} | {:.3} | {:.4} | {:.1e} |",
            row.n, row.m, row.fit_s, row.predict_s, row.rmse
        )?;
    }
    part += "\n![training time](data-training-time.svg)\n\n![testing time](data-testing-time.svg)\n\n\
             ![accuracy](data-accuracy.svg)\n";
    Ok(part)
}

/// Three digits, as short as they come.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e4).contains(&magnitude) {
        format!("{value:.3}")
    } else {
        format!("{value:.1e}")
    }
}

const ERRATA: &str = "
## Errata that mattered

1. The embedding. Algorithm 3 prints ±√d^d as the box of Az/d, which collapses everything to the centre from d = 5 on;
   the text's 90.6 % is the value for d = 1. Here the box is ±1 (`half_width`).
2. κ of the confidence bound uses the model dimension d. With D = 10,000, as printed, it would be pure exploration.
3. Training. The text maximises the variational bound, the author's program the FIC marginal likelihood. Both are
   available; the text is followed.
4. The predictive variance of the subset-of-regressors family is Qss - Qsf (Qff + σ²I)⁻¹ Qfs.
5. Hartmann-4 sums over j = 1..4. Modified ZDT1 has the mean of x₂..x_D inside g, ZDT2 and ZDT3 the sum, all three on
   [-1, 1]^D. Their optima are 0, 0 and about -0.773.
6. The sphere is stated on [0, 1]^D, where its optimum is the all-low corner, out of reach of an embedding with random
   signs; it is run there (`sphere_unit`) and on [-1, 1]^D (`sphere`).
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let written: Vec<String> = [0.0, 1.0, -0.773_4, 2.5e7, 1e-9].map(number).to_vec();
        assert_eq!(written, ["0", "1.000", "-0.773", "2.5e7", "1.0e-9"]);
    }
}
