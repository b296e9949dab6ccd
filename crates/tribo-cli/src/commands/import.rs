//! `tribo import`: evaluations made elsewhere, from a table or from a study of Optuna's or Ax's. All rows are checked before
//! one is taken in. Of more rows of many inputs than can be trials a study takes what they say (`hints`).

use crate::failure::{Failure, OK, Outcome};
use crate::output;
use crate::study;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use tribo::error::ParameterFault;
use tribo::space::{Direction, Kind, Parameter, Point, Space, Values};
use tribo::surrogate::watch::Unwatched;
use tribo_study::config::Config;
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::outputs::Outputs;
use tribo_study::owned::How;
use tribo_study::report::point::Cell;
use tribo_study::report::text;
use tribo_study::store::ledger::Ledger;
use tribo_study::store::record::Record;
use tribo_study::table::hints::{self, Hints, Taken};
use tribo_study::table::{Origin, Table, number};
use tribo_study::{Error, owned, replay};

/// Faulty rows that are shown.
const SHOWN_FAULTS: usize = 10;
/// Columns that are shown.
const SHOWN_COLUMNS: usize = 20;

#[derive(Debug, Args)]
#[command(override_usage = "tribo import [OPTIONS] [STUDY] <FILE>")]
pub(crate) struct Options {
    /// The study (the current folder if left out) and the file: .csv, .jsonl, .parquet, .npy, Dakota's .dat, a storage of
    /// Optuna's (.log or .db), or Ax's .json.
    #[arg(required = true, num_args = 1..=2, value_name = "WORDS")]
    words: Vec<PathBuf>,
    /// The column with the values, by default the one called like the output that is optimised.
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// A column that is called otherwise than the parameter or output it is: `--map Temp=temperature`; several with commas.
    #[arg(long, value_name = "COLUMN=NAME", value_delimiter = ',', value_parser = parse_map)]
    map: Vec<(String, String)>,
    /// The study to take from a storage of Optuna's that has several.
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Leave out rows with a parameter outside of its bounds or categories.
    #[arg(long)]
    skip_outside: bool,
    /// Show which column is what and what would be taken in; change nothing.
    #[arg(long)]
    dry_run: bool,
}

fn parse_map(text: &str) -> Result<(String, String), String> {
    let (column, name) = text.split_once('=').ok_or("write COLUMN=NAME, the name in the file first")?;
    Ok((column.trim().to_owned(), name.trim().to_owned()))
}

pub(crate) fn run(options: &Options) -> Outcome {
    let (study, file) = match options.words.as_slice() {
        [study, file] => (study.as_path(), file),
        [file] => (Path::new("."), file),
        _ => return Err(Failure::usage("name one file")),
    };
    let layout = Layout::of(study);
    let table = match Table::open_study(file, options.from.as_deref()) {
        Err(Error::Io { source, .. }) => {
            return Err(Failure::usage(format!("cannot read {}: {source}", file.display())));
        }
        other => other?,
    };
    let config = study::config(&layout)?;
    let columns = Columns::find(&config, &table, options)
        .map_err(|fault| Failure::usage(format!("{}: {fault}", table.header_place())))?;
    for line in table.origin().map(|origin| introduce(origin, &config, &columns, &table)).unwrap_or_default()
    {
        output::note(&line);
    }
    let ledger = owned::ledger(&layout)?;
    let taken = taken(&config, ledger.as_ref())?;
    let Some(Read { rows, n_all, n_without_value, n_outside }) =
        read(&config, &columns, &table, options.skip_outside, &taken)?
    else {
        return take_hints(&layout, &config, &columns, table, options);
    };
    let counts = |n_new: usize| {
        let n_known = n_all - n_new - n_without_value - n_outside;
        counts(
            n_new,
            n_all,
            [(n_known, "known already"), (n_outside, "outside"), (n_without_value, "without a value")],
        )
    };
    if options.dry_run {
        let known = ledger.map_or(Ok(HashSet::new()), |ledger| known(&config, &ledger))?;
        let new = unknown(known, rows).len();
        output::print(&columns.preview(&config.space, table.columns()))?;
        output::note(&format!("{}; nothing was changed", counts(new)));
        return Ok(OK);
    }
    let mut writing = study::open(&layout, How::default())?;
    let new = unknown(known(&writing.study.config, &writing.study.ledger)?, rows);
    let n_new = new.len();
    let mut optimiser = replay::study(&writing.study.config, &writing.study.ledger)?;
    for Row { point, outputs, .. } in new {
        let finding = Finding::measured(outputs.clone());
        let trial = replay::add(&mut optimiser, &writing.study.config, &point, &finding)?.0;
        let point = tribo_study::point::Written::of(optimiser.space(), &point);
        writing.study.append(Record::Imported { trial, point, outputs })?;
    }
    writing.study.close("imported")?;
    output::note(&counts(n_new));
    Ok(OK)
}

