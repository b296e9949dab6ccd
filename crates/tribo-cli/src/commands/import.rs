//! `tribo import`: evaluations made elsewhere, from a CSV file. All rows are checked before one is taken in.

use crate::failure::{Failure, OK, Outcome};
use crate::output;
use crate::study;
use clap::Args;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tribo::space::{Point, Space};
use tribo_study::config::Config;
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::outputs::Outputs;
use tribo_study::owned::How;
use tribo_study::report::csv::{self, Record as Line};
use tribo_study::report::{point, text};
use tribo_study::store::ledger::Ledger;
use tribo_study::store::record::Record;
use tribo_study::{Error, owned, replay};

/// Faulty rows that are shown.
const SHOWN_FAULTS: usize = 10;
/// Columns that are shown.
const SHOWN_COLUMNS: usize = 20;

#[derive(Debug, Args)]
#[command(override_usage = "tribo import [OPTIONS] [STUDY] <FILE.csv>")]
pub(crate) struct Options {
    /// The study (the current folder if left out) and the file.
    #[arg(required = true, num_args = 1..=2, value_name = "WORDS")]
    words: Vec<PathBuf>,
    /// The column with the values, by default the one called like the output that is optimised.
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// Show which column is what and what would be taken in; change nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (study, file) = match options.words.as_slice() {
        [study, file] => (study.as_path(), file),
        [file] => (Path::new("."), file),
        _ => return Err(Failure::usage("name one file")),
    };
    let layout = Layout::of(study);
    let bytes = std::fs::read(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    let content = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{}: this is not UTF-8", file.display())))?;
    let lines =
        csv::parse(&content).map_err(|fault| Failure::usage(format!("{}: {fault}", file.display())))?;
    let config = study::config(&layout)?;
    let Some((header, lines)) = lines.split_first() else {
        return Err(Failure::usage(format!(
            "{} is empty; it needs a line with the names of the columns",
            file.display()
        )));
    };
    let columns = Columns::find(&config, &header.fields, options.value.as_deref())
        .map_err(|fault| Failure::usage(format!("{}:{}: {fault}", file.display(), header.line)))?;
    let rows = rows(&config, &columns, lines).map_err(|faults| complain(file, &faults))?;
    let no_value = lines.len() - rows.len();
    if options.dry_run {
        let known = owned::ledger(&layout)?.map_or(Ok(BTreeSet::new()), |ledger| known(&config, &ledger))?;
        let new = unknown(known, rows).len();
        output::print(&columns.preview(&config.space, &header.fields))?;
        output::note(&format!("{}; nothing was changed", counts(new, lines.len(), no_value)));
        return Ok(OK);
    }
    let mut writing = study::open(&layout, How::default())?;
    let new = unknown(known(&writing.study.config, &writing.study.ledger)?, rows);
    let mut optimiser = replay::study(&writing.study.config, &writing.study.ledger)?;
    for row in &new {
        let point = tribo_study::point::from_json(optimiser.space(), &row.point).map_err(Failure::usage)?;
        let finding = Finding::measured(row.outputs.clone());
        let trial = replay::add(&mut optimiser, &writing.study.config, &point, &finding)?;
        writing.study.append(Record::Imported {
            trial: trial.0,
            point: row.point.clone(),
            outputs: row.outputs.clone(),
        })?;
    }
    let n_new = new.len();
    writing.study.close("imported")?;
    output::note(&counts(n_new, lines.len(), no_value));
    Ok(OK)
}

fn counts(new: usize, all: usize, no_value: usize) -> String {
    let mut text = format!("{} of {} new", new, text::count(all, "row"));
    let known = all - new - no_value;
    if known > 0 {
        text.push_str(&format!(", {known} known already"));
    }
    if no_value > 0 {
        text.push_str(&format!(", {no_value} without a value"));
    }
    text
}

fn complain(file: &Path, faults: &[(usize, String)]) -> Failure {
    let mut text: Vec<String> = faults
        .iter()
        .take(SHOWN_FAULTS)
        .map(|(line, fault)| format!("{}:{line}: {fault}", file.display()))
        .collect();
    if faults.len() > SHOWN_FAULTS {
        text.push(format!("and {} more", faults.len() - SHOWN_FAULTS));
    }
    text.push("nothing was taken in".to_owned());
    Failure::usage(text.join("\n"))
}

/// Which column is what.
struct Columns {
    /// For each parameter, the columns of its elements.
    parameters: Vec<Vec<usize>>,
    value: usize,
    /// Other outputs that the file has.
    recorded: Vec<(String, usize)>,
}

