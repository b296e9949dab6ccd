//! The optimiser of a study, as it was: rebuilt from the journal's state without running it again.
//!
//! A journal has chapters. The optimiser is that of the last one: it begins with what the chapters before have found
//! (`chapter`, over their points, `earlier`, in its own space, `translate`) and takes the events since. Points of chapters
//! that are over, and of one that an engine of another version has proposed, come from the records alone (`records`).

mod chapter;
mod earlier;
mod records;
mod translate;

pub use earlier::{Earlier, Points};
pub use records::Records;
pub use translate::EarlierValues;

use crate::config::Config;
use crate::job::{Finding, Kind};
use crate::store::ledger::{Event, Ledger, Source};
use crate::{Error, Result, point};
use chapter::Chapters;
use rayon::prelude::*;
use std::ops::Range;
use tribo::space::Point;
use tribo::strategy::Study;
use tribo::trial::{Outcome, Trial, TrialId};

/// Events that are taken at once, the points of imported ones together.
const BLOCK: usize = 4_096;

/// The point of an imported trial, or what is wrong with it.
type Imported = std::result::Result<Point, String>;

/// A study that has been asked and told nothing yet.
pub fn fresh(config: &Config) -> Result<Study> {
    begin_with(config, 0, config.seed)
}

/// A study that knows nothing yet, of which so many evaluations were spent before.
fn begin_with(config: &Config, spent: usize, seed: u64) -> Result<Study> {
    let (space, limits, strategy) = (config.space.clone(), config.limits.clone(), config.strategy.clone());
    let evaluations = config.budget.evaluations;
    Ok(Study::limited(space, config.direction, limits, strategy, evaluations, spent, seed)?)
}

/// The study after all that its journal tells. What it proposes next is what it would have proposed then, bit for bit, if this
/// program has the engine that did; else what a new chapter begins with. `config` is the study file in force.
pub fn study(config: &Config, ledger: &Ledger) -> Result<Study> {
    Ok(rebuild(config, ledger)?.study)
}

/// A study rebuilt, with the points of its earlier chapters.
pub struct Rebuilt {
    /// The optimiser of the present chapter.
    pub study: Study,
    /// The chapters before.
    pub earlier: Earlier,
    /// Whether the journal's last chapter is of an engine of another version: then it is among those before, and the optimiser is
    /// that of one which has not begun. It cannot take what else such an engine may ask.
    pub is_of_another: bool,
}

impl Rebuilt {
    /// The points of all trials.
    pub fn points(&self) -> Points<'_> {
        Points { study: &self.study, earlier: &self.earlier }
    }
}

/// As [`study`], with the points of earlier chapters.
pub fn rebuild(config: &Config, ledger: &Ledger) -> Result<Rebuilt> {
    let (mut rebuilt, known) = begin(config, ledger)?;
    catch_up(&mut rebuilt.study, config, ledger, known)?;
    Ok(rebuilt)
}

/// Events up to which a glance takes in everything, since that takes a moment.
const FEW: usize = 4_000;

/// As [`rebuild`], for a look at where a study stands: of many events it knows the points of the trials that were asked, and no
/// result. Where the point of a trial stands by itself, that need not take in a million results from elsewhere; where it follows
/// from others, or there are chapters or limits, all is taken in.
pub fn glance(config: &Config, ledger: &Ledger) -> Result<Rebuilt> {
    if ledger.events().len() <= FEW {
        return rebuild(config, ledger);
    }
    asked_alone(config, ledger)
}

/// The points that were asked, if they stand by themselves; else everything.
fn asked_alone(config: &Config, ledger: &Ledger) -> Result<Rebuilt> {
    let mut study = fresh(config)?;
    // Whatever version of it asked them.
    let was = ledger.chapters().last().and_then(|chapter| chapter.engine.as_ref());
    let engine = study.version().engine;
    let stands_alone = matches!(engine, "bo" | "random") && was.is_none_or(|was| was.name == engine);
    if !stands_alone || ledger.chapters().len() > 1 || !config.limits.is_empty() {
        return rebuild(config, ledger);
    }
    for event in ledger.events() {
        if let (Event::Asked(id), Some(state)) = (event, ledger.trial(event.trial()))
            && let Source::Asked { trial, .. } = &state.source
        {
            debug_assert_eq!(trial.id.0, *id);
            // What was decided with results that are not there.
            let taken = study.restore_asked(Trial { decision: None, ..Trial::clone(trial) });
            if taken.is_err() {
                return rebuild(config, ledger);
            }
        }
    }
    Ok(Rebuilt { study, earlier: Earlier::default(), is_of_another: false })
}

