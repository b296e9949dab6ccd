//! Which parts have changed, sent to open pages: one stream for each, of lines `data: {"0/result": "REVISION", ...}`.
//!
//! The first line names all parts, so a page that was away for a while, or whose server was started again, finds out what it
//! has missed.

use crate::following::Followed;
use crate::server::Open;
use hyper::body::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

/// A sign of life, so that tunnels stay open and pages that are gone are noticed.
const QUIET: Duration = Duration::from_secs(15);
/// Between two lines.
const PAUSE: Duration = Duration::from_millis(50);
/// Lines that wait for a slow reader.
const WAITING: usize = 4;

/// A stream of the changes in these studies. With one of them, its model is made too.
pub(crate) fn stream(
    studies: Vec<Arc<Followed>>,
    with_model: bool,
    mut bell: watch::Receiver<()>,
    open: Open,
) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let lookers: Vec<_> = studies.iter().map(|study| study.looked_at(with_model)).collect();
        let mut sent = BTreeMap::new();
        let mut line = "retry: 1000\n".to_owned();
        loop {
            bell.mark_unchanged();
            let now = revisions(&studies);
            let changed: BTreeMap<&String, &String> =
                now.iter().filter(|(name, revision)| sent.get(*name) != Some(*revision)).collect();
            if !changed.is_empty() {
                // A map of texts is always JSON.
                line += &format!("data: {}\n\n", serde_json::to_string(&changed).unwrap_or_default());
            }
            if !line.is_empty() && sender.send(Bytes::from(std::mem::take(&mut line))).await.is_err() {
                break;
            }
            sent = now;
            sleep(PAUSE).await;
            match timeout(QUIET, bell.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => break,
                Err(_) => line += ":\n\n",
            }
        }
        drop((lookers, open));
    });
    receiver
}

/// The revisions of all parts, and `journal`, the number of records.
fn revisions(studies: &[Arc<Followed>]) -> BTreeMap<String, String> {
    let mut revisions = BTreeMap::new();
    for study in studies {
        let (board, number) = (study.board(), study.number);
        let parts =
            board.parts.iter().map(|(name, part)| (format!("{number}/{name}"), part.revision.clone()));
        revisions.extend(parts);
        revisions.insert(format!("{number}/journal"), board.journal.to_string());
    }
    revisions
}
