//! The points of earlier chapters, each in the space of the chapter that asked it.

use super::chapter::{self, Chapters};
use super::records::Records;
use super::translate::{EarlierValues, translate};
use crate::config::Config;
use crate::{Result, point};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use tribo::space::{Point, Space};
use tribo::strategy::Study;
use tribo::trial::TrialId;

/// Trials of the chapters before the present one.
#[derive(Debug, Default)]
pub struct Earlier {
    /// The study files of all chapters, the present one included; empty if there is only one.
    pub(super) configs: Vec<Config>,
    /// Chapter and point of each trial.
    points: BTreeMap<u64, (usize, Point)>,
    /// The same in the space of the present chapter, as far as they are in it.
    now: BTreeMap<u64, Point>,
}

impl Earlier {
    /// All of a journal; nothing if there is one chapter.
    pub(super) fn of(chapters: &Chapters<'_>) -> Result<Earlier> {
        let mut earlier = Earlier::default();
        let last = chapters.last();
        if last == 0 {
            return Ok(earlier);
        }
        for chapter in chapters.all() {
            let read = |text: &str| Config::parse(Path::new("an earlier study file"), text);
            // A chapter goes on with the points that it began with, whatever the file says since.
            let said = read(&chapter.first_config)?.earlier;
            earlier.configs.push(Config { earlier: said, ..read(&chapter.config)? });
        }
        for number in 0..last {
            earlier.add(chapters, number)?;
        }
        earlier.now = earlier.known(last);
        Ok(earlier)
    }

    /// Adds the trials of a chapter, all of whose predecessors are there.
    fn add(&mut self, chapters: &Chapters<'_>, number: usize) -> Result<()> {
        let (config, ledger) = (&self.configs[number], chapters.ledger);
        let mut records = Records::begin(config, chapter::seed(config, number), &self.known(number))?;
        // What 0.1.0 wrote may take the optimiser itself to read.
        let mut study: Option<Study> = None;
        let mut points = vec![];
        for event in chapters.all()[number].first_event..chapters.end(number) {
            let id = ledger.events()[event].trial();
            match (records.take(ledger, event), &study) {
                (Ok(None), _) => {}
                (Ok(Some(point)), None) => points.push((id, point)),
                (_, Some(study)) => points.push((id, study.point(TrialId(id))?)),
                (Err(_), None) => {
                    let restored = chapter::restore(config, self, chapters, number)?;
                    points.push((id, study.insert(restored).point(TrialId(id))?));
                }
            }
        }
        self.points.extend(points.into_iter().map(|(id, point)| (id, (number, point))));
        Ok(())
    }

    /// All points that chapter `number` can know, in its space.
    pub(super) fn known(&self, number: usize) -> BTreeMap<u64, Point> {
        let Some(now) = self.configs.get(number) else { return BTreeMap::new() };
        // What was added since each chapter has the value that was said when it was added first.
        let mut values: Vec<EarlierValues> = vec![EarlierValues::new(); number];
        for (chapter, values) in values.iter_mut().enumerate() {
            for later in &self.configs[chapter + 1..=number] {
                for (name, value) in &later.earlier {
                    values.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        let here = |(id, (chapter, point)): (&u64, &(usize, Point))| {
            let space = &self.configs[*chapter].space;
            Some((*id, translate(space, &now.space, values.get(*chapter)?, point)?))
        };
        self.points.iter().filter_map(here).collect()
    }

    /// The point of a trial of an earlier chapter, and the space that it is in.
    pub fn point(&self, trial: u64) -> Option<(&Space, &Point)> {
        let (chapter, point) = self.points.get(&trial)?;
        Some((&self.configs[*chapter].space, point))
    }

    /// Its point in the space of the present chapter, if it is in it.
    pub fn now(&self, trial: u64) -> Option<&Point> {
        self.now.get(&trial)
    }

    /// The spaces of all chapters, in order; none if there is only one.
    pub fn spaces(&self) -> impl Iterator<Item = &Space> {
        self.configs.iter().map(|config| &config.space)
    }
}

/// The points of all trials: those of earlier chapters, and those that the optimiser of the present one knows.
#[derive(Clone, Copy)]
pub struct Points<'a> {
    /// The optimiser of the present chapter.
    pub study: &'a Study,
    /// The chapters before.
    pub earlier: &'a Earlier,
}

impl Points<'_> {
    /// The point of a trial, in the space of the chapter that asked it.
    pub fn at(&self, trial: u64) -> Result<(&Space, Point)> {
        match self.earlier.point(trial) {
            Some((space, point)) => Ok((space, point.clone())),
            None => Ok((self.study.space(), self.study.point(TrialId(trial))?)),
        }
    }

    /// The point of a trial in the space of the present chapter; None if it is not in it.
    pub fn now(&self, trial: u64) -> Result<Option<Point>> {
        match self.earlier.point(trial) {
            Some(_) => Ok(self.earlier.now(trial).cloned()),
            None => Ok(Some(self.study.point(TrialId(trial))?)),
        }
    }

    /// The same as parameters by name, as the evaluation got them.
    pub fn params(&self, trial: u64) -> Result<Map<String, Value>> {
        let (space, point) = self.at(trial)?;
        Ok(point::to_json(space, &point))
    }
}
