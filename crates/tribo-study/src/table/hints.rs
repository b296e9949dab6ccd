//! What the rows of a table say about the inputs of a study, where they are too many to be its trials.
//!
//! The table is gone through some six times, of files by columns mostly in the columns that matter, and never held.

use super::Table;
use super::numbers::{BadRows, Numbers};
use super::picked::{Expected, LeftOut, Picked};
use crate::config::Config;
use crate::recalled::Recalled;
use crate::report::text::count;
use crate::{Error, Result};
use tribo::space::{Kind, Space};
use tribo::strategy::{Digest, Study};
use tribo::surrogate::source::Source;
use tribo::surrogate::watch::Watch;

/// Numbers in the rows of a table up to which they are trials, where a study can take hints: a hundred megabytes of journal, which
/// every command reads.
const MOST_AS_TRIALS: usize = 5_000_000;
/// The same where it cannot: beyond, neither memory nor patience suffices.
const MOST_AT_ALL: usize = 50_000_000;

/// What can become of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// Trials, however many.
    AsTrials,
    /// Trials, up to so many rows; beyond, what they say as hints.
    AsHintsBeyond(usize),
    /// Trials, up to so many rows; beyond nothing, for this reason.
    UpTo(usize, String),
}

impl Taken {
    /// Why a study takes no hints.
    pub const NO_HINTS: &str = "what very many earlier results say is taken from one table, before the first trial is asked, by studies that \
                                look for the inputs that matter: `auto` with more than 40 inputs";

    /// What can become of rows in a study, which has earlier results already or not.
    pub fn by(study: &Study, recalled: Option<&Recalled>) -> Taken {
        if study.version().engine != "auto" {
            return Taken::AsTrials;
        }
        let rows = |numbers: usize| (numbers / study.space().n_inputs()).max(1);
        match (study.recalls(), recalled) {
            (true, _) => Taken::AsHintsBeyond(rows(MOST_AS_TRIALS)),
            (false, Some(Recalled { file, rows: n, .. })) => Taken::UpTo(
                rows(MOST_AT_ALL),
                format!(
                    "the study knows what the {} of {file} say, and takes one such table",
                    count(*n, "row")
                ),
            ),
            (false, None) => Taken::UpTo(rows(MOST_AT_ALL), Taken::NO_HINTS.to_owned()),
        }
    }
}

/// What rows say, and which of them were left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Hints {
    /// What they say.
    pub recalled: Recalled,
    /// Rows that were left out.
    pub left_out: LeftOut,
}

/// The places of the columns of all inputs, in order, and of the value. The columns of an array have no names: those of the inputs come in
/// their order, and the value last unless it is named.
pub fn places(
    config: &Config,
    table: &Table,
    value: Option<&str>,
) -> std::result::Result<(Vec<usize>, usize), String> {
    let n_columns = table.columns().len();
    if table.is_array() && n_columns == config.space.n_inputs() + 1 {
        let value = value.map_or(Ok(n_columns - 1), |name| table.column(name))?;
        return Ok(((0..n_columns).filter(|place| *place != value).collect(), value));
    }
    let elements =
        config.space.parameters().iter().flat_map(|one| (0..one.n_elements()).map(|i| one.element_name(i)));
    let inputs = elements.map(|name| table.column(&name)).collect::<std::result::Result<_, _>>()?;
    Ok((inputs, table.column(value.unwrap_or(config.objective()))?))
}

impl Hints {
    /// Goes through a table, whose columns of the inputs of the study, in order, and of the value are at these places. `go_on` is asked
    /// now and then in the first pass, with the rows so far, and ends it by false.
    pub fn read(
        config: &Config,
        table: Table,
        (inputs, value): (&[usize], usize),
        skip_outside: bool,
        go_on: &dyn Fn(usize) -> bool,
        watch: &dyn Watch,
    ) -> Result<Hints> {
        let file = table.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let name = |place: usize| table.columns()[place].clone();
        let of_input = |(&place, expected): (&usize, Expected)| Picked { place, name: name(place), expected };
        let mut columns: Vec<Picked> = inputs.iter().zip(expected(&config.space)).map(of_input).collect();
        columns.push(Picked { place: value, name: name(value), expected: Expected::Numbers });
        let bad_rows = BadRows::Import { skip_outside };
        let numbers = Numbers::of_columns(table, columns, true, bad_rows, go_on)?;
        let digest = Digest::of(&numbers, &config.space, config.direction, config.seed, watch)?;
        numbers.check_unchanged()?;
        if digest.inputs.is_empty() {
            return Err(Error::Usage(format!(
                "the values of the {} depend on none of the inputs, or on more than can be searched, as far as can be seen: they are no \
                 help to the study",
                count(numbers.len(), "row")
            )));
        }
        let recalled = Recalled::of(&config.space, &digest, &file.unwrap_or_default())?;
        Ok(Hints { recalled, left_out: numbers.left_out() })
    }
}

