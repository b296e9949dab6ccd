//! Every format gives the same rows, from any mark, and says where it is broken.

use super::numbers::{BadRows, Numbers};
use super::*;
use crate::report::columns::{Column, Holds};
use std::fs;
use tempfile::TempDir;
use tribo::surrogate::source::Source;

/// Rows of `a`, a float, and `n`, a whole number; `a` is missing in every tenth where `gaps` says so.
fn rows(n: usize, gaps: bool) -> Vec<(Option<f64>, i64)> {
    (0..n).map(|i| ((!gaps || i % 10 != 3).then_some(i as f64 / 7.0), i as i64 - 5)).collect()
}

/// The same table in every format.
fn files(folder: &TempDir, rows: &[(Option<f64>, i64)]) -> Vec<PathBuf> {
    let path = |name: &str| folder.path().join(name);
    let text = |a: &Option<f64>| a.map_or(String::new(), |a| format!("{a:?}"));
    let csv: String = rows.iter().map(|(a, n)| format!("{},\"{n}\",x\r\n", text(a))).collect();
    fs::write(path("t.csv"), format!("a,n,other\r\n{csv}")).unwrap();
    let dakota = |a: &Option<f64>| a.map_or("nan".to_owned(), |a| format!("{a:?}"));
    let dat: String = rows.iter().map(|(a, n)| format!("1  {}   {n}\n", dakota(a))).collect();
    fs::write(path("t.dat"), format!("%eval_id a n\n{dat}")).unwrap();
    let json = |(a, n): &(Option<f64>, i64)| serde_json::json!({ "p": { "v": [0, a] }, "n": n }).to_string();
    fs::write(path("t.jsonl"), rows.iter().map(|row| json(row) + "\n\n").collect::<String>()).unwrap();
    let columns = [("a", Holds::Float), ("n", Holds::Int)]
        .map(|(name, holds)| Column { name: name.to_owned(), holds })
        .to_vec();
    let cells = rows.iter().map(|(a, n)| Ok(vec![a.map_or(Cell::Null, Cell::Float), Cell::Int(*n)]));
    let out = fs::File::create(path("t.parquet")).unwrap();
    crate::report::parquet::write(out, &path("t.parquet"), &columns, cells).unwrap();
    for (name, order) in [("rows.npy", false), ("columns.npy", true)] {
        let a = rows.iter().map(|(a, _)| a.unwrap_or(f64::NAN));
        let n = rows.iter().map(|(_, n)| *n as f64);
        let numbers: Vec<f64> =
            if order { a.chain(n).collect() } else { a.zip(n).flat_map(|(a, n)| [a, n]).collect() };
        let order = if order { "True" } else { "False" };
        let header =
            format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({}, 2), }}\n", rows.len());
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        fs::write(path(name), bytes).unwrap();
    }
    ["t.csv", "t.dat", "t.jsonl", "t.parquet", "rows.npy", "columns.npy"].map(path).to_vec()
}

/// What the columns are called there.
fn names(path: &Path) -> [&'static str; 2] {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => ["p.v[1]", "n"],
        Some("npy") => ["0", "1"],
        _ => ["a", "n"],
    }
}

fn read(rows: &mut dyn Rows) -> Vec<(Option<f64>, i64)> {
    let mut cells = [Cell::Null, Cell::Null];
    let mut read = Vec::new();
    while rows.next(&mut cells).unwrap() {
        let a = number(&cells[0]).unwrap().filter(|a| a.is_finite());
        read.push((a, number(&cells[1]).unwrap().unwrap() as i64));
    }
    read
}

#[test]
fn every_format_gives_the_same_rows_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let expected = rows(9_001, true);
    for path in files(&folder, &expected) {
        let table = Table::open(&path).unwrap();
        let columns: Vec<usize> = names(&path).iter().map(|name| table.column(name).unwrap()).collect();
        assert_eq!(read(&mut *table.rows(&columns).unwrap()), expected, "{path:?}");
        let mut from = table.rows(&columns).unwrap();
        let mut cells = [Cell::Null, Cell::Null];
        (0..17).for_each(|_| assert!(from.next(&mut cells).unwrap()));
        from.skip(4_200).unwrap();
        let mark = from.mark();
        assert_eq!(read(&mut *from), expected[4_217..], "{path:?}");
        let mut again = table.rows_from(&columns, Some(mark)).unwrap();
        assert_eq!(read(&mut *again), expected[4_217..], "{path:?}");
        let mut beyond = table.rows(&columns).unwrap();
        beyond.skip(100_000).unwrap();
        assert!(!beyond.next(&mut cells).unwrap(), "{path:?}");
    }
}

