//! Putting away what is done with: answers whose records are durable, and their folders.

use super::Driver;
use crate::Result;
use crate::config::Keep;
use crate::job::Kind;

impl Driver<'_> {
    /// Puts answers away whose records are durable, and folders that are not to be kept.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.urgent {
            return Ok(());
        }
        for answer in std::mem::take(&mut self.unsettled) {
            self.parts.store.settle(&answer)?;
            let whole = match self.parts.run.keep {
                Keep::All => false,
                Keep::Failed => answer.finding.kind == Kind::Ok,
                Keep::None => true,
            };
            // A job that was stopped and runs again needs its folder.
            let over = self.parts.ledger.attempt(answer.id).is_none_or(|attempt| attempt.end.is_some());
            if over && (whole || answer.finding.kind == Kind::Ok) {
                self.parts.store.discard(answer.id, whole)?;
            }
        }
        Ok(())
    }
}
