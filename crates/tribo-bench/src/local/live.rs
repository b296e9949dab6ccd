//! The live page of a large study: how soon it is there, what its server needs, and what a result costs.
//!
//! The journal is that of `resume`, and results are added to it while someone looks at the page, without its model.

use super::{mark, resume, study};
use crate::machine::quantile;
use crate::seeds::Failure;
use serde::Serialize;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tribo_study::layout::Layout;

const PAGE_S: f64 = 2.0;
const MEMORY_MB: f64 = 300.0;
const UPDATE_MS: f64 = 100.0;
const UPDATES: u64 = 9;
const PATIENCE: Duration = Duration::from_secs(60);

/// The live page of a large study.
#[derive(Debug, Clone, Serialize)]
pub struct Live {
    /// Trials of the study.
    pub trials: u64,
    /// Seconds from the start of the server to the whole page.
    pub page_s: f64,
    /// At most this.
    pub bar_s: f64,
    /// The most memory that the server had.
    pub memory_mb: f64,
    /// At most this.
    pub bar_mb: f64,
    /// Median processor time of taking in a result and drawing it.
    pub update_p50_ms: f64,
    /// At most this.
    pub bar_ms: f64,
    /// Whether all are passed.
    pub ok: bool,
}

impl Live {
    pub(super) fn text(&self) -> String {
        let Live { trials, page_s, bar_s, memory_mb, bar_mb, update_p50_ms, bar_ms, ok } = self;
        let mark = mark(*ok);
        format!(
            "live page of {trials} trials in {page_s:.2} s, at most {bar_s}; {memory_mb:.0} MB, at most {bar_mb}; a result \
             costs {update_p50_ms:.0} ms, at most {bar_ms}: {mark}"
        )
    }
}

/// The server, which ends with the measurement.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing depends on it any more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Seconds of a processor that its thread of the journal had: it takes in results and draws them, while another one makes
    /// models. Ticks are hundredths on every Linux.
    fn cpu_s(&self) -> Result<f64, Failure> {
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let stat = std::fs::read_to_string(thread?.path().join("stat"))?;
            let (name, fields) = stat.rsplit_once(')').ok_or("a thread without a name")?;
            if name.ends_with("(journal-0") {
                let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
                return Ok(ticks.sum::<Result<f64, _>>()? / 100.0);
            }
        }
        Err("no thread of the journal".into())
    }

    fn peak_mb(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb: f64 = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?.parse()?;
        Ok(kb / 1e3)
    }
}

pub(super) fn measure(program: &Path) -> Result<Live, Failure> {
    let text = resume::study_file();
    let folder = study::with_file(&text)?;
    let mut large = resume::Large::write(&Layout::of(folder.path()), &text, "1:1:none", 0)?;
    let begin = Instant::now();
    let mut child = Command::new(program)
        .arg("dash")
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    let server = Server(child);
    let mut link = String::new();
    BufReader::new(out).read_line(&mut link)?;
    let (host, path) =
        link.trim().strip_prefix("http://").and_then(|l| l.split_once('/')).ok_or("no link")?;
    let entered = answer(host, &format!("/{path}"), "")?;
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).ok_or("not let in")?;
    let cookie = cookie.split(';').next().unwrap_or("");
    let page = answer(host, "/s/0/", cookie)?;
    if !page.contains("</html>") || !page.contains("<svg") {
        return Err("the page is not whole".into());
    }
    let page_s = begin.elapsed().as_secs_f64();
    let mut events = BufReader::new(request(host, "/events", cookie)?);
    let mut costs = Vec::new();
    for _ in 0..UPDATES {
        // What was going on is over.
        std::thread::sleep(Duration::from_secs(1));
        let before = server.cpu_s()?;
        let n = large.go_on()?;
        wait_for(&mut events, &format!("\"0/journal\":\"{n}\""))?;
        costs.push(1e3 * (server.cpu_s()? - before));
    }
    let (memory_mb, update_p50_ms) = (server.peak_mb()?, quantile(&mut costs, 0.5));
    let ok = page_s <= PAGE_S && memory_mb <= MEMORY_MB && update_p50_ms <= UPDATE_MS;
    let trials = resume::FINISHED;
    let (bar_s, bar_mb, bar_ms) = (PAGE_S, MEMORY_MB, UPDATE_MS);
    Ok(Live { trials, page_s, bar_s, memory_mb, bar_mb, update_p50_ms, bar_ms, ok })
}

fn request(host: &str, path: &str, cookie: &str) -> Result<TcpStream, Failure> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n")?;
    Ok(stream)
}

fn answer(host: &str, path: &str, cookie: &str) -> Result<String, Failure> {
    let mut text = String::new();
    request(host, path, cookie)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Reads lines until one has this text.
fn wait_for(events: &mut impl BufRead, wanted: &str) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut line = String::new();
    while begin.elapsed() < PATIENCE && events.read_line(&mut line)? > 0 {
        if line.contains(wanted) {
            return Ok(());
        }
        line.clear();
    }
    Err(format!("the page is not told of {wanted}").into())
}