/// A study at the beginning of its present chapter, and the events of its journal that it knows then.
pub fn begin(config: &Config, ledger: &Ledger) -> Result<(Rebuilt, usize)> {
    let chapters = Chapters::of(config, ledger)?;
    let last = chapters.last();
    let earlier = Earlier::of(&chapters)?;
    let study = chapter::begin(config, &earlier, &chapters, last)?;
    let is_of_another = last == ledger.chapters().len();
    Ok((Rebuilt { study, earlier, is_of_another }, chapters.all()[last].first_event))
}

/// Takes a study on that knows the first `known` events of its journal to all of them. It costs what is new.
pub fn catch_up(study: &mut Study, config: &Config, ledger: &Ledger, known: usize) -> Result<()> {
    catch_up_to(study, config, ledger, known..ledger.events().len())
}

/// The study as it was just before it asked a trial; None if the trial is not of the present chapter.
pub fn before(config: &Config, ledger: &Ledger, trial: u64) -> Result<Option<Study>> {
    match ledger.events().iter().position(|event| *event == Event::Asked(trial)) {
        Some(events) => after(config, ledger, events),
        None => Ok(None),
    }
}

/// The study as it was after the first `events` of its journal; None if that is before the present chapter.
pub fn after(config: &Config, ledger: &Ledger, events: usize) -> Result<Option<Study>> {
    let (mut rebuilt, known) = begin(config, ledger)?;
    if events < known {
        return Ok(None);
    }
    catch_up_to(&mut rebuilt.study, config, ledger, known..events)?;
    Ok(Some(rebuilt.study))
}

fn catch_up_to(study: &mut Study, config: &Config, ledger: &Ledger, events: Range<usize>) -> Result<()> {
    for first in events.clone().step_by(BLOCK) {
        let block = first..events.end.min(first + BLOCK);
        let mut points = imported_points(config, ledger, &ledger.events()[block.clone()]).into_iter();
        for number in block {
            match &ledger.events()[number] {
                Event::Asked(id) => {
                    if let Some(Source::Asked { trial, .. }) = ledger.trial(*id).map(|state| &state.source) {
                        study.restore_asked(Trial::clone(trial))?;
                    }
                }
                Event::Imported(id) => {
                    if let Some(point) = points.next() {
                        import(study, config, ledger, *id, number, point)?;
                    }
                }
                Event::Told(id) => {
                    if let Some(finding) = ledger.trial(*id).and_then(|state| state.outcome_after(number + 1))
                    {
                        tell(study, config, *id, finding)?;
                    }
                }
                // The chapter that follows knows.
                Event::Revised(_) => {}
            }
        }
    }
    Ok(())
}

/// The points of imported trials among some events, in their order; what is wrong with one is for its turn.
fn imported_points(config: &Config, ledger: &Ledger, events: &[Event]) -> Vec<Imported> {
    let written: Vec<&point::Written> = events
        .iter()
        .filter_map(|event| match (event, ledger.trial(event.trial()).map(|state| &state.source)) {
            (Event::Imported(_), Some(Source::Imported(written))) => Some(written),
            _ => None,
        })
        .collect();
    let usual = point::Usual::of(&config.space);
    let point = |written: &&point::Written| written.point_as(&config.space, usual.as_ref());
    // Half of the time of a million imported results goes into their numbers; a few are not worth other threads.
    match written.len() < BLOCK / 4 {
        true => written.iter().map(point).collect(),
        false => written.par_iter().map(point).collect(),
    }
}

/// Takes in an evaluation from elsewhere, which is event `number`.
fn import(
    study: &mut Study,
    config: &Config,
    ledger: &Ledger,
    id: u64,
    number: usize,
    point: Imported,
) -> Result<()> {
    let Some(state) = ledger.trial(id) else { return Ok(()) };
    if let Some(finding) = state.outcome_after(number + 1) {
        let wrong = |text: String| Error::Usage(format!("imported trial {id}: {text}"));
        let objective = config.objective();
        finding.value(objective).ok_or_else(|| wrong(format!("it has no output `{objective}`")))?;
        let added = add(study, config, &point.map_err(wrong)?, finding)?;
        if added.0 != id {
            return Err(wrong(format!("it was taken in as trial {added}")));
        }
    }
    Ok(())
}

/// Makes a trial of an evaluation from elsewhere.
pub fn add(study: &mut Study, config: &Config, point: &Point, finding: &Finding) -> Result<TrialId> {
    let id = study.adopt(point)?;
    tell(study, config, id.0, finding)?;
    Ok(id)
}

