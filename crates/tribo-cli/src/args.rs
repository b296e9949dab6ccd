//! Arguments as they are typed.

use crate::commands;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tribo_study::layout::Layout;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    a fault of this program
  2    wrong arguments, or no study where one was expected
  3    the study file is wrong, or no longer that of the study in the store
  4    the store is in use, damaged, of another version, or cannot be written
  5    the budget is spent and no evaluation gave a value, or none that meets all limits
  6    too many evaluations failed
  7    the evaluation failed its check
  8    the scheduler cannot be reached
  130  interrupted (143: terminated); everything is saved, `tribo run` goes on

Getting started:
  tribo init --template quick demo
  tribo run demo";

/// The words of the command line. A negative number with an exponent, which would be taken for an option, is written out.
pub(crate) fn typed() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|word| {
        let text = word.to_str().filter(|text| text.starts_with('-'));
        let number = text.and_then(|text| text.parse::<f64>().ok()).filter(|value| value.is_finite());
        number.map_or(word, |value| value.to_string().into())
    })
}

/// Finds the best input of an expensive program: describe it in a study file, run it on a workstation, SLURM or PBS.
#[derive(Debug, Parser)]
#[command(name = "tribo", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_long_help = EXIT_CODES, after_help = "Exit codes and more: tribo --help")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A number of something that there must be at least one of.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "give a whole number, 1 or more".to_owned())
}

/// Which study.
#[derive(Debug, Args)]
pub(crate) struct StudyPath {
    /// A study file, its store, or a folder with study.toml.
    #[arg(default_value = ".", hide_default_value = true)]
    study: PathBuf,
}

impl StudyPath {
    /// Its paths.
    pub(crate) fn layout(&self) -> Layout {
        Layout::of(&self.study)
    }
}

