//! A study, a server for it, and a client that sends exactly what a test says.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tribo::surrogate::watch::Unwatched;
use tribo_dash::{Address, Dash, Link, Stop};
use tribo_study::by_hand::ByHand;
use tribo_study::job::Finding;
use tribo_study::layout::Layout;
use tribo_study::outputs::VALUE;

/// The largest wait for something that should take a second; machines under load are slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Markup wherever a person can write something.
pub(crate) const FILE: &str = "study_version = 1\nname = \"a <b> & c\"\ndirection = \"minimize\"\nseed = 5\n\
    [[parameter]]\nname = \"x<i>\"\ntype = \"float\"\nlow = 0\nhigh = 1\n\
    [[parameter]]\nname = \"rate\"\ntype = \"float\"\nlow = 0.001\nhigh = 10\nlog = true\n\
    [[parameter]]\nname = \"n\"\ntype = \"int\"\nlow = 1\nhigh = 6\n\
    [[parameter]]\nname = \"mode\"\ntype = \"categorical\"\nchoices = [\"one\", \"<u>two\", \"three\"]\n\
    [strategy]\nname = \"bo\"\n";

/// A study in a folder, told by hand.
pub(crate) struct Told {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) layout: Layout,
    study: ByHand,
}

impl Told {
    pub(crate) fn new(n: usize) -> Told {
        Told::by(FILE, n)
    }

    /// By another study file.
    pub(crate) fn by(file: &str, n: usize) -> Told {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("study.toml"));
        fs::write(layout.file(), file).unwrap();
        let study = ByHand::take_new(&layout).unwrap();
        let mut told = Told { folder, layout, study };
        (0..n).for_each(|_| told.go_on());
        told
    }

    /// One trial more: a smooth function of the first two inputs; every tenth trial fails, with markup in its reason.
    /// `load` is for those that limit it.
    pub(crate) fn go_on(&mut self) {
        let asked = self.study.ask(1, &Unwatched).unwrap();
        let (trial, x) = (asked[0].id.0, asked[0].point.numbers());
        let value = (3.0 * x[0]).sin() + 0.3 * (x[1].log10() + 1.0).powi(2) + 0.01 * x[2];
        let finding = match trial % 10 {
            7 => Finding::failed("failed: \u{1b}[31m<script>alert(1)</script> \u{202e}at 0x7ffe12"),
            _ => {
                let mut finding = Finding::answered(VALUE, value);
                finding.outputs.insert("load", x[0] + 0.1 * x[2]);
                finding
            }
        };
        self.study.tell(trial, &finding).unwrap();
    }

    /// Tells a value of the next trial.
    pub(crate) fn tell(&mut self, value: f64) {
        let asked = self.study.ask(1, &Unwatched).unwrap();
        self.study.tell(asked[0].id.0, &Finding::answered(VALUE, value)).unwrap();
    }

    pub(crate) fn serve(&self) -> Served {
        Served::of(std::slice::from_ref(&self.layout))
    }
}

/// A server, ended with the test.
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) link: Link,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    /// `name=secret`, once let in.
    pub(crate) cookie: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Served {
    pub(crate) fn of(layouts: &[Layout]) -> Served {
        let dash = Dash::open(layouts, &Address::Port(0)).unwrap();
        let Address::Port(port) = *dash.address() else { panic!("not a port") };
        let (link, stop) = (dash.link(), dash.stopper());
        let thread = std::thread::spawn(move || dash.run(|| {}).unwrap());
        let mut served = Served { port, link, stop, thread: Some(thread), cookie: String::new() };
        served.cookie = served.enter();
        served
    }

    /// Uses the link, and returns the cookie.
    pub(crate) fn enter(&self) -> String {
        let answer = self.raw(&self.request("GET", &self.path_of_link(), &[]));
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer:?}");
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// The path and query of the link that is good now.
    pub(crate) fn path_of_link(&self) -> String {
        let link = self.link.text("127.0.0.1", self.port);
        link.strip_prefix(&format!("http://127.0.0.1:{}", self.port)).unwrap().to_owned()
    }

    /// A request without the cookie.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let host = if headers.iter().any(|(name, _)| *name == "Host") {
            String::new()
        } else {
            format!("Host: 127.0.0.1:{}\r\n", self.port)
        };
        format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{lines}\r\n")
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads to the end.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A connection that is reset has said what it had to say.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request of someone who was let in.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![("Cookie", self.cookie.as_str())];
        all.extend(headers);
        self.raw(&self.request(method, path, &all))
    }

    /// A page that must be there.
    pub(crate) fn get(&self, path: &str) -> String {
        let answer = self.ask("GET", path, &[]);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    /// An open stream of events.
    pub(crate) fn events(&self, path: &str) -> TcpStream {
        let mut stream = self.connect();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n\r\n",
            self.port, self.cookie
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // It has ended, unless the test has failed.
            let _ = thread.join();
        }
    }
}

/// Reads a stream until it has this text; returns all of it and how long that took.
pub(crate) fn read_until(stream: &mut TcpStream, wanted: &str) -> (String, Duration) {
    let (begin, mut text) = (Instant::now(), String::new());
    let mut buffer = [0; 4096];
    while !text.contains(wanted) {
        let n = stream.read(&mut buffer).unwrap();
        assert!(n > 0 && begin.elapsed() < PATIENCE, "no {wanted:?} in {text:?}");
        text += &String::from_utf8_lossy(&buffer[..n]);
    }
    (text, begin.elapsed())
}

/// Every file below a folder: its bytes, its mode, and when it was changed.
pub(crate) fn everything(folder: &Path) -> BTreeMap<String, (Vec<u8>, u32, i64)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, metadata) = (entry.path(), entry.metadata().unwrap());
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { vec![] };
        found.insert(path.display().to_string(), (bytes, metadata.mode(), metadata.mtime_nsec()));
        if metadata.is_dir() {
            found.extend(everything(&path));
        }
    }
    found
}
