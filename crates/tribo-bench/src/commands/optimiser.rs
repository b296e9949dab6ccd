//! Commands that measure the optimiser and its embeddings.

use super::{print, with_folder};
use tribo_bench::seeds::Failure;
use tribo_bench::{
    ask, constraints, dimension, foresight, fuzz, honesty, known, projection, rivals, three, workers,
};

pub(super) fn projection(options: &projection::Options) -> Result<(), Failure> {
    let rows = projection::measure(options)?;
    rows.iter().try_for_each(print)?;
    with_folder(options.out.as_deref(), |folder| projection::write_figures(&rows, folder))
}

pub(super) fn known(options: &known::Options) -> Result<(), Failure> {
    known::run(options)?.iter().try_for_each(print)
}

pub(super) fn three(options: &three::Options) -> Result<(), Failure> {
    let learned = |learned: &three::Learned| {
        let _ = print(learned);
    };
    let ran = |run: &three::Run| {
        let _ = print(run);
    };
    let runs = three::measure(options, learned, ran)?;
    with_folder(options.out.as_deref(), |folder| three::write_figures(options, &runs, folder))
}

pub(super) fn constraints(options: &constraints::Options) -> Result<(), Failure> {
    let told = |row: &constraints::Row| eprintln!("{} is done", row.problem);
    constraints::run(options, told)?.iter().try_for_each(print)
}

pub(super) fn foresight(options: &foresight::Options) -> Result<(), Failure> {
    let (moments, rows) = foresight::run(options)?;
    moments.iter().try_for_each(print)?;
    rows.iter().try_for_each(print)
}

pub(super) fn honesty(options: &honesty::Options) -> Result<(), Failure> {
    honesty::run(options)?.iter().try_for_each(print)
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

/// Prints what broke, and one line that counts; each problem as it ends, since all of them take hours.
pub(super) fn fuzz(options: &fuzz::Options) -> Result<(), Failure> {
    let rows = fuzz::run(options, |row| {
        let said = row.broken.as_deref().unwrap_or("nothing broke");
        eprintln!(
            "seed {}: {} trials, {} values, {said} ({})",
            row.seed, row.trials, row.measured, row.problem
        );
    })?;
    let broken: Vec<&fuzz::Row> = rows.iter().filter(|row| row.broken.is_some()).collect();
    broken.iter().try_for_each(print)?;
    print(&fuzz::Summary::of(&rows))?;
    if broken.is_empty() { Ok(()) } else { Err(format!("{} problems broke it", broken.len()).into()) }
}

pub(super) fn rivals(options: &rivals::Options) -> Result<(), Failure> {
    let blocks = rivals::measure(
        options,
        |line| eprintln!("{line}"),
        |blocks| {
            if let Some(block) = blocks.last() {
                let (case, cells) = (&block.case, rivals::table::CELLS);
                let table = rivals::table::markdown(options, block);
                eprintln!("\n{case}: {cells}\n{table}");
            }
            // After each problem, so that hours of work are not lost with the last one.
            with_folder(options.out.as_deref(), |folder| {
                rivals::page::write(options, blocks, &when_and_where(), &as_typed(), folder)
            })
        },
    )?;
    blocks.iter().flat_map(|block| &block.runs).try_for_each(print)?;
    blocks.iter().flat_map(|block| &block.summaries).try_for_each(print)
}

/// Day and number of cores.
fn when_and_where() -> String {
    let day = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("on {}, {cores} {},", rivals::page::date(day), if cores == 1 { "core" } else { "cores" })
}

/// The command as it was typed, without the folder of the program.
fn as_typed() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,@/+:".contains(c);
    let quoted = |argument: String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument,
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    let arguments =
        std::env::args_os().skip(1).map(|argument| quoted(argument.to_string_lossy().into_owned()));
    ["tribo-bench".to_owned()].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}