/// What is expected in the columns of all inputs.
fn expected(space: &Space) -> impl Iterator<Item = Expected> {
    space.parameters().iter().flat_map(|parameter| {
        let expected = match parameter.kind() {
            Kind::Float { low, high, .. } => Expected::Floats { low: *low, high: *high },
            Kind::Int { low, high, .. } => Expected::Integers { low: *low as f64, high: *high as f64 },
            Kind::Categorical { categories } => Expected::Categories(categories.clone()),
        };
        std::iter::repeat_n(expected, parameter.n_elements())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;
    use tribo::rng::Stream;
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\ndirection = \"maximize\"\nseed = 4\n\
        [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = -1\nhigh = 1\nsize = 50\n\
        [[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 8\n\
        [[parameter]]\nname = \"solver\"\ntype = \"categorical\"\nchoices = [\"cg\", \"lu\", \"qr\"]\n";

    fn config() -> Config {
        Config::parse(Path::new("study.toml"), FILE).unwrap()
    }

    /// A table of the study's inputs whose values depend on `x[7]`, `n` and `solver`; `change` may put others in.
    fn table(folder: &TempDir, n: usize, change: impl Fn(usize, &mut Vec<String>)) -> PathBuf {
        let mut text: String = (0..50).map(|k| format!("x[{k}],")).collect();
        text.push_str("n,solver,value\n");
        let mut stream = Stream::new(3, "rows", 0);
        for row in 0..n {
            let x: Vec<f64> = (0..50).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let (whole, solver) = (1 + stream.below(8), stream.below(3));
            let value = -(x[7] - 0.5).powi(2) - 0.1 * whole as f64 + solver as f64;
            let mut cells: Vec<String> = x.iter().map(f64::to_string).collect();
            cells.extend([whole.to_string(), ["cg", "lu", "qr"][solver].to_owned(), value.to_string()]);
            change(row, &mut cells);
            writeln!(text, "{}", cells.join(",")).unwrap();
        }
        let path = folder.path().join("old.csv");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(path: &Path, skip_outside: bool) -> Result<Hints> {
        let places: Vec<usize> = (0..52).collect();
        Hints::read(&config(), Table::open(path)?, (&places, 52), skip_outside, &|_| true, &Unwatched)
    }

    #[test]
    fn rows_of_a_table_name_the_inputs_that_matter() {
        let folder = tempfile::tempdir().unwrap();
        let Hints { recalled, left_out } = read(&table(&folder, 3_000, |_, _| {}), false).unwrap();
        assert_eq!(
            (recalled.inputs.as_slice(), left_out),
            (&["x[7]", "n", "solver"].map(str::to_owned)[..], LeftOut::default())
        );
        assert_eq!((recalled.rows, recalled.file.as_str()), (3_000, "old.csv"));
        assert!(recalled.explained > 0.9, "{}", recalled.explained);
        // It is maximised: n is low and the solver the last where it is best.
        let best = &recalled.points[0];
        assert!(best[1] == 1 && best[2] == "qr", "{best:?}");
    }

    #[test]
    fn rows_that_failed_are_left_out_and_those_outside_if_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = table(&folder, 2_000, |row, cells| match row % 500 {
            17 => cells[52] = String::new(),
            18 => cells[52] = "nan".to_owned(),
            19 => cells[3] = "1.5".to_owned(),
            20 => cells[51] = "svd".to_owned(),
            _ => {}
        });
        let Hints { recalled, left_out } = read(&path, true).unwrap();
        assert_eq!(left_out, LeftOut { n_without_output: 8, n_outside: 8, n_wrong: 0 });
        assert_eq!(recalled.rows, 1_984);
        let refused = read(&path, false).unwrap_err().to_string();
        assert!(refused.contains("old.csv:21: column \"x[3]\" is 1.5, outside of [-1, 1]"), "{refused}");
        assert!(
            refused.contains("old.csv:22: column \"solver\" is outside: there is no category \"svd\""),
            "{refused}"
        );
        assert!(refused.contains("8 of 2000 rows cannot be used; --skip-outside"), "{refused}");
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        for (column, text, said) in [
            (4, "", "old.csv:102: column \"x[4]\" is empty"),
            (4, "inf", "old.csv:102: column \"x[4]\" is inf"),
            (50, "2.5", "old.csv:102: column \"n\" is 2.5, not a whole number"),
            (52, "low", "old.csv:102: column \"value\": \"low\" is not a number"),
        ] {
            let path = table(&folder, 200, |row, cells| {
                if row == 100 {
                    cells[column] = text.to_owned();
                }
            });
            let refused = read(&path, true).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
        // The last line is cut short.
        let path = table(&folder, 200, |_, _| {});
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 90]).unwrap();
        let refused = read(&path, true).unwrap_err().to_string();
        assert!(refused.contains("old.csv:201: "), "{refused}");
    }

    #[test]
    fn rows_that_say_nothing_are_no_hints() {
        let folder = tempfile::tempdir().unwrap();
        let path = table(&folder, 500, |row, cells| cells[52] = ((row * 7919) % 1000).to_string());
        let said = read(&path, false).unwrap_err().to_string();
        assert!(said.contains("the values of the 500 rows depend on none of the inputs"), "{said}");
    }
}