/// What can become of rows in the study as it is.
fn taken(config: &Config, ledger: Option<&Ledger>) -> Result<Taken, Error> {
    Ok(match ledger {
        None => Taken::by(&replay::fresh(config)?, None),
        Some(ledger) => Taken::by(&replay::glance(config, ledger)?.study, ledger.recalled()),
    })
}

/// Takes what very many rows say.
fn take_hints(
    layout: &Layout,
    config: &Config,
    columns: &Columns,
    table: Table,
    options: &Options,
) -> Outcome {
    let inputs: Vec<usize> = columns.parameters.iter().flatten().copied().collect();
    let preview = options.dry_run.then(|| columns.preview(&config.space, table.columns()));
    let place = table.path().display().to_string();
    let shown = output::Passing::new();
    let go_on = |n: usize| {
        shown.line(&format!("reading: {}", text::count(n, "row")));
        true
    };
    let columns = (inputs.as_slice(), columns.value);
    let read = Hints::read(config, table, columns, options.skip_outside, &go_on, &Unwatched);
    shown.line("");
    let Hints { recalled, left_out } = read.map_err(|error| match error {
        Error::Usage(fault) => Failure::usage(format!("{fault}\nnothing was taken in")),
        error => error.into(),
    })?;
    let mut words = vec![format!(
        "{} of {place} are too many to be trials; they are read for what they say: {}, which explain {:.0} % of \
         the variance",
        text::count(recalled.rows, "row"),
        named(&recalled.inputs),
        100.0 * recalled.explained
    )];
    for (n, what) in [(left_out.n_outside, "outside"), (left_out.n_without_output, "without a value")] {
        words.extend((n > 0).then(|| format!("{n} {what}")));
    }
    if let Some(preview) = preview {
        output::print(&preview)?;
        output::note(&format!("{}; nothing was changed", words.join(", ")));
        return Ok(OK);
    }
    let mut writing = study::open(layout, How::default())?;
    if !matches!(taken(&writing.study.config, Some(&writing.study.ledger))?, Taken::AsHintsBeyond(_)) {
        return Err(Failure::usage("the study was changed meanwhile; nothing was taken in"));
    }
    writing.study.append(Record::Recalled(Box::new(recalled)))?;
    writing.study.close("imported")?;
    output::note(&words.join(", "));
    Ok(OK)
}

/// Inputs in a message.
fn named(inputs: &[String]) -> String {
    let mut names: Vec<&str> = inputs.iter().take(SHOWN_COLUMNS).map(String::as_str).collect();
    let more = format!("{} more", inputs.len().saturating_sub(SHOWN_COLUMNS));
    if inputs.len() > SHOWN_COLUMNS {
        names.push(&more);
    }
    format!("{} matter ({})", text::count(inputs.len(), "input"), names.join(", "))
}

