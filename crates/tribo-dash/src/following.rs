//! A study that is followed: its journal read as it grows, and the parts of its pages made anew.
//!
//! Two threads work while someone looks. One asks the journal for news, six times a second, and makes the parts that follow
//! from it alone. The other makes the model, which takes a second or more, and the parts that show it, and rebuilds earlier ones
//! to tell why trials were proposed: one at a time, since each is as large as the study. It borrows the journal only to begin
//! with, so results appear while it works. Nobody looks: nobody works.

use crate::parts::{self, Part};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tribo_study::Result;
use tribo_study::layout::Layout;
use tribo_study::memory;
use tribo_study::reading::Reading;
use tribo_study::view::why::{Asked, Why};
use tribo_study::view::{Draft, Past, Source, View};

/// Between two looks at a journal.
const LOOK: Duration = Duration::from_millis(150);
/// The longest pause between two looks, however long drawing takes.
const LATEST: Duration = Duration::from_millis(500);
/// A study that is driven is drawn again after this, for what the journal does not tell: what has begun, and how long it takes.
const AGAIN: Duration = Duration::from_secs(2);
/// Between two models at least.
const MODEL: Duration = Duration::from_secs(1);
/// The model of a page that is not live is made anew for so long.
const WANTED: Duration = Duration::from_secs(30);
/// How long a page waits for an answer.
const PATIENCE: Duration = Duration::from_secs(100);
/// Of its time a thread works at most one part in so many.
const SHARE: u32 = 3;

/// What pages are made of.
#[derive(Default, Clone)]
pub(crate) struct Board {
    /// The name of the study.
    pub(crate) name: String,
    /// The parts, by name.
    pub(crate) parts: BTreeMap<&'static str, Arc<Part>>,
    /// Records of the journal that they tell of.
    pub(crate) journal: u64,
    /// The last view with a model of its own.
    pub(crate) view: Option<Arc<View>>,
    /// What is wrong, if the study cannot be read.
    pub(crate) trouble: Option<String>,
}

/// A study that is followed.
pub(crate) struct Followed {
    /// Its number, by which pages name it.
    pub(crate) number: usize,
    reading: Mutex<Reading>,
    board: Mutex<Board>,
    /// Rings when a board has changed.
    bell: Arc<watch::Sender<()>>,
    /// Open pages that show it at all, and those that show its model.
    lookers: AtomicUsize,
    model_lookers: AtomicUsize,
    /// Until when the model is wanted by a page that is not live.
    wanted: Mutex<Option<Instant>>,
    /// Questions to the thread of the model.
    questions: Mutex<mpsc::Sender<Question>>,
    asked: Mutex<Option<mpsc::Receiver<Question>>>,
    is_over: AtomicBool,
}

/// Why was this trial proposed? The answer goes to whoever asks.
struct Question {
    trial: u64,
    answer: mpsc::SyncSender<std::result::Result<Why, String>>,
}