/// Which study, shown to people or to programs.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    #[command(flatten)]
    pub(crate) study: StudyPath,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a study file to begin with.
    #[command(after_help = "Examples:\n  tribo init\n  tribo init --template slurm wing\n  \
        tribo init --from \"./sim --x={x:0..1} --y={y:1e-3..1:log} --n={n:1..9:int} --m={m:a,b,c}\"")]
    Init(commands::init::Options),
    /// Check the study file and run one real evaluation.
    ///
    /// In a study of SLURM or PBS the scheduler is asked whether it takes such jobs, and the evaluation runs only with --run,
    /// on this machine.
    #[command(after_help = "Examples:\n  tribo check\n  tribo check wing.toml --no-run")]
    Check(commands::check::Options),
    /// Run a study, or go on with it.
    ///
    /// The same command starts and resumes. Ctrl-C once: nothing new is started; jobs of a scheduler go on by themselves
    /// and are taken over by the next run, local evaluations are waited for. Ctrl-C twice: everything under way is
    /// cancelled. Nothing finished is lost either way.
    #[command(after_help = "Examples:\n  tribo run\n  tribo run wing.toml --workers 40\n  \
        tribo run --json | jq 'select(.event == \"told\")'")]
    Run(commands::run::Options),
    /// Show where a study stands, what fails and what to do.
    #[command(after_help = "Examples:\n  tribo status\n  tribo status wing.toml --json")]
    Status(Shown),
    /// Watch a study on one screen: convergence, best, what is under way, what fails.
    ///
    /// It only reads, also beside a driver on another host. q, Esc or Ctrl-C leaves; the study goes on.
    #[command(after_help = "Examples:\n  tribo watch\n  tribo watch wing.toml")]
    Watch(commands::watch::Options),
    /// Show the best trials.
    #[command(after_help = "Examples:\n  tribo best\n  tribo best --top 5 --json")]
    Best(commands::best::Options),
    /// Show which inputs matter, what shows it, and how that was found out.
    ///
    /// With up to 40 inputs the model tells: shares of the variance, with their errors. With more, the strategy `auto` looks for
    /// those that matter and shows what moving them changed.
    #[command(
        after_help = "Examples:\n  tribo inputs\n  tribo inputs wing.toml --json | jq -r '.active[].name'"
    )]
    Inputs(Shown),
    /// Write a page with everything about a study: one file, to be read anywhere.
    ///
    /// A run that is over writes it by itself, beside the study file, unless that says `report = false`.
    #[command(after_help = "Examples:\n  tribo report\n  tribo report wing.toml -o wing-for-the-boss.html")]
    Report(commands::report::Options),
    /// Show studies in a browser, live.
    ///
    /// What the report shows, as results come; the model with a slider for each input; every trial with the reason why it was
    /// proposed; who works on what. It reads journals and changes nothing, also of studies that another host drives. The link
    /// that it prints lets one browser in.
    #[command(after_help = "Examples:\n  tribo dash\n  tribo dash wing.toml tail.toml\n  \
        tribo dash wing.toml --socket ~/dash.sock")]
    Dash(commands::dash::Options),
    /// Draw one picture of a study, as SVG.
    #[command(after_help = "Examples:\n  tribo plot convergence -o convergence.svg\n  \
        tribo plot slice --input angle -o angle.svg\n  \
        tribo plot contour wing.toml --input angle --input chord -o both.svg --dark")]
    Plot(commands::plot::Options),
    /// Say why a trial was proposed, what the model expected of it, and what came.
    #[command(after_help = "Examples:\n  tribo why 17\n  tribo why wing.toml 17 --json")]
    Why(commands::why::Options),
    /// List trials, or show one of them.
    #[command(after_help = "Examples:\n  tribo trials --failed\n  tribo trials 17")]
    Trials(commands::trials::Options),
    /// Write all trials as a table.
    #[command(after_help = "Examples:\n  tribo export -o trials.csv\n  \
        tribo export --format parquet -o trials.parquet\n  tribo export --format jsonl | jq .value")]
    Export(commands::export::Options),
    /// Take in evaluations made elsewhere.
    ///
    /// The table (.csv, .jsonl, .parquet, .npy, or Dakota's .dat) has columns named after the parameters (x[0], x[1], ... for
    /// a vector) and one with values. Rows that the study has already are skipped, so importing a file twice changes nothing.
    #[command(
        after_help = "Examples:\n  tribo import old.csv --dry-run\n  tribo import wing.toml old.parquet --value drag\n  \
        tribo import runs.jsonl --map T=temperature --skip-outside"
    )]
    Import(commands::import::Options),
    /// Fit a model to a table of any length.
    ///
    /// A sparse Gaussian process, tried on rows held out. The table (.csv, .jsonl, .parquet, .npy) is read in every pass and
    /// never held in memory. Ctrl-C ends it.
    #[command(
        after_help = "Examples:\n  tribo fit data.parquet --inputs a,b,c --output y -o model.tribo\n  \
        tribo fit runs.csv --output drag -m 1000 --skip-bad"
    )]
    Fit(commands::fit::Options),
    /// Predict the rows of a table with a model that was fitted.
    ///
    /// The answer is CSV, a row for each row: the mean, its standard deviation, and that of a new measurement, noise included.
    #[command(after_help = "Example:\n  tribo predict model.tribo new.parquet -o predictions.csv")]
    Predict(commands::predict::Options),
    /// Propose points, to be evaluated by hand.
    #[command(after_help = "Examples:\n  tribo ask -n 4\n  tribo tell 3 0.25")]
    Ask(commands::ask::Options),
    /// Tell what came of a trial that was asked for.
    #[command(
        after_help = "Examples:\n  tribo tell 3 0.25\n  tribo tell wing.toml 4 --failed \"mesh collapsed\"\n  \
        tribo tell 5 --infeasible\n  tribo tell 6 --lost \"no licence\"\n  tribo tell 3 0.26 --replace"
    )]
    Tell(commands::tell::Options),
    /// Cancel trials that are under way.
    ///
    /// A cancelled trial counts as failed and is not tried again. With --all, evaluations are ended and the run stops;
    /// the next run tries them again.
    #[command(after_help = "Examples:\n  tribo cancel 17 18\n  tribo cancel wing.toml --all")]
    Cancel(commands::cancel::Options),
    /// Evaluate trials again that have no value.
    ///
    /// Their outcomes are taken back, and the next run, or the one at work, tries them again. A new chapter begins, in which
    /// they are under way. A trial with a value is corrected with `tribo tell --replace`.
    #[command(after_help = "Examples:\n  tribo retry 17 18\n  tribo retry wing.toml --failed")]
    Retry(commands::retry::Options),
    /// Repair a damaged store.
    ///
    /// A damaged journal is cut where it must be, and a copy of it stays. Records after the damage, evaluations under way
    /// and answers that the journal has lost are brought back where that is possible; what is lost is named. A study file
    /// that is missing is written again. No driver may be running.
    #[command(after_help = "Examples:\n  tribo repair\n  tribo repair wing.toml")]
    Repair(commands::repair::Options),
    /// Take evaluations of a study with `on = "workers"` and run them here.
    ///
    /// Start it wherever the folder of the study is shared: on other machines, in containers, as often as you like. It leaves
    /// when there is nothing to do, when the study is over, or when it is told to (Ctrl-C), and gives back what it could not
    /// finish.
    #[command(after_help = "Examples:\n  tribo worker wing\n  tribo worker wing --slots 8 --time 12h")]
    Worker(commands::worker::Options),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  tribo completions bash > ~/.local/share/bash-completion/completions/tribo"
    )]
    Completions(commands::completions::Options),
    /// Write manual pages.
    #[command(after_help = "Examples:\n  tribo man | man -l -\n  tribo man ~/.local/share/man/man1")]
    Man(commands::man::Options),
    /// Print the JSON Schema of study files, for editors.
    #[command(after_help = "Example:\n  tribo schema > tribo.schema.json")]
    Schema,
    /// Run one evaluation: what a process, a SLURM job and a PBS job consist of.
    #[command(hide = true)]
    Job(commands::job::Options),
}