fn open(path: &Path, bad_rows: BadRows) -> Result<Numbers> {
    let [a, n] = names(path);
    Numbers::open(Table::open(path)?, &[a.to_owned()], Some(n), bad_rows, &|_| true)
}

#[test]
fn numbers_leave_bad_rows_out_or_name_them() {
    let folder = tempfile::tempdir().unwrap();
    // Beyond a mark.
    let all = rows(140_000, true);
    let good: Vec<f64> = all.iter().filter_map(|(a, n)| a.map(|_| *n as f64)).collect();
    for path in files(&folder, &all) {
        let error = open(&path, BadRows::Refuse).unwrap_err().to_string();
        let first = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv" | "dat") => ":5: ",
            Some("jsonl") => ":7: ",
            _ => ": row 4: ",
        };
        assert!(error.contains(first) && error.contains("14000 of 140000 rows"), "{error}");
        assert!(error.contains(&format!("column {:?}", names(&path)[0])), "{error}");
        let numbers = open(&path, BadRows::Skip).unwrap();
        assert_eq!((numbers.len(), numbers.n_bad()), (126_000, 14_000));
        for start in [0, 1, 2_999, 65_536, 70_001, 125_998] {
            let mut reader = numbers.reader(start).unwrap();
            let (mut x, mut y) = (faer::Mat::zeros(1, 1), [0.0]);
            reader.read(x.as_mut(), &mut y).unwrap();
            assert_eq!(y[0], good[start], "{path:?} {start}");
            reader.skip(1.min(125_998 - start)).unwrap();
            reader.read(x.as_mut(), &mut y).unwrap();
            assert_eq!(y[0], good[start + 1 + 1.min(125_998 - start)], "{path:?} {start}");
        }
    }
}

#[test]
fn broken_files_are_errors_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder, &rows(5_000, false));
    for path in &files {
        let whole = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        // Cut anywhere: an error, or what is left of a file of lines, and never a panic.
        for length in [0, 1, 5, 9, 40, whole.len() / 3, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            fs::write(path, &whole[..length]).unwrap();
            match open(path, BadRows::Refuse) {
                Err(error) => assert!(error.to_string().contains(name), "{length}: {error}"),
                Ok(numbers) => {
                    assert!(name.starts_with("t.") && numbers.len() < 5_001 && name != "t.parquet")
                }
            }
        }
        // Bytes turned over in the middle.
        for at in (0..whole.len()).step_by(whole.len() / 41) {
            let mut bad = whole.clone();
            bad[at] ^= 0xa5;
            fs::write(path, bad).unwrap();
            if let Err(error) = open(path, BadRows::Skip) {
                assert!(error.to_string().contains(name), "{at}: {error}");
            }
        }
        fs::write(path, &whole).unwrap();
    }
    let csv = folder.path().join("x.csv");
    for (text, said) in [
        ("a,b\n1,2\n", "there is no column \"n\"; there are \"a\", \"b\""),
        ("a,n,a\n1,2,3\n", "two columns \"a\""),
        ("a,n\n1,2\n3\n", "x.csv:3: 1 field, but column 2 is needed"),
        ("a,n\n1,2\nhalf,3\n", "x.csv:3: column \"a\": \"half\" is not a number"),
        ("a,n\n1,2\n1e80,3\n", "x.csv:3: column \"a\" is 1e80"),
        ("a,n\n1,\"2\n", "x.csv:2: a quote is opened"),
        ("a,n\n", "0 rows"),
    ] {
        fs::write(&csv, text).unwrap();
        let error = open(&csv, BadRows::Refuse).unwrap_err().to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
    let error = Table::open(&folder.path().join("x.xlsx")).unwrap_err().to_string();
    assert!(error.contains("x.xlsx"), "{error}");
    fs::write(folder.path().join("x.xlsx"), "a").unwrap();
    let error = Table::open(&folder.path().join("x.xlsx")).unwrap_err().to_string();
    assert!(error.contains(".parquet"), "{error}");
}