/// An open page; it is closed when this is dropped.
pub(crate) struct Looker {
    study: Arc<Followed>,
    with_model: bool,
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.study.lookers.fetch_sub(1, Ordering::SeqCst);
        if self.with_model {
            self.study.model_lookers.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Followed {
    /// Opens a study.
    pub(crate) fn open(number: usize, layout: &Layout, bell: Arc<watch::Sender<()>>) -> Result<Followed> {
        let reading = Reading::open(layout)?;
        let (questions, asked) = mpsc::channel();
        let followed = Followed {
            number,
            reading: Mutex::new(reading),
            board: Mutex::new(Board::default()),
            bell,
            lookers: AtomicUsize::new(0),
            model_lookers: AtomicUsize::new(0),
            wanted: Mutex::new(None),
            questions: Mutex::new(questions),
            asked: Mutex::new(Some(asked)),
            is_over: AtomicBool::new(false),
        };
        followed.post(parts::waiting(number));
        followed.draw(&mut followed.reading())?;
        Ok(followed)
    }

    /// Starts its threads.
    pub(crate) fn start(self: &Arc<Followed>) -> std::io::Result<[JoinHandle<()>; 2]> {
        let (journal, model) = (Arc::clone(self), Arc::clone(self));
        let named = |name: &str| thread::Builder::new().name(format!("{name}-{}", self.number));
        Ok([named("journal").spawn(move || journal.follow())?, named("model").spawn(move || model.model())?])
    }

    /// Ends its threads.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Someone looks at it.
    pub(crate) fn looked_at(self: &Arc<Followed>, with_model: bool) -> Looker {
        self.lookers.fetch_add(1, Ordering::SeqCst);
        if with_model {
            self.model_lookers.fetch_add(1, Ordering::SeqCst);
        }
        Looker { study: Arc::clone(self), with_model }
    }

    /// The study itself, for what no part shows. The threads wait meanwhile.
    pub(crate) fn reading(&self) -> MutexGuard<'_, Reading> {
        lock(&self.reading)
    }

    /// The board as it is.
    pub(crate) fn board(&self) -> Board {
        lock(&self.board).clone()
    }

    /// A page shows the model, or will when it is loaded again.
    pub(crate) fn want_model(&self) {
        *lock(&self.wanted) = Some(Instant::now() + WANTED);
    }

    fn is_model_wanted(&self) -> bool {
        let until = *lock(&self.wanted);
        self.model_lookers.load(Ordering::SeqCst) > 0 || until.is_some_and(|until| Instant::now() < until)
    }

    /// Takes in what is new. If others are at work on the study, the page is as new as they have made it.
    pub(crate) fn look(&self) {
        if let Ok(reading) = self.reading.try_lock() {
            self.refresh(reading, false);
        }
    }

    /// Takes in what is new, and makes the parts again if there is something, or anyway. Says whether it did.
    fn refresh(&self, mut reading: MutexGuard<'_, Reading>, anyway: bool) -> bool {
        let is_troubled = self.board().trouble.is_some();
        let made = guarded(|| {
            let news = reading.refresh()?;
            let is_new = news.restarted || !news.entries.is_empty() || anyway || is_troubled;
            if is_new {
                self.draw(&mut reading)?;
            }
            Ok(is_new)
        });
        match made {
            Ok(made) => made,
            Err(trouble) => {
                self.trouble(trouble);
                false
            }
        }
    }

    /// Makes the parts that follow from the journal.
    fn draw(&self, reading: &mut Reading) -> Result<()> {
        let earlier = self.board().view;
        let view = View::at_a_glance(reading, earlier.as_deref())?;
        let made = parts::of_journal(self.number, &view, reading)?;
        let journal = reading.ledger().next;
        let mut board = lock(&self.board);
        board.name = view.config.name.clone();
        board.trouble = None;
        board.journal = journal;
        drop(board);
        self.post(made);
        Ok(())
    }

    /// Puts parts on the board.
    fn post(&self, made: Vec<(&'static str, Part)>) {
        let mut board = lock(&self.board);
        board.parts.extend(made.into_iter().map(|(name, part)| (name, Arc::new(part))));
        drop(board);
        self.bell.send_replace(());
    }

    /// Says what is wrong; what was known stays on the board.
    fn trouble(&self, trouble: String) {
        lock(&self.board).trouble = Some(trouble.clone());
        let part = parts::trouble(self.number, &trouble);
        self.post(vec![part]);
    }

    /// The journal, as long as the server runs.
    fn follow(&self) {
        let (mut drawn, mut cost) = (Instant::now(), Duration::ZERO);
        while !self.is_over.load(Ordering::SeqCst) {
            thread::sleep(LOOK.max(SHARE * cost).min(LATEST));
            if self.lookers.load(Ordering::SeqCst) == 0 {
                continue;
            }
            let begin = Instant::now();
            // What is drawn anyway takes a tenth of the time at most.
            let is_old = begin - drawn > AGAIN.max(10 * cost) && self.reading().driver().is_some();
            if self.refresh(self.reading(), is_old) {
                (drawn, cost) = (Instant::now(), begin.elapsed());
            }
        }
    }

    /// Why a trial was proposed. It takes a moment, or longer while the model is made.
    pub(crate) fn why(&self, trial: u64) -> std::result::Result<Why, String> {
        let (answer, answered) = mpsc::sync_channel(1);
        let asked = lock(&self.questions).send(Question { trial, answer });
        let late = "it takes too long to find out; load the page again";
        match asked.ok().and_then(|()| answered.recv_timeout(PATIENCE).ok()) {
            Some(why) => why,
            None => Err(late.to_owned()),
        }
    }

    /// The model, and answers to questions, as long as the server runs.
    fn model(&self) {
        let Some(questions) = lock(&self.asked).take() else { return };
        let (mut known, mut rest) = (None, Instant::now());
        while !self.is_over.load(Ordering::SeqCst) {
            if let Ok(Question { trial, answer }) = questions.recv_timeout(LOOK) {
                let why = guarded(|| {
                    let asked = Asked::of(&self.reading(), trial)?;
                    asked.why()
                });
                // Whoever asked may be gone.
                let _ = answer.send(why);
                continue;
            }
            if !self.is_model_wanted() || Instant::now() < rest {
                continue;
            }
            let begin = Instant::now();
            let made = guarded(|| {
                let reading = self.reading();
                let ledger = reading.ledger();
                let now = Some((ledger.told().len(), ledger.chapters().len(), ledger.config.clone()));
                if known == now {
                    return Ok(None);
                }
                // A model that fails is not tried again before there is something new.
                known = now;
                let past = Past::of(&Source::Journal(&reading))?;
                drop(reading);
                // One after the other: each is as large as the study itself.
                let hindsight = past.and_then(Past::hindsight);
                memory::give_back();
                let draft = Draft::of(&Source::Journal(&self.reading()), hindsight)?;
                Ok(Some(draft.finish()?))
            });
            match made {
                Ok(None) => continue,
                Ok(Some(view)) => self.show(view),
                Err(trouble) => self.trouble(trouble),
            }
            memory::give_back();
            rest = Instant::now() + MODEL.max(SHARE * begin.elapsed());
        }
    }

    /// Makes the parts that show the model, and then those that mention it.
    fn show(&self, mut view: View) {
        let made = guarded(|| parts::of_model(self.number, &view));
        // They have been drawn; a hundred thousand of them are many megabytes.
        (view.outcomes, view.machine) = (vec![], tribo_study::view::Machine::default());
        lock(&self.board).view = Some(Arc::new(view));
        match made {
            Ok(made) => self.post(made),
            Err(trouble) => self.trouble(trouble),
        }
        self.refresh(self.reading(), true);
    }
}

/// Does something; what goes wrong, also by a fault of ours, is said and not the end.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("a fault of this program, please report it; what it printed says more".to_owned()),
    }
}

/// A lock, also after a panic of another thread: what it guards is made anew at the next look.
fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
