//! `tribo export` and `tribo import`.

use crate::support::{Done, Folder, SQUARE};

fn rows(done: &Done) -> Vec<Vec<&str>> {
    done.stdout.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn tables_have_all_digits() {
    let folder = Folder::finished();
    let csv = folder.tribo(["export"]).code(0);
    let rows = rows(&csv);
    assert_eq!(
        rows[0],
        ["trial", "state", "value", "x", "attempts", "asked", "told", "wall_s", "host", "reason"]
    );
    assert_eq!(rows.len(), 7);
    for row in &rows[1..] {
        let (value, x): (f64, f64) = (row[2].parse().unwrap(), row[3].parse().unwrap());
        assert_eq!(value, x * x);
    }
    let lines = folder.tribo(["export", "--format", "jsonl"]).code(0);
    let first: serde_json::Value = serde_json::from_str(lines.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["params"]["x"].as_f64().unwrap(), rows[1][3].parse::<f64>().unwrap());
}

#[test]
fn files_are_written_whole() {
    let folder = Folder::finished();
    folder.tribo(["export", "-o", "out.csv"]).code(0);
    assert_eq!(folder.read("out.csv"), folder.tribo(["export"]).stdout);
    folder.tribo(["export", "-o", "out.parquet"]).code(0);
    let bytes = std::fs::read(folder.path().join("out.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    folder.tribo(["export", "-o", "nowhere/out.csv"]).code(4).says("nowhere/out.csv");
    assert!(!folder.has("out.csv.part") && !folder.has("out.parquet.part"));
}

#[test]
fn wide_tables_are_not_csv_by_accident() {
    let study = SQUARE.replace("high = 1.0", "high = 1.0\nsize = 3000").replace("$TRIBO_X_X", "0");
    let folder = Folder::with(&study.replace("evaluations = 6", "evaluations = 2"));
    folder.tribo(["run"]).code(0);
    folder.tribo(["export"]).code(2).says("3009 columns").says("--all");
    let all = folder.tribo(["export", "--all"]).code(0);
    assert_eq!(rows(&all)[0].len(), 3009);
    folder.tribo(["trials"]).code(0).prints("...]");
}

#[test]
fn points_that_another_program_chose_can_be_imported_once() {
    // Most numbers of a table are not among those that the unit cube has a place for; each is the same point all the same.
    let folder = Folder::with(&SQUARE.replace("evaluations = 6", "evaluations = 60"));
    let rows: Vec<String> = (0..40).map(|i| format!("{},{i}", f64::from(i * i) / 1600.1 - 0.3)).collect();
    folder.write("old.csv", &format!("x,value\n{}\n", rows.join("\n")));
    folder.tribo(["import", "old.csv"]).code(0).says("40 of 40 rows new");
    folder.tribo(["import", "old.csv", "--dry-run"]).code(0).says("0 of 40 rows new, 40 known already");
    folder.tribo(["import", "old.csv"]).code(0).says("0 of 40 rows new, 40 known already");
}

#[test]
fn what_was_exported_can_be_imported_once() {
    let folder = Folder::finished();
    folder.tribo(["export", "-o", "old.csv"]).code(0);
    folder.write("new.toml", &SQUARE.replace("evaluations = 6", "evaluations = 7"));
    let preview = folder.tribo(["import", "new.toml", "old.csv", "--dry-run"]).code(0);
    assert!(preview.stdout.contains("value     the value\n"), "{preview:?}");
    assert!(preview.stdout.contains("host      not used\n"), "{preview:?}");
    assert!(preview.stderr.contains("6 of 6 rows new; nothing was changed"), "{preview:?}");
    assert!(!folder.has("new.tribo"));
    folder.tribo(["import", "new.toml", "old.csv"]).code(0).says("6 of 6 rows new");
    folder.tribo(["import", "new.toml", "old.csv"]).code(0).says("0 of 6 rows new, 6 known already");
    let (old, new) = (folder.tribo(["best"]), folder.tribo(["best", "new.toml"]));
    assert_eq!(old.stdout, new.stdout);
    folder.tribo(["run", "new.toml"]).code(0).says("6 done before");
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_lines() {
    let folder = Folder::with(SQUARE);
    folder.write("a.csv", "x,drag\n0.5,1\n2,1\nhalf,1\n0.5\n0.25,\n");
    folder.tribo(["import", "a.csv"]).code(2).says("a.csv:1: there is no column \"value\"").says("--value");
    let done = folder.tribo(["import", "a.csv", "--value", "drag"]).code(2).says("nothing was taken in");
    for part in ["a.csv:3: ", "a.csv:4: ", "a.csv:5: "] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    assert!(!done.stderr.contains("a.csv:2: ") && !done.stderr.contains("a.csv:6: "), "{done:?}");
    assert!(!folder.has("study.tribo"));
    folder.tribo(["import", "missing.csv"]).code(2).says("missing.csv");
    folder.write("b.csv", "");
    folder.tribo(["import", "b.csv"]).code(2).says("is empty");
}

#[test]
fn tables_of_every_kind_are_imported() {
    let study = SQUARE.replace("evaluations = 6", "evaluations = 60");
    let folder = Folder::with(&study);
    folder.write("a.csv", "x,value\n0.5,1\n0.25,2\n");
    folder.tribo(["import", "a.csv"]).code(0).says("2 of 2 rows new");
    folder.tribo(["export", "-o", "all.parquet"]).code(0);
    folder.tribo(["export", "-o", "all.jsonl"]).code(0);
    folder.write("d.dat", "%eval_id interface x value\n1 NO_ID 0.5 1\n2 NO_ID 0.25 2\n");
    for file in ["all.parquet", "all.jsonl", "d.dat"] {
        folder.tribo(["import", file]).code(0).says("0 of 2 rows new, 2 known already");
    }
    folder.write("o.jsonl", "{\"params\":{\"T\":0.75},\"value\":3}\n{\"params\":{\"T\":7},\"value\":3}\n");
    folder.tribo(["import", "o.jsonl"]).code(2).says("there is no column \"x\"").says("params.T");
    let mapped = ["import", "o.jsonl", "--map", "params.T=x"];
    folder.tribo(mapped).code(2).says("o.jsonl:2: ").says("--skip-outside").says("nothing was taken in");
    let skipped = mapped.into_iter().chain(["--skip-outside"]);
    let preview =
        folder.tribo(skipped.clone().chain(["--dry-run"])).code(0).prints("params.T").prints("parameter x");
    assert!(preview.stderr.contains("1 of 2 rows new, 1 outside; nothing was changed"), "{preview:?}");
    folder.tribo(skipped).code(0).says("1 of 2 rows new, 1 outside");
    folder.tribo(["import", "a.csv", "--map", "x=y"]).code(2).says("no parameter and no output");
    folder.tribo(["import", "a.csv", "--map", "x"]).code(2).says("COLUMN=NAME");
}