impl Columns {
    fn find(config: &Config, header: &[String], value: Option<&str>) -> Result<Columns, String> {
        let value = value.unwrap_or(config.objective());
        let place = |name: &str| {
            let mut places = (0..header.len()).filter(|&i| header[i].trim() == name);
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(format!("there are two columns {name:?}")),
                (None, _) => Err(format!("there is no column {name:?}; there are {}", shorten(header))),
            }
        };
        let parameters = config
            .space
            .parameters()
            .iter()
            .map(|parameter| (0..parameter.n_elements()).map(|i| place(&parameter.element_name(i))).collect())
            .collect::<Result<_, _>>()?;
        let value =
            place(value).map_err(|fault| format!("{fault}; name the column of values with --value"))?;
        let others =
            config.outputs.iter().map(|output| &output.name).filter(|name| *name != config.objective());
        let recorded = others.filter_map(|name| Some((name.clone(), place(name).ok()?))).collect();
        Ok(Columns { parameters, value, recorded })
    }

    /// The mapping, for people.
    fn preview(&self, space: &Space, header: &[String]) -> String {
        let mut rows = vec![vec![header[self.value].clone(), "the value".to_owned()]];
        let mut used = BTreeSet::from([self.value]);
        for (name, place) in &self.recorded {
            used.insert(*place);
            rows.push(vec![header[*place].clone(), format!("output {name}")]);
        }
        for (parameter, places) in space.parameters().iter().zip(&self.parameters) {
            used.extend(places);
            let (first, last) = (places[0], places[places.len() - 1]);
            rows.push(match parameter.size() {
                None => vec![header[first].clone(), format!("parameter {}", parameter.name())],
                Some(n) => vec![
                    format!("{} ... {}", header[first], header[last]),
                    format!("parameter {}, {}", parameter.name(), text::count(n, "element")),
                ],
            });
        }
        let unused = (0..header.len()).filter(|i| !used.contains(i)).take(SHOWN_COLUMNS);
        rows.extend(unused.map(|i| vec![header[i].clone(), "not used".to_owned()]));
        text::columns(&["column", "is"], &rows)
    }
}

fn shorten(header: &[String]) -> String {
    let mut names: Vec<String> = header.iter().take(SHOWN_COLUMNS).map(|name| format!("{name:?}")).collect();
    if header.len() > SHOWN_COLUMNS {
        names.push(format!("and {} more", header.len() - SHOWN_COLUMNS));
    }
    names.join(", ")
}

/// A row that can be taken in.
struct Row {
    point: Map<String, Value>,
    outputs: Outputs,
    key: Key,
}

/// A point and its value, to be compared.
type Key = (String, u64);

/// All rows with a value, or what is wrong with which line.
fn rows(config: &Config, columns: &Columns, lines: &[Line]) -> Result<Vec<Row>, Vec<(usize, String)>> {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for line in lines {
        match row(config, columns, &line.fields) {
            Ok(row) => rows.extend(row),
            Err(fault) => faults.push((line.line, fault)),
        }
    }
    if faults.is_empty() { Ok(rows) } else { Err(faults) }
}

/// None if the row has no value: it failed where it was evaluated.
fn row(config: &Config, columns: &Columns, fields: &[String]) -> Result<Option<Row>, String> {
    let space = &config.space;
    let field = |place: usize| {
        fields.get(place).map(|field| field.trim()).ok_or_else(|| {
            format!("{}, but column {} is needed", text::count(fields.len(), "field"), place + 1)
        })
    };
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("the value {text:?} is not a number"));
    let value = match field(columns.value)? {
        "" => return Ok(None),
        text => number(text)?,
    };
    let mut outputs = Outputs::one(config.objective(), value);
    for (name, place) in &columns.recorded {
        match field(*place)? {
            "" => {}
            text => drop(outputs.insert(name, number(text)?)),
        }
    }
    let mut object = Map::new();
    for (parameter, places) in space.parameters().iter().zip(&columns.parameters) {
        let mut values = Vec::with_capacity(places.len());
        for &place in places {
            values.push(point::value(parameter, field(place)?));
        }
        let value = if parameter.size().is_some() { Value::Array(values) } else { values.remove(0) };
        object.insert(parameter.name().to_owned(), value);
    }
    // Through the point and back, so that 3.0 and 3 are the same point.
    let point = tribo_study::point::from_json(space, &object)?;
    // A study keeps a point in the unit cube, where most numbers of a table come out a bit away from where they went in.
    let kept =
        space.encode(&point).and_then(|unit| space.decode(&unit)).map_err(|error| error.to_string())?;
    let row =
        || Row { point: tribo_study::point::to_json(space, &point), outputs, key: key(space, &kept, value) };
    Ok(value.is_finite().then(row))
}

/// What tells a result from others, by the point that a study keeps.
fn key(space: &Space, kept: &Point, value: f64) -> Key {
    (Value::Object(tribo_study::point::to_json(space, kept)).to_string(), value.to_bits())
}

/// What the study has already.
fn known(config: &Config, ledger: &Ledger) -> Result<BTreeSet<Key>, Error> {
    let rebuilt = replay::rebuild(config, ledger)?;
    let mut known = BTreeSet::new();
    for (trial, state) in ledger.told() {
        let value = state.outcome.as_ref().and_then(|finding| finding.value(config.objective()));
        if let (Some(value), Some(point)) = (value, rebuilt.points().now(trial)?) {
            known.insert(key(&config.space, &point, value));
        }
    }
    Ok(known)
}

/// Rows that are neither known nor repeated.
fn unknown(mut known: BTreeSet<Key>, rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().filter(|row| known.insert(row.key.clone())).collect()
}