/// What is taken from another program, and whether it wanted the same.
fn introduce(origin: &Origin, config: &Config, columns: &Columns, table: &Table) -> Vec<String> {
    let mut lines = vec![origin.line()];
    let value = &table.columns()[columns.value];
    let wanted = origin.objectives.iter().find(|(name, _)| name == value).and_then(|(_, wanted)| *wanted);
    if let Some(wanted) = wanted.filter(|wanted| *wanted != config.direction) {
        lines.push(format!(
            "note: {value} was to be {}d there, and this study is to {} {}; values are taken as they are",
            word(wanted),
            word(config.direction),
            config.objective()
        ));
    }
    lines
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Minimize => "minimize",
        Direction::Maximize => "maximize",
    }
}

fn counts(new: usize, all: usize, others: [(usize, &str); 3]) -> String {
    let mut text = format!("{} of {} new", new, text::count(all, "row"));
    for (n, what) in others.into_iter().filter(|(n, _)| *n > 0) {
        text.push_str(&format!(", {n} {what}"));
    }
    text
}

fn complain(faults: &[String]) -> Failure {
    let mut text: Vec<String> = faults.iter().take(SHOWN_FAULTS).cloned().collect();
    if faults.len() > SHOWN_FAULTS {
        text.push(format!("and {} more", faults.len() - SHOWN_FAULTS));
    }
    text.push("nothing was taken in".to_owned());
    Failure::usage(text.join("\n"))
}

/// Where parameters are in files that have objects of their own for them: JSON lines that `tribo export` wrote, other studies.
const PARAMETERS: &[&str] = &["params"];
/// Where outputs are.
const OUTPUTS: &[&str] = &["outputs", "metrics", "user_attrs"];

