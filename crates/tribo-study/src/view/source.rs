//! What a view is made from: a journal, or a study in memory.

use crate::Result;
use crate::by_hand::ByHand;
use crate::config::Config;
use crate::layout::Layout;
use crate::reading::Reading;
use crate::report::summary::Seen;
use crate::store::disk::utc_ms;
use crate::store::ledger::Ledger;

/// What a view is made from.
pub enum Source<'a> {
    /// A journal, beside whoever drives the study.
    Journal(&'a Reading),
    /// What this process knows of a study that it asks and tells.
    Own {
        /// The study file in force.
        config: &'a Config,
        /// The state.
        ledger: &'a Ledger,
        /// Where it is on disk; None in memory.
        layout: Option<&'a Layout>,
    },
}

impl<'a> Source<'a> {
    /// A study that is in memory or belongs to this process.
    pub fn own(hand: &'a mut ByHand) -> Result<Source<'a>> {
        let (config, ledger, layout) = hand.parts()?;
        Ok(Source::Own { config, ledger, layout })
    }

    pub(super) fn config(&self) -> &Config {
        match self {
            Source::Journal(reading) => &reading.config,
            Source::Own { config, .. } => config,
        }
    }

    /// The state.
    pub fn ledger(&self) -> &Ledger {
        match self {
            Source::Journal(reading) => reading.ledger(),
            Source::Own { ledger, .. } => ledger,
        }
    }

    pub(super) fn layout(&self) -> Option<&Layout> {
        match self {
            Source::Journal(reading) => Some(&reading.layout),
            Source::Own { layout, .. } => *layout,
        }
    }

    /// What there is to see outside the records. Of a study of this process that is nothing: nobody else works on it.
    pub(super) fn seen(&self) -> Result<Seen> {
        match self {
            Source::Journal(reading) => reading.seen(),
            Source::Own { .. } => Ok(Seen { now_ms: utc_ms(), ..Seen::default() }),
        }
    }
}
