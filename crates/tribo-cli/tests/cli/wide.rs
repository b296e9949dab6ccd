//! `tribo import` of a table with so many numbers that its rows cannot be trials: what they say, durable and used.

use crate::support::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use tribo::rng::{bits_at, uniform_at};

const INPUTS: usize = 300;
/// One more than a study of so many inputs takes as trials.
const ROWS: usize = 16_667;

const STUDY: &str = r#"study_version = 1
direction = "minimize"
seed = 3
[budget]
evaluations = 100
[[parameter]]
name = "x"
type = "float"
low = 0.0
high = 1.0
size = 300
"#;

/// (x[17] - 0.3)² + (x[250] - 0.6)² + x[17] x[100]
fn value(x: impl Fn(usize) -> f64) -> f64 {
    (x(17) - 0.3).powi(2) + (x(250) - 0.6).powi(2) + x(17) * x(100)
}

/// An array of numpy's: a row for each result, its value last.
fn rows(folder: &Folder, change: impl Fn(usize, usize, f64) -> f64) -> PathBuf {
    let columns = INPUTS + 1;
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({ROWS}, {columns}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for row in 0..ROWS {
        let key = bits_at(11, row as u64);
        let x = |k: usize| uniform_at(key, k as u64);
        let numbers = (0..INPUTS).map(x).chain([value(x)]);
        bytes.extend(numbers.enumerate().flat_map(|(k, x)| change(row, k, x).to_le_bytes()));
    }
    let path = folder.path().join("old.npy");
    fs::write(&path, bytes).unwrap();
    path
}

fn same(_: usize, _: usize, x: f64) -> f64 {
    x
}

/// The next points, each told its value.
fn go_on(folder: &Folder, n: usize) -> Vec<String> {
    (0..n)
        .map(|_| {
            let asked = folder.tribo(["ask"]).code(0).json()["trials"][0].clone();
            let x = asked["params"]["x"].as_array().unwrap();
            let told = value(|k| x[k].as_f64().unwrap()).to_string();
            folder.tribo(["tell", &asked["trial"].to_string(), &told]).code(0);
            asked["params"].to_string()
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_wide_table_is_taken_for_what_it_says() {
    let folder = Folder::with(STUDY);
    rows(&folder, same);
    folder
        .tribo(["import", "old.npy", "--dry-run"])
        .code(0)
        .prints("300 elements")
        .says("3 inputs matter (x[17], x[100], x[250])")
        .says("nothing was changed");
    assert!(!folder.has("study.tribo"), "a dry run leaves nothing");
    folder.tribo(["import", "old.npy"]).code(0).says("16667 rows of old.npy are too many to be trials");
    // The file is not needed any more.
    fs::remove_file(folder.path().join("old.npy")).unwrap();
    folder.tribo(["status"]).code(0).prints("earlier   16667 rows of old.npy: 3 inputs");
    let status = folder.tribo(["status", "--json"]).code(0).json();
    assert_eq!((&status["recalled"]["rows"], &status["counts"]["trials"]), (&16_667.into(), &0.into()));
    let length = fs::metadata(folder.path().join("study.tribo/journal")).unwrap().len();
    assert!(length < 100_000, "{length} bytes");
    // Every ask is a process of its own; another study of the same journal asks the same.
    let other = Folder::empty();
    copy(folder.path(), other.path());
    let asked = go_on(&folder, 11);
    assert_eq!(asked, go_on(&other, 11));
    let best = folder.tribo(["status", "--json"]).code(0).json()["best"]["value"].as_f64().unwrap();
    assert!(best < 1e-2, "{best}");
}

#[test]
fn a_journal_cut_in_what_was_read_is_one_without() {
    let folder = Folder::with(STUDY);
    rows(&folder, same);
    folder.tribo(["import", "old.npy"]).code(0);
    let whole = Folder::empty();
    copy(folder.path(), whole.path());
    let journal = folder.path().join("study.tribo/journal");
    let text = fs::read_to_string(&journal).unwrap();
    let at = text.find("\"type\":\"recalled\"").unwrap();
    // As a crash leaves it.
    fs::write(&journal, &text[..at + 500]).unwrap();
    assert!(folder.tribo(["status", "--json"]).code(0).json().get("recalled").is_none());
    folder.tribo(["import", "old.npy"]).code(0);
    assert_eq!(go_on(&folder, 3), go_on(&whole, 3));
}

#[test]
fn a_study_file_that_changes_before_the_first_ask_keeps_what_was_read() {
    let folder = Folder::with(STUDY);
    rows(&folder, same);
    folder.tribo(["import", "old.npy"]).code(0);
    folder.write("study.toml", &STUDY.replace("high = 1.0", "high = 2.0"));
    go_on(&folder, 1);
    folder.tribo(["status"]).code(0).prints("earlier   16667 rows").prints("chapter   2");
    folder.tribo(["inputs"]).code(0).prints("x[17]   as earlier results say").prints("x[250]");
}

#[test]
fn faults_of_a_wide_table_have_a_row_and_a_column() {
    let folder = Folder::with(STUDY);
    for (k, x, code, said) in
        [(40, f64::NAN, 2, "column \"40\" is NaN"), (40, 1.5, 2, "column \"40\" is 1.5, outside of [0, 1]")]
    {
        rows(&folder, |row, column, was| if (row, column) == (16_000, k) { x } else { was });
        let import = folder.tribo(["import", "old.npy"]).code(code);
        import.says(said).says("old.npy: row 16001: ").says("nothing was taken in");
    }
    folder.tribo(["import", "old.npy", "--skip-outside"]).code(0).says("16666 rows").says("1 outside");
    // Cut short, after a new start.
    let folder = Folder::with(STUDY);
    let path = rows(&folder, same);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 8]).unwrap();
    folder.tribo(["import", "old.npy"]).code(2).says("cut short");
    assert!(!folder.has("study.tribo"));
}