/// Tells the objective of an outcome, or that there is none, and what was measured of the limited outputs. A trial of an earlier chapter that is not in the space of this
/// one is none of its business.
pub fn tell(study: &mut Study, config: &Config, id: u64, finding: &Finding) -> Result<()> {
    let (id, objective) = (TrialId(id), config.objective());
    if study.history().get(id).is_none() && id < study.history().next_id() {
        return Ok(());
    }
    let outcome = match finding.value(objective) {
        Some(value) => Outcome::measured(config.direction.to_internal(value)),
        None => without_value(finding.clone().with_objective(objective)),
    };
    study.tell_limited(id, outcome, &config.limited(&finding.outputs))?;
    Ok(())
}

/// The outcome of a trial that has no objective.
fn without_value(Finding { kind, reason, .. }: Finding) -> Outcome {
    match kind {
        Kind::Infeasible => Outcome::Infeasible,
        Kind::Lost => Outcome::Lost { reason },
        Kind::Ok | Kind::Invalid => Outcome::Invalid { answer: reason },
        _ => Outcome::Failed { reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{Outputs, VALUE};
    use crate::store::format::Format;
    use crate::store::record::{Entry, Record};
    use crate::tag::StudyId;
    use std::path::Path;

    const FILE: &str = "study_version = 1\ndirection = \"maximize\"\n[[parameter]]\nname = \"x\"\ntype = \"float\"\n\
                        low = 0\nhigh = 2\n[[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 9\n";

    /// A journal of so many imported results.
    fn imported(count: u64, point: impl Fn(u64) -> serde_json::Value) -> Ledger {
        let study = StudyId::from_bits(3);
        let (config, tribo) = (FILE.to_owned(), String::new());
        let created = Record::Created { format: Format::NEWEST, study, config, engine: None, tribo };
        let entry = |n, record| Entry { n, epoch: 1, ms: 0, record };
        let mut ledger = Ledger::begin(&entry(0, created)).unwrap();
        for trial in 0..count {
            let outputs = Outputs::one(VALUE, (trial % 97) as f64);
            let point = point::Written::from(point(trial).as_object().unwrap());
            ledger.apply(&entry(trial + 1, Record::Imported { trial, point, outputs })).unwrap();
        }
        ledger
    }

    #[test]
    fn many_imported_results_are_taken_as_one_after_the_other() {
        let x = |trial: u64| 2.0 * (trial % 1_009) as f64 / 1_009.0;
        // As we write them, and in another order.
        let ledger = imported(2 * BLOCK as u64 + 5, |trial| match trial % 3 {
            0 => serde_json::json!({"n": 1 + trial % 9, "x": x(trial)}),
            _ => serde_json::json!({"x": x(trial), "n": 1 + trial % 9}),
        });
        let config = Config::parse(Path::new("study.toml"), FILE).unwrap();
        let at_once = study(&config, &ledger).unwrap();
        let mut one_by_one = fresh(&config).unwrap();
        for number in 0..ledger.events().len() {
            catch_up_to(&mut one_by_one, &config, &ledger, number..number + 1).unwrap();
        }
        assert_eq!(at_once.history(), one_by_one.history());
        let best = at_once.best().unwrap().unwrap();
        assert_eq!((best.id, best.value), (TrialId(96), 96.0));
        assert_eq!(best.point.numbers(), [x(96), 7.0]);
    }

    #[test]
    fn a_glance_knows_the_points_that_were_asked() {
        let config = Config::parse(Path::new("study.toml"), FILE).unwrap();
        let mut ledger =
            imported(40, |trial| serde_json::json!({"x": 0.05 * trial as f64, "n": 1 + trial % 9}));
        let mut whole = study(&config, &ledger).unwrap();
        for n in 41..47 {
            let asked = whole.ask(1).unwrap().remove(0);
            let trial = whole.history().get(asked.id).unwrap().0.clone();
            let record = Record::Asked { trial, by_hand: false };
            ledger.apply(&Entry { n, epoch: 1, ms: 0, record }).unwrap();
        }
        assert!(whole.history().iter().any(|(trial, _)| trial.decision.is_some()));
        let glance = asked_alone(&config, &ledger).unwrap();
        assert_eq!((glance.study.history().len(), glance.study.explanation()), (6, whole.explanation()));
        for id in 40..46 {
            assert_eq!(glance.points().now(id).unwrap(), Some(whole.point(TrialId(id)).unwrap()));
        }
    }

    #[test]
    fn a_point_that_is_not_one_of_the_study_is_named() {
        let last = BLOCK as u64;
        let ledger =
            imported(last + 1, |trial| serde_json::json!({"x": if trial == last { 3 } else { 1 }, "n": 1}));
        let config = Config::parse(Path::new("study.toml"), FILE).unwrap();
        let Err(error) = study(&config, &ledger) else { panic!("it was taken in") };
        assert!(error.to_string().contains(&format!("imported trial {last}: ")), "{error}");
    }
}