#[test]
fn blocks_have_the_numbers_of_cells_from_any_row() {
    let folder = tempfile::tempdir().unwrap();
    let all = rows(9_001, true);
    let mut n_formats = 0;
    for path in files(&folder, &all) {
        let table = Table::open(&path).unwrap();
        let columns: Vec<usize> = names(&path).iter().map(|name| table.column(name).unwrap()).collect();
        for start in [0, 1, 4_095, 4_096, 8_999, 9_001, 9_500] {
            let Some(mut blocks) = table.blocks(&columns, start as u64).unwrap() else { continue };
            n_formats += usize::from(start == 0);
            let mut read = [vec![], vec![]];
            assert_eq!(blocks.read(3, &mut read).unwrap(), 3.min(9_001_usize.saturating_sub(start)));
            blocks.skip(10).unwrap();
            while blocks.read(1_000, &mut read).unwrap() > 0 {}
            let expected = all.iter().enumerate().skip(start);
            let expected: Vec<_> = expected.filter(|(i, _)| i - start < 3 || i - start >= 13).collect();
            assert_eq!(read[0].len(), expected.len(), "{path:?} {start}");
            for (i, (_, (a, n))) in expected.into_iter().enumerate() {
                assert_eq!(read[0][i].to_bits(), a.unwrap_or(f64::NAN).to_bits(), "{path:?} {start} {i}");
                assert_eq!(read[1][i], *n as f64);
            }
        }
    }
    // Parquet, and numpy's in both orders.
    assert_eq!(n_formats, 3);
}

#[test]
fn a_bad_number_or_type_in_parquet_has_its_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let column = |name: &str, holds| Column { name: name.to_owned(), holds };
    let columns = [column("a", Holds::Float), column("n", Holds::Float), column("word", Holds::Text)];
    let a = |i: usize| if i == 70_000 { Cell::Float(f64::NAN) } else { Cell::Float(i as f64) };
    let cells = (0..80_000).map(|i| Ok(vec![a(i), Cell::Float(1.0), Cell::Text("red".to_owned())]));
    let out = fs::File::create(&path).unwrap();
    crate::report::parquet::write(out, &path, &columns, cells).unwrap();
    let open = |inputs: &[&str], bad_rows| {
        let inputs: Vec<String> = inputs.iter().map(|name| (*name).to_owned()).collect();
        Numbers::open(Table::open(&path).unwrap(), &inputs, Some("n"), bad_rows, &|_| true)
    };
    let error = open(&["a"], BadRows::Refuse).unwrap_err().to_string();
    assert!(error.contains("t.parquet: row 70001: column \"a\" is NaN"), "{error}");
    let numbers = open(&["a"], BadRows::Skip).unwrap();
    assert_eq!((numbers.len(), numbers.n_bad()), (79_999, 1));
    let error = open(&["word"], BadRows::Refuse).unwrap_err().to_string();
    assert!(error.contains("row 1: column \"word\": \"red\" is not a number"), "{error}");
    let error = open(&["b"], BadRows::Refuse).unwrap_err().to_string();
    assert!(error.contains("there is no column \"b\"; there are \"a\", \"n\", \"word\""), "{error}");
}

#[test]
fn a_file_that_changes_during_a_pass_is_refused_at_its_end() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder, &rows(5_000, false)) {
        let numbers = open(&path, BadRows::Refuse).unwrap();
        let mut reader = numbers.reader(0).unwrap();
        let (mut x, mut y) = (faer::Mat::zeros(2_500, 1), vec![0.0; 2_500]);
        reader.read(x.as_mut(), &mut y).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"\n\n").unwrap();
        let error = reader.read(x.as_mut(), &mut y).unwrap_err().to_string();
        assert!(error.contains("changed while it was read"), "{path:?}: {error}");
    }
    // Another file with the same length and time in its place.
    for path in files(&folder, &rows(5_000, false)) {
        let numbers = open(&path, BadRows::Refuse).unwrap();
        let other = folder.path().join("other");
        fs::copy(&path, &other).unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &path).unwrap();
        let error = numbers.reader(0).err().unwrap().to_string();
        assert!(error.contains("changed while it was read"), "{path:?}: {error}");
    }
}

#[test]
fn a_file_that_changes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder, &rows(5_000, false)) {
        let numbers = open(&path, BadRows::Refuse).unwrap();
        assert!(numbers.reader(0).is_ok());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 50]).unwrap();
        let error = numbers.reader(0).err().unwrap().to_string();
        assert!(error.contains("changed while it was read"), "{error}");
    }
}
