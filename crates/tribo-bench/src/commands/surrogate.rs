//! Commands that measure the Gaussian process alone.

use super::{print, with_folder};
use std::io::IsTerminal;
use std::path::PathBuf;
use tribo::surrogate::kernel::Shape;
use tribo_bench::dimension::parse_positive;
use tribo_bench::seeds::Failure;
use tribo_bench::{data, table, update};

/// Options of `data`.
#[derive(Debug, clap::Args)]
pub(crate) struct Data {
    /// Data points, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000, 100_000, 1_000_000])]
    n: Vec<usize>,
    /// Inputs; the paper has three.
    #[arg(long, default_value_t = 3, value_parser = parse_positive)]
    d: usize,
    /// Different inputs among the data points, which then carry noise of 0.1; by default all are different.
    #[arg(long, value_parser = parse_positive)]
    sites: Option<usize>,
    #[command(flatten)]
    sizes: Sizes,
    /// How much wider than the data the box of inducing points is, as a part of its width on every side.
    #[arg(long, default_value_t = 0.15)]
    margin: f64,
    /// Folder for the figures; none are drawn without it.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Folder for the data of the last n, as numpy's files; none are written without it.
    #[arg(long)]
    save: Option<PathBuf>,
}

/// Options of `update`.
#[derive(Debug, clap::Args)]
pub(crate) struct Update {
    /// Data points fitted before, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
    n: Vec<usize>,
    #[command(flatten)]
    sizes: Sizes,
}

/// Options of `table`.
#[derive(Debug, clap::Args)]
pub(crate) struct Table {
    /// Rows of the file.
    #[arg(long, default_value_t = 10_000_000, value_parser = parse_positive)]
    n: usize,
    /// Rows of the fit in memory that it is compared with.
    #[arg(long, default_value_t = 1_000_000, value_parser = parse_positive)]
    against: usize,
    /// Inputs.
    #[arg(long, default_value_t = 3, value_parser = parse_positive)]
    d: usize,
    /// Inducing points.
    #[arg(long, default_value_t = 300, value_parser = parse_positive)]
    m: usize,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file; it is written if there is none, and left there.
    #[arg(long)]
    file: PathBuf,
}

/// Options that both have.
#[derive(Debug, clap::Args)]
struct Sizes {
    /// Inducing points, a list.
    #[arg(long, value_delimiter = ',', default_values_t = [300])]
    m: Vec<usize>,
    /// Kernel: matern12, matern32, matern52 or se, and after it any of +additive, +pairs, +constant and +linear.
    #[arg(long, default_value = "matern32", value_parser = Shape::from_name)]
    kernel: Shape,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Seed of data and inducing points.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn data(options: &Data) -> Result<(), Failure> {
    let Data { n, d, sites, sizes, margin, out, save } = options;
    let threads = usize::from(sizes.threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    with_folder(save.as_deref(), |folder| n.iter().try_for_each(|&n| data::save(n, *d, sizes.seed, folder)))?;
    let show = std::io::stderr().is_terminal();
    let mut rows = Vec::new();
    for &m in &sizes.m {
        for &n in n {
            let row = pool.install(|| {
                data::measure(n, *d, *sites, m, sizes.kernel, threads, sizes.seed, *margin, |progress| {
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
            print(&row)?;
            rows.push(row);
        }
    }
    with_folder(out.as_deref(), |folder| data::write_figures(&rows, folder))
}

pub(super) fn update(options: &Update) -> Result<(), Failure> {
    let Update { n, sizes } = options;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(sizes.threads)).build()?;
    for &m in &sizes.m {
        for &n in n {
            print(&pool.install(|| update::measure(n, m, sizes.kernel, sizes.seed))?)?;
        }
    }
    Ok(())
}

pub(super) fn table(options: &Table) -> Result<(), Failure> {
    let Table { n, against, d, m, threads, seed, file } = options;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(*threads)).build()?;
    if !file.exists() {
        table::write(file, *n, *d, *seed)?;
    }
    let held = pool.install(|| table::in_memory(*against, *d, *m, *seed))?;
    print(&held)?;
    let read = pool.install(|| table::from_file(file, *d, *m, *seed))?;
    print(&read)?;
    let ratio = read.cpu_us_per_row.zip(held.cpu_us_per_row).map(|(read, held)| read / held);
    print(&serde_json::json!({ "ratio_cpu_per_row": ratio, "rows": read.n, "peak_rss_mb": read.peak_rss_mb }))
}
