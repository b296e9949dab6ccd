//! `tribo-bench`: the paper's experiments and tribo's own benchmarks. JSON lines on standard output, figures as SVG.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use clap::{Parser, Subcommand};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use tribo::surrogate::kernel::Shape;
use tribo_bench::{data, update};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Benchmarks of tribo: JSON lines on standard output, figures as SVG.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How fitting and predicting scale with the number of points (the paper's data study).
    #[command(after_help = "Examples:\n  tribo-bench data --n 1000000 --m 300 --kernel se\n  \
        tribo-bench data --n 10,100,1000,10000,100000,1000000 --m 10,50,100,150,200,250,300 --out bench")]
    Data {
        /// Data points, a list.
        #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000, 100_000, 1_000_000])]
        n: Vec<usize>,
        #[command(flatten)]
        sizes: Sizes,
        /// How much wider than the data the box of inducing points is, as a part of its width on every side.
        #[arg(long, default_value_t = 0.15)]
        margin: f64,
        /// Folder for the figures; none are drawn without it.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// How long taking in a result, hallucinating and predicting take.
    Update {
        /// Data points fitted before, a list.
        #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
        n: Vec<usize>,
        #[command(flatten)]
        sizes: Sizes,
    },
}

/// Options that both have.
#[derive(Debug, clap::Args)]
struct Sizes {
    /// Inducing points, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [300])]
    m: Vec<usize>,
    /// Kernel: matern12, matern32, matern52 or se.
    #[arg(long, default_value = "matern32", value_parser = parse_shape)]
    kernel: Shape,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Seed of data and inducing points.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn parse_shape(name: &str) -> Result<Shape, String> {
    Shape::from_name(name).ok_or_else(|| "expected one of matern12, matern32, matern52, se".into())
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Data { n, sizes, margin, out } => run_data(&n, &sizes, margin, out),
        Command::Update { n, sizes } => run_update(&n, &sizes),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tribo-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_data(n: &[usize], sizes: &Sizes, margin: f64, out: Option<PathBuf>) -> Outcome {
    let threads = usize::from(sizes.threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let show = std::io::stderr().is_terminal();
    let mut rows = Vec::new();
    for &m in &sizes.m {
        for &n in n {
            let row = pool.install(|| {
                data::measure(n, m, sizes.kernel, threads, sizes.seed, margin, |progress| {
                    if show {
                        eprint!(
                            "\rn = {n}, m = {m}: {} evaluations on subsets, {} on all data, {:.3} nats a point   ",
                            progress.subset_evaluations, progress.full_evaluations, progress.best
                        );
                    }
                })
            })?;
            if show {
                eprint!("\r\x1b[K");
            }
            println!("{}", serde_json::to_string(&row)?);
            rows.push(row);
        }
    }
    if let Some(folder) = out {
        std::fs::create_dir_all(&folder)?;
        data::write_figures(&rows, &folder)?;
    }
    Ok(())
}

fn run_update(n: &[usize], sizes: &Sizes) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(sizes.threads)).build()?;
    for &m in &sizes.m {
        for &n in n {
            let row = pool.install(|| update::measure(n, m, sizes.kernel, sizes.seed))?;
            println!("{}", serde_json::to_string(&row)?);
        }
    }
    Ok(())
}
