//! Commands that measure the optimiser and its embeddings.

use super::{print, with_folder};
use tribo_bench::seeds::Failure;
use tribo_bench::{ask, dimension, projection, rivals, workers};

pub(super) fn projection(options: &projection::Options) -> Result<(), Failure> {
    let rows = projection::measure(options)?;
    rows.iter().try_for_each(print)?;
    with_folder(options.out.as_deref(), |folder| projection::write_figures(&rows, folder))
}

pub(super) fn dimension(options: &dimension::Options) -> Result<(), Failure> {
    let progress = |run: &dimension::Run| eprintln!("{} seed {}: {:.6}", run.label, run.seed, run.best);
    let (runs, summary) = dimension::measure(options, progress)?;
    runs.iter().try_for_each(print)?;
    print(&summary)?;
    with_folder(options.out.as_deref(), |folder| {
        dimension::write_figure(options, &runs, summary.optimum, folder).map(|_| ())
    })
}

pub(super) fn workers(options: &workers::Options) -> Result<(), Failure> {
    let progress = |run: &workers::Run| {
        eprintln!("{} workers {:?} seed {}: regret {:.2e}", run.workers, run.mode, run.seed, run.regret);
    };
    let (runs, summaries) = workers::measure(options, progress)?;
    runs.iter().try_for_each(print)?;
    summaries.iter().try_for_each(print)?;
    with_folder(options.out.as_deref(), |folder| workers::write_figures(&runs, folder))
}

pub(super) fn ask(options: &ask::Options) -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(options.threads)).build()?;
    for &n in &options.n {
        print(&pool.install(|| ask::measure(options, n))?)?;
    }
    Ok(())
}

pub(super) fn rivals(options: &rivals::Options) -> Result<(), Failure> {
    rivals::measure(options, |line| eprintln!("{line}"))?.iter().try_for_each(print)
}