/// The column of a name, there or in one of these objects. In a study of another program they come first: a parameter may be
/// called `value` there.
fn place(table: &Table, column: &str, objects: &[&str]) -> Result<usize, String> {
    let inside = || objects.iter().find_map(|object| table.column(&format!("{object}.{column}")).ok());
    match table.origin() {
        Some(_) => inside().map_or_else(|| table.column(column), Ok),
        None => table.column(column).or_else(|fault| inside().ok_or(fault)),
    }
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
    fn find(config: &Config, table: &Table, options: &Options) -> Result<Columns, String> {
        if table.is_array() && options.map.is_empty() && table.columns().len() == config.space.n_inputs() + 1
        {
            let (inputs, value) = hints::places(config, table, options.value.as_deref())?;
            let mut inputs = inputs.into_iter();
            let parameters = config.space.parameters().iter();
            let parameters = parameters.map(|one| inputs.by_ref().take(one.n_elements()).collect()).collect();
            return Ok(Columns { parameters, value, recorded: vec![] });
        }
        let mut mapped: BTreeMap<&str, &str> =
            options.map.iter().map(|(column, name)| (name.as_str(), column.as_str())).collect();
        let mut place = |name: &str, objects: &[&str]| {
            let column = mapped.remove(name).unwrap_or(name);
            place(table, column, objects)
        };
        let parameters = config
            .space
            .parameters()
            .iter()
            .map(|parameter| {
                (0..parameter.n_elements()).map(|i| place(&parameter.element_name(i), PARAMETERS)).collect()
            })
            .collect::<Result<_, _>>()?;
        let only = match table.origin().map(|origin| origin.objectives.as_slice()) {
            Some([(name, _)]) => Some(name.as_str()),
            _ => None,
        };
        let value = match &options.value {
            Some(name) => table.column(name).or_else(|_| self::place(table, name, OUTPUTS)),
            // What the other study optimised, whatever it was called there.
            None => place(config.objective(), OUTPUTS)
                .or_else(|fault| only.map_or(Err(fault), |only| table.column(only))),
        };
        let value = value.map_err(|fault| format!("{fault}; name the column of values with --value"))?;
        let others =
            config.outputs.iter().map(|output| &output.name).filter(|name| *name != config.objective());
        let recorded = others.filter_map(|name| Some((name.clone(), place(name, OUTPUTS).ok()?))).collect();
        if let Some(name) = mapped.keys().next() {
            return Err(format!("--map names {name:?}, which is no parameter and no output of the study"));
        }
        Ok(Columns { parameters, value, recorded })
    }

    /// All of them, in the order of cells: the value, other outputs, parameters.
    fn all(&self) -> Vec<usize> {
        let others = self.recorded.iter().map(|(_, place)| *place);
        [self.value].into_iter().chain(others).chain(self.parameters.iter().flatten().copied()).collect()
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

/// A row that can be taken in.
struct Row {
    point: Point,
    outputs: Outputs,
    key: Key,
}

/// A point and its value, to be compared: their bits.
type Key = Box<[u64]>;

/// What a table holds.
struct Read {
    rows: Vec<Row>,
    n_all: usize,
    n_without_value: usize,
    n_outside: usize,
}

/// All rows with a value, or what is wrong with which line; None if they are too many to be trials.
fn read(
    config: &Config,
    columns: &Columns,
    table: &Table,
    skip_outside: bool,
    taken: &Taken,
) -> Result<Option<Read>, Failure> {
    // Of a file by columns a page of each is held: very many are not opened for rows that are too many.
    if let (Taken::AsHintsBeyond(most), Some(n)) = (taken, table.n_rows()?)
        && n > *most
    {
        return Ok(None);
    }
    let places = columns.all();
    let mut cells = vec![Cell::Null; places.len()];
    let mut from = table.rows(&places)?;
    // In other programs a trial may have some of the parameters only.
    let is_study = table.origin().is_some();
    let mut read = Read { rows: vec![], n_all: 0, n_without_value: 0, n_outside: 0 };
    let mut faults: Vec<String> = Vec::new();
    loop {
        match from.next(&mut cells) {
            Ok(true) => {}
            Ok(false) => break,
            // A reader that cannot get beyond a fault says the same again.
            Err(Error::Usage(fault)) if faults.last() != Some(&fault) => {
                faults.push(fault);
                continue;
            }
            Err(_) if !faults.is_empty() => break,
            Err(error) => return Err(error.into()),
        }
        read.n_all += 1;
        match taken {
            Taken::AsHintsBeyond(most) if read.n_all > *most && table.origin().is_none() => return Ok(None),
            Taken::UpTo(most, why) if read.n_all > *most => {
                let what = format!(
                    "{}: more than {most} rows of so many inputs cannot be trials",
                    table.path().display()
                );
                return Err(Failure::usage(format!("{what}; {why}")));
            }
            _ => {}
        }
        match row(config, columns, &cells) {
            Ok(Some(row)) => read.rows.push(row),
            Ok(None) => read.n_without_value += 1,
            Err(Refused::Outside(_)) if skip_outside => read.n_outside += 1,
            Err(Refused::Missing(_)) if skip_outside && is_study => read.n_outside += 1,
            Err(Refused::Missing(fault)) if is_study => {
                faults.push(format!("{}: {fault}; --skip-outside leaves such trials out", from.place()));
            }
            Err(Refused::Outside(fault)) => {
                faults.push(format!("{}: {fault}; --skip-outside leaves such rows out", from.place()));
            }
            Err(Refused::Missing(fault) | Refused::Wrong(fault)) => {
                faults.push(format!("{}: {fault}", from.place()))
            }
        }
    }
    if faults.is_empty() { Ok(Some(read)) } else { Err(complain(&faults)) }
}

/// Why a row is not taken in.
enum Refused {
    /// It is a point, but not one of the study.
    Outside(String),
    /// A parameter is missing.
    Missing(String),
    /// It is not a point.
    Wrong(String),
}

/// None if the row has no value: it failed where it was evaluated.
fn row(config: &Config, columns: &Columns, cells: &[Cell]) -> Result<Option<Row>, Refused> {
    let space = &config.space;
    let measured = |name: &str, cell: &Cell| {
        number(cell).map_err(|fault| Refused::Wrong(format!("the value of {name}: {fault}")))
    };
    let Some(value) = measured(config.objective(), &cells[0])? else { return Ok(None) };
    let mut outputs = Outputs::one(config.objective(), value);
    let (others, mut cells) = cells[1..].split_at(columns.recorded.len());
    for ((name, _), cell) in columns.recorded.iter().zip(others) {
        if let Some(value) = measured(name, cell)? {
            outputs.insert(name, value);
        }
    }
    let mut given = Vec::with_capacity(columns.parameters.len());
    for (parameter, places) in space.parameters().iter().zip(&columns.parameters) {
        let (own, rest) = cells.split_at(places.len());
        given.push(values(parameter, own)?);
        cells = rest;
    }
    let point = space.point(given).map_err(|error| match error {
        tribo::Error::Parameter {
            fault: ParameterFault::FloatOutside { .. } | ParameterFault::IntOutside { .. },
            ..
        } => Refused::Outside(error.to_string()),
        error => Refused::Wrong(error.to_string()),
    })?;
    // A study keeps a point in the unit cube, where most numbers of a table come out a bit away from where they went in.
    let kept = space.encode(&point).and_then(|unit| space.decode(&unit));
    let kept = kept.map_err(|error| Refused::Wrong(error.to_string()))?;
    Ok(value.is_finite().then(|| Row { point, outputs, key: key(&kept, value) }))
}

/// The values of a parameter.
fn values(parameter: &Parameter, cells: &[Cell]) -> Result<Values, Refused> {
    let name = parameter.name();
    let wrong = |cell: &Cell| match cell {
        Cell::Null => Refused::Missing(format!("parameter `{name}` is missing")),
        cell => {
            let (kind, found) = (parameter.kind().word(), cell.json());
            Refused::Wrong(format!("parameter `{name}` is of type {kind}, not {found}"))
        }
    };
    let float =
        |cell: &Cell| number(cell).ok().flatten().filter(|x| x.is_finite()).ok_or_else(|| wrong(cell));
    match parameter.kind() {
        Kind::Float { .. } => Ok(Values::Float(cells.iter().map(float).collect::<Result<_, _>>()?)),
        Kind::Int { .. } => {
            let whole = |cell: &Cell| match cell {
                Cell::Int(value) => Ok(*value),
                Cell::Text(text) if text.parse::<i64>().is_ok() => text.parse().map_err(|_| wrong(cell)),
                // 3.0 is what spreadsheets write for 3.
                cell => {
                    let value = float(cell)?;
                    let is_whole = value.fract() == 0.0 && value.abs() < 2f64.powi(53);
                    if is_whole { Ok(value as i64) } else { Err(wrong(cell)) }
                }
            };
            Ok(Values::Int(cells.iter().map(whole).collect::<Result<_, _>>()?))
        }
        Kind::Categorical { categories } => {
            let index = |cell: &Cell| {
                let text = match cell {
                    Cell::Null => return Err(wrong(cell)),
                    Cell::Text(text) => text.clone(),
                    cell => cell.json().to_string(),
                };
                let place = categories.iter().position(|category| *category == text);
                place.ok_or_else(|| {
                    Refused::Outside(format!(
                        "parameter `{name}` has no category {text:?}; there are {categories:?}"
                    ))
                })
            };
            Ok(Values::Category(cells.iter().map(index).collect::<Result<_, _>>()?))
        }
    }
}

/// What tells a result from others, by the point that a study keeps.
fn key(kept: &Point, value: f64) -> Key {
    kept.numbers().into_iter().chain([value]).map(f64::to_bits).collect()
}

/// What the study has already.
fn known(config: &Config, ledger: &Ledger) -> Result<HashSet<Key>, Error> {
    let rebuilt = replay::rebuild(config, ledger)?;
    let mut known = HashSet::new();
    for (trial, state) in ledger.told() {
        let value = state.outcome.as_ref().and_then(|finding| finding.value(config.objective()));
        if let (Some(value), Some(point)) = (value, rebuilt.points().now(trial)?) {
            known.insert(key(&point, value));
        }
    }
    Ok(known)
}

/// Rows that are neither known nor repeated.
fn unknown(mut known: HashSet<Key>, rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().filter(|row| known.insert(row.key.clone())).collect()
}
