//! A chapter read from its records alone: points without the engine that proposed them.

use super::chapter::{self, Chapters};
use super::earlier::Earlier;
use crate::config::Config;
use crate::job::Finding;
use crate::store::ledger::{Event, Ledger, Source};
use crate::{Error, Result};
use std::collections::BTreeMap;
use tribo::space::Point;
use tribo::strategy::Decoder;
use tribo::trial::{Trial, TrialId};

/// What makes the points of a chapter, up to some event.
pub struct Records {
    config: Config,
    decoder: Decoder,
}

impl Records {
    /// Those of the present chapter, if it is of an engine of another version: whoever would go on with it has to read it so.
    pub fn of_another(config: &Config, ledger: &Ledger) -> Result<Option<Records>> {
        let chapters = Chapters::of(config, ledger)?;
        let present = ledger.chapters().len() - 1;
        if chapters.last() == present {
            return Ok(None);
        }
        let earlier = Earlier::of(&chapters)?;
        let mut records = Records::begin(config, chapter::seed(config, present), &earlier.known(present))?;
        for number in chapters.all()[present].first_event..ledger.events().len() {
            records.take(ledger, number)?;
        }
        Ok(Some(records))
    }

    /// A chapter of this seed, of which nothing is read yet but the points that it began with.
    pub(super) fn begin(config: &Config, seed: u64, known: &BTreeMap<u64, Point>) -> Result<Records> {
        let (space, strategy) = (config.space.clone(), config.strategy.clone());
        let mut decoder = Decoder::new(space, strategy, config.budget.evaluations, seed)?;
        for (id, point) in known {
            decoder.adopt(TrialId(*id), point)?;
        }
        Ok(Records { config: config.clone(), decoder })
    }

    /// Takes event `number`; the point of the trial that it made, if it made one.
    pub(super) fn take(&mut self, ledger: &Ledger, number: usize) -> Result<Option<Point>> {
        let event = &ledger.events()[number];
        let Some(state) = ledger.trial(event.trial()) else { return Ok(None) };
        let point = match (event, &state.source) {
            (Event::Asked(_), Source::Asked { trial, .. }) => return self.asked(trial).map(Some),
            (Event::Imported(_), Source::Imported(written)) => {
                let space = &self.config.space;
                let wrong = |text| Error::Usage(format!("imported trial {}: {text}", event.trial()));
                let point = written.point(space).map_err(wrong)?;
                self.decoder.adopt(TrialId(event.trial()), &point)?;
                // As the optimiser of its chapter tells it, which keeps it in model coordinates.
                Some(space.decode(&space.encode(&point)?)?)
            }
            _ => None,
        };
        if let Some(finding) = state.outcome_after(number + 1) {
            self.told(event.trial(), finding);
        }
        Ok(point)
    }

    /// Takes a trial that was asked and makes its point.
    pub fn asked(&mut self, trial: &Trial) -> Result<Point> {
        Ok(self.decoder.point(trial)?)
    }

    /// Takes an outcome.
    pub fn told(&mut self, trial: u64, finding: &Finding) {
        if let Some(value) = finding.value(self.config.objective()) {
            self.decoder.told(TrialId(trial), self.config.direction.to_internal(value));
        }
    }
}
