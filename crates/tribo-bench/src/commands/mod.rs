//! The commands: their options as typed, and what they print.

mod optimiser;
mod program;
mod surrogate;

use clap::Subcommand;
use serde::Serialize;
use std::path::Path;
use tribo_bench::seeds::Failure;
use tribo_bench::{
    ask, chaos, constraints, dimension, foresight, fuzz, honesty, known, local, paper, projection, rivals,
    soak, three, workers,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// How fitting and predicting scale with the number of points (the paper's data study).
    #[command(after_help = "Examples:\n  tribo-bench data --n 1000000 --m 300 --kernel se\n  \
        tribo-bench data --n 10,100,1000,10000,100000,1000000 --m 10,50,100,150,200,250,300 --out bench")]
    Data(surrogate::Data),
    /// Fitting a Parquet file of any length, against a million rows in memory.
    #[command(after_help = "Example:\n  tribo-bench table --n 100000000 --file /tmp/table.parquet")]
    Table(surrogate::Table),
    /// How long taking in a result, hallucinating and predicting take.
    Update(surrogate::Update),
    /// How much of the box random embeddings leave (the paper's Monte Carlo figure).
    #[command(after_help = "Example:\n  tribo-bench projection --samples 1000000 --out bench")]
    Projection(projection::Options),
    /// Convergence with many inputs (the paper's dimension study).
    #[command(
        after_help = "Examples:\n  tribo-bench dimension --problem zdt1 --dim 10000 --strategy paper --out bench\n  \
        tribo-bench dimension --problem hartmann6 --dim 1000 --active 6 --embed hashing --model-dim 12"
    )]
    Dimension(dimension::Options),
    /// What more workers gain, on a virtual clock (the paper's study of batch sizes).
    #[command(after_help = "Examples:\n  tribo-bench workers --out bench\n  \
        tribo-bench workers --workers 1000 --evaluations 3000 --seeds 1 --asynchronous-only")]
    Workers(workers::Options),
    /// Strategies against each other with many inputs.
    #[command(
        after_help = "Examples:\n  tribo-bench rivals --problems branin@10000,integers --strategies auto,cma-es,random\n  \
        tribo-bench rivals --problems hartmann6,ackley-dense@100 --strategies auto,hashing-12,sobol --out docs/rivals\n  \
        tribo-bench rivals --strategies auto,cma-es --workers 20 --target=-3.2"
    )]
    Rivals(rivals::Options),
    /// `auto` on random rough problems: what breaks?
    #[command(after_help = "Examples:\n  tribo-bench fuzz --problems 1000 --first-seed 1\n  \
        tribo-bench fuzz --problems 200 --inputs 1 40")]
    Fuzz(fuzz::Options),
    /// Does a search of very many inputs profit from results that were there before?
    #[command(after_help = "Example:\n  tribo-bench known --seeds 20 --known 300")]
    Known(known::Options),
    /// Data, dimension and workers at once: ten thousand inputs, a million earlier results, twenty workers, one study.
    #[command(after_help = "Examples:\n  tribo-bench three --out bench\n  \
        tribo-bench three --rows 100000 --seeds 5 --earlier moved")]
    Three(three::Options),
    /// How near does a search under limits come to known optima?
    #[command(after_help = "Examples:\n  tribo-bench constraints --seeds 20\n  \
        tribo-bench constraints --problem speed_reducer@120 --workers 20\n  \
        tribo-bench constraints --problem gardner@60 --noise 0.02")]
    Constraints(constraints::Options),
    /// Are the gains that a report foresees those that come?
    #[command(after_help = "Example:\n  tribo-bench foresight --seeds 8")]
    Foresight(foresight::Options),
    /// Is what is said about a model true: whether to trust it, which inputs matter, how good the recommended point is?
    #[command(after_help = "Example:\n  tribo-bench honesty --cases branin,noise --seeds 50\n  \
        tribo-bench honesty --cases recommended --noise 0.1,0.5 --seeds 200")]
    Honesty(honesty::Options),
    /// How long a proposal takes.
    #[command(after_help = "Example:\n  tribo-bench ask --n 500,10000 --d 10")]
    Ask(ask::Options),
    /// All of the paper's experiments, on one page with figures.
    #[command(after_help = "Example:\n  tribo-bench paper --seeds 10 --out docs/paper")]
    Paper(paper::Options),
    /// Kill the program's driver again and again: nothing may be lost, counted twice or left behind.
    #[command(
        after_help = "Examples:\n  tribo-bench chaos --kills 15\n  tribo-bench chaos --kills 300 --seed 7\n  \
            tribo-bench chaos --kills 25 --chapters --limits"
    )]
    Chaos(chaos::Options),
    /// A long study with very many workers on a simulated cluster where everything fails that can.
    #[command(after_help = "Examples:\n  tribo-bench soak\n  \
        tribo-bench soak --workers 100 --evaluations 2000 --seed 7 --strategy auto")]
    Soak(soak::Options),
    /// What the program costs on a workstation.
    #[command(after_help = "Example:\n  tribo-bench local --tribo target/release/tribo")]
    Local(local::Options),
}

impl Command {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Data(options) => surrogate::data(options),
            Command::Table(options) => surrogate::table(options),
            Command::Update(options) => surrogate::update(options),
            Command::Projection(options) => optimiser::projection(options),
            Command::Dimension(options) => optimiser::dimension(options),
            Command::Workers(options) => optimiser::workers(options),
            Command::Rivals(options) => optimiser::rivals(options),
            Command::Fuzz(options) => optimiser::fuzz(options),
            Command::Known(options) => optimiser::known(options),
            Command::Three(options) => optimiser::three(options),
            Command::Constraints(options) => optimiser::constraints(options),
            Command::Foresight(options) => optimiser::foresight(options),
            Command::Honesty(options) => optimiser::honesty(options),
            Command::Ask(options) => optimiser::ask(options),
            Command::Paper(options) => paper::write_page(options, &|what| eprintln!("{what}")),
            Command::Chaos(options) => program::chaos(options),
            Command::Soak(options) => program::soak(options),
            Command::Local(options) => program::local(options),
        }
    }
}

/// One line on standard output.
fn print<T: Serialize>(row: &T) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(row)?);
    Ok(())
}

/// Makes the folder for figures, if one was named.
fn with_folder(
    folder: Option<&Path>,
    write: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    let failed = |error: std::io::Error| format!("cannot write figures to {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    write(folder).map_err(failed)?;
    Ok(())
}
