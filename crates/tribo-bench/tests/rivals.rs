//! A small comparison from end to end: every strategy on a problem with idle inputs, and a noisy one.

use tribo_bench::rivals::{Block, Options, measure, page, table};

const SEEDS: usize = 2;

fn options(problems: &[&str], strategies: &[&str], workers: usize, threads: u16) -> Options {
    Options {
        problems: problems.iter().map(|&name| name.to_owned()).collect(),
        dim: 40,
        strategies: strategies.iter().map(|&name| name.to_owned()).collect(),
        evaluations: 15,
        workers,
        seeds: SEEDS,
        first_seed: 3,
        target: Some(20.0),
        threads,
        log: false,
        out: None,
    }
}

const ALL: [&str; 8] = ["auto", "bo", "hashing-4", "gaussian-4", "paper-4", "cma-es", "sobol", "random"];

#[test]
fn a_comparison_has_a_table_a_page_and_figures() {
    let options = options(&["branin@60", "hartmann6-noise10"], &ALL, 3, 2);
    let folder = tempfile::tempdir().unwrap();
    let lines = std::sync::Mutex::new(vec![]);
    let write = |blocks: &[Block]| {
        Ok(page::write(&options, blocks, "on a day", "tribo-bench rivals --dim 40", folder.path())?)
    };
    let blocks = measure(&options, |line| lines.lock().unwrap().push(line), write).unwrap();

    let lines = lines.into_inner().unwrap();
    assert_eq!(lines.len(), 2 * ALL.len());
    assert!(lines[0].starts_with("branin 60 auto: @15 ") && lines[0].contains(" | own "), "{}", lines[0]);
    for block in &blocks {
        let wins: f64 = block.summaries.iter().map(|summary| summary.wins).sum();
        assert!((wins - SEEDS as f64).abs() < 1e-9, "{wins} wins");
        assert!(block.runs.iter().all(|run| run.last() >= run.optimum && run.utilisation > 0.5));
    }
    let table = table::markdown(&options, &blocks[0]);
    assert_eq!(table.lines().count(), 2 + ALL.len(), "{table}");
    assert!(table.contains("| after 15 ") && table.contains("most idle worker"));

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let text = read("rivals.md");
    assert!(text.contains("Made on a day by") && text.contains("tribo-bench rivals --dim 40"), "{text}");
    assert!(text.contains(&table) && text.contains("## hartmann6-noise10, 40 inputs"), "{text}");
    for figure in ["rivals-branin-60.svg", "rivals-hartmann6-noise10-40.svg"] {
        assert!(text.contains(&format!("({figure})")), "{figure} is not on the page");
        let svg = read(figure);
        assert!(ALL.iter().all(|name| svg.contains(&format!(">{name}</text>"))), "{figure}");
    }
}

#[test]
fn values_do_not_depend_on_threads() {
    let with = |threads| {
        let options = options(&["integers"], &["auto", "gaussian-4", "cma-es", "sobol"], 2, threads);
        let runs = measure(&options, |_| {}, |_| Ok(())).unwrap().remove(0).runs;
        runs.into_iter()
            .map(|run| (run.strategy, run.seed, run.curve, run.time_to_target_s))
            .collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(2));
}

#[test]
fn names_are_checked_before_anything_runs() {
    let refused = |problems: &[&str], strategies: &[&str]| {
        let run = measure(&options(problems, strategies, 1, 1), |_| {}, |_| Ok(()));
        run.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused(&["branin"], &["auto", "cmaes"]).contains("cma-es"));
    assert!(refused(&["branin", "brainin"], &["auto"]).contains("branin"));
    assert!(refused(&["branin@few"], &["auto"]).contains("branin@few"));
}
