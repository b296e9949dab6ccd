//! Connections: where they come in, how many there may be, and how long they may take to say what they want.
//!
//! A connection that has not shown the cookie yet is a stranger's. Of those a few hundred are kept, and the oldest is closed
//! for a new one, so whoever holds a thousand open keeps nobody out. One thread does all this; pages are made by others.

use crate::door::Door;
use crate::following::Followed;
use crate::guard::{self, Refusal};
use crate::response::{self, Body};
use crate::route::{Page, Route, query};
use crate::{events, pages};
use hyper::body::Incoming;
use hyper::header::SET_COOKIE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tribo_study::layout::Layout;
use tribo_study::memory;
use tribo_study::{Error, Result};

/// Time for the head of a request, and between two requests.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Bytes of the head of a request, and its lines.
const HEAD_BYTES: usize = 16 << 10;
const HEAD_LINES: usize = 64;
/// Connections that have not shown the cookie.
const STRANGERS: usize = 200;
/// Pages that are open at once: some browsers of one person.
const STREAMS: usize = 64;
/// Pages that are made, or wait for an answer, at once.
const MAKERS: usize = 8;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of this machine, which all its users can reach; 0 is any that is free.
    Port(u16),
    /// A socket file, which nobody else can open.
    Socket(PathBuf),
}

enum Listener {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

/// The live page of some studies.
pub struct Dash {
    state: Arc<State>,
    listener: Listener,
    runtime: Runtime,
    threads: Vec<JoinHandle<()>>,
    /// Where it listens: a port that is known now.
    address: Address,
    stop: Arc<Notify>,
}

/// What all connections share.
struct State {
    studies: Vec<Arc<Followed>>,
    door: Door,
    bell: Arc<watch::Sender<()>>,
    strangers: Mutex<VecDeque<(u64, AbortHandle)>>,
    connections: AtomicU64,
    streams: AtomicUsize,
    /// Called when a link was used, and another is good now.
    used: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Ends a server.
#[derive(Clone)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Ends it.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Dash {
    /// Opens studies and listens.
    pub fn open(layouts: &[Layout], address: &Address) -> Result<Dash> {
        memory::be_thrifty();
        let bell = Arc::new(watch::Sender::new(()));
        let mut studies = Vec::new();
        for (number, layout) in layouts.iter().enumerate() {
            studies.push(Arc::new(Followed::open(number, layout, Arc::clone(&bell))?));
        }
        let cannot = |what: &str, error: io::Error| Error::Usage(format!("cannot {what}: {error}"));
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAKERS)
            .build()
            .map_err(|error| cannot("start the server", error))?;
        let (listener, address) = {
            let _inside = runtime.enter();
            listen(address)?
        };
        let door = Door::new().map_err(|error| cannot("make a random link", error))?;
        let state = Arc::new(State {
            studies,
            door,
            bell,
            strangers: Mutex::new(VecDeque::new()),
            connections: AtomicU64::new(0),
            streams: AtomicUsize::new(0),
            used: OnceLock::new(),
        });
        Ok(Dash { state, listener, runtime, threads: vec![], address, stop: Arc::new(Notify::new()) })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What makes its links.
    pub fn link(&self) -> Link {
        Link(Arc::clone(&self.state))
    }

    /// What ends it.
    pub fn stopper(&self) -> Stop {
        Stop(Arc::clone(&self.stop))
    }

    /// Serves until it is ended. `used` is called whenever a link was used, and another one is good.
    pub fn run(mut self, used: impl Fn() + Send + Sync + 'static) -> Result<()> {
        // It runs once, so nobody has set it.
        let _ = self.state.used.set(Box::new(used));
        for study in &self.state.studies {
            let started =
                study.start().map_err(|error| Error::Usage(format!("cannot start a thread: {error}")))?;
            self.threads.extend(started);
        }
        let (state, stop) = (Arc::clone(&self.state), Arc::clone(&self.stop));
        let listener = self.listener;
        self.runtime.block_on(async move {
            tokio::spawn(accept(state, listener));
            stop.notified().await;
        });
        self.state.studies.iter().for_each(|study| study.end());
        self.runtime.shutdown_timeout(Duration::from_millis(200));
        if let Address::Socket(path) = &self.address {
            // It may be gone already.
            let _ = fs::remove_file(path);
        }
        for thread in self.threads {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
        Ok(())
    }
}

/// Makes links that let in whoever opens them, each once.
#[derive(Clone)]
pub struct Link(Arc<State>);

impl Link {
    /// The link that is good now, to a server that is reached by this host and port.
    pub fn text(&self, host: &str, port: u16) -> String {
        format!("http://{host}:{port}/?token={}", self.0.door.token())
    }
}

fn listen(address: &Address) -> Result<(Listener, Address)> {
    match address {
        Address::Port(port) => {
            let told = |error: io::Error| Error::Usage(format!("cannot listen on port {port}: {error}"));
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(told)?;
            let port = listener.local_addr().map_err(told)?.port();
            listener.set_nonblocking(true).map_err(told)?;
            let listener = tokio::net::TcpListener::from_std(listener).map_err(told)?;
            Ok((Listener::Tcp(listener), Address::Port(port)))
        }
        Address::Socket(path) => {
            let told = |error: io::Error| {
                Error::Usage(format!("cannot make the socket {}: {error}", path.display()))
            };
            let listener = bind(path).map_err(told)?;
            listener.set_nonblocking(true).map_err(told)?;
            let listener = tokio::net::UnixListener::from_std(listener).map_err(told)?;
            Ok((Listener::Unix(listener), address.clone()))
        }
    }
}

/// A socket that was never open to others: it is made in a folder of its own and moved from there.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        // What a server left that was killed.
        Ok(found) if found.file_type().is_socket() && UnixStream::connect(path).is_err() => {}
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there already")),
    }
    let mut folder = path.as_os_str().to_owned();
    folder.push(".new");
    let folder = PathBuf::from(folder);
    DirBuilder::new().mode(0o700).create(&folder)?;
    let inside = folder.join("s");
    let bound = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    // What is still in it goes with it.
    let _ = fs::remove_dir_all(&folder);
    bound
}

async fn accept(state: Arc<State>, listener: Listener) {
    loop {
        let accepted = match &listener {
            Listener::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                // Events are small and are wanted at once.
                let _ = stream.set_nodelay(true);
                state.take(stream);
            }),
            Listener::Unix(listener) => listener.accept().await.map(|(stream, _)| state.take(stream)),
        };
        if accepted.is_err() {
            // Too many open files, or a connection that was gone at once.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl State {
    /// Serves a connection.
    fn take<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self: &Arc<State>, stream: S) {
        let id = self.connections.fetch_add(1, Ordering::SeqCst);
        let state = Arc::clone(self);
        let task = tokio::spawn(async move {
            let service = service_fn(|request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(state.answer(id, request).await) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            server.max_buf_size(HEAD_BYTES).max_headers(HEAD_LINES);
            // A connection that breaks is the browser's business.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            state.is_known(id);
        });
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.push_back((id, task.abort_handle()));
        if strangers.len() > STRANGERS
            && let Some((_, oldest)) = strangers.pop_front()
        {
            oldest.abort();
        }
    }

    /// A connection is over, or is no stranger's.
    fn is_known(&self, id: u64) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|(stranger, _)| *stranger != id);
    }

    async fn answer(self: Arc<State>, connection: u64, request: Request<Incoming>) -> Response<Body> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        if let Err(refused) = guard::check(method, uri, headers) {
            return response::refusal(refused);
        }
        let token = query(uri.query()).find(|(name, _)| *name == "token" && uri.path() == "/");
        if !self.door.admits(headers) {
            return match token {
                // A look ahead must not use up the link.
                Some((_, token)) if method == Method::GET => self.let_in(token),
                _ => response::refusal(Refusal::Stranger),
            };
        }
        self.is_known(connection);
        if token.is_some() {
            return response::redirect("/");
        }
        let Some(route) = Route::of(uri.path()) else { return response::refusal(Refusal::Unknown) };
        let query = uri.query().unwrap_or("").to_owned();
        let is_head = method == Method::HEAD;
        match route {
            Route::Events => self.stream(None, is_head),
            Route::Study(study, Page::Events) => self.stream(Some(study), is_head),
            Route::Style => asset("text/css; charset=utf-8", pages::style()),
            Route::Script => asset("text/javascript; charset=utf-8", pages::SCRIPT.to_owned()),
            Route::Icon => asset("image/svg+xml", pages::ICON.to_owned()),
            Route::Index if self.studies.len() == 1 => response::redirect("/s/0/"),
            Route::Index => self.page(move |state| Some(pages::index(&state.studies))).await,
            Route::Study(study, page) => {
                let make = move |state: &State| {
                    let followed = state.studies.get(study)?;
                    pages::page(followed, state.studies.len(), page, &query)
                };
                self.page(make).await
            }
        }
    }

    /// The cookie for a link.
    fn let_in(&self, token: &str) -> Response<Body> {
        match self.door.exchange(token) {
            Ok(Some(cookie)) => {
                self.used.get().iter().for_each(|used| used());
                let mut response = response::redirect("/");
                response.headers_mut().insert(SET_COOKIE, cookie);
                response
            }
            Ok(None) => response::refusal(Refusal::Stranger),
            Err(_) => fault(),
        }
    }

    /// A page, made by another thread.
    async fn page(
        self: Arc<State>,
        make: impl FnOnce(&State) -> Option<String> + Send + 'static,
    ) -> Response<Body> {
        match tokio::task::spawn_blocking(move || make(&self)).await {
            Ok(Some(html)) => response::page(html),
            Ok(None) => response::refusal(Refusal::Unknown),
            Err(_) => fault(),
        }
    }

    /// What changes in a study, or in all of them.
    fn stream(self: &Arc<State>, study: Option<usize>, is_head: bool) -> Response<Body> {
        let studies = match study.map(|study| self.studies.get(study)) {
            None => self.studies.clone(),
            Some(Some(study)) => vec![Arc::clone(study)],
            Some(None) => return response::refusal(Refusal::Unknown),
        };
        let body = if is_head {
            Body::Whole(None)
        } else {
            let n = self.streams.fetch_add(1, Ordering::SeqCst);
            let open = Open(Arc::clone(self));
            if n >= STREAMS {
                return response::refusal(Refusal::Crowded);
            }
            Body::Pieces(events::stream(studies, study.is_some(), self.bell.subscribe(), open))
        };
        response::answer(StatusCode::OK, "text/event-stream", body)
    }
}

/// An open stream.
pub(crate) struct Open(Arc<State>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

fn asset(kind: &'static str, text: String) -> Response<Body> {
    response::text(StatusCode::OK, kind, text)
}

/// Something broke, and was printed.
fn fault() -> Response<Body> {
    let words = "A fault of this program, please report it; what it printed says more.\n";
    response::text(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", words)
}
