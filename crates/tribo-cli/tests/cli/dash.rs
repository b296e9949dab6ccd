//! `tribo dash`: the link it prints, what it shows of real evaluations, the socket, and its end.

use crate::support::{Folder, Running, with_command};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A study that was run, whose program prints markup and what a terminal would obey.
fn run() -> Folder {
    let folder = Folder::with(&with_command(
        r#"'printf "\033[31m<script>alert(1)</script>\033[0m\n" >&2; echo "<img src=x onerror=alert(2)>"; echo "{\"objective\": 0.5}" > result.json'"#,
    ));
    folder.tribo(["run"]).code(0);
    folder
}

/// Waits for what a server says, and for the link in its output.
fn said(running: &Running) -> String {
    let begin = Instant::now();
    while !running.stderr().contains("Ctrl-C ends the page") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", running.stderr());
        std::thread::sleep(Duration::from_millis(20));
    }
    running.stderr()
}

fn answer(mut stream: impl Read + Write, path: &str, cookie: &str) -> String {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The cookie in an answer to a link.
fn cookie(answer: &str) -> String {
    let line = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    line.split(';').next().unwrap().to_owned()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.display().to_string(), fs::read(&path).unwrap_or_default())),
        }
    }
    found
}

#[test]
fn the_link_leads_to_the_study_and_nothing_is_changed() {
    let folder = run();
    let before = files(&folder.path().join("study.tribo"));
    let (file, report) = (folder.read("study.toml"), folder.read("study.html"));
    let mut dash = folder.start(["dash", "."]);
    let link = dash.line();
    let said = said(&dash);
    let port: u16 = link.split([':', '/']).nth(4).unwrap().parse().unwrap();
    assert!(said.contains(&format!("ssh -N -L {port}:127.0.0.1:{port} ")), "{said}");
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (_, path) = link.trim().split_once(&format!(":{port}")).unwrap();
    let cookie = cookie(&answer(connect(), path, ""));
    let page = answer(connect(), "/s/0/trial/0", &cookie);
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("&lt;img src=x"),
        "{page}"
    );
    assert!(!page.contains("<script>") && !page.contains("<img") && !page.contains('\u{1b}'), "{page}");
    assert!(answer(connect(), "/s/0/machine", &cookie).contains("% busy"));
    // The next browser needs the next link, which is printed.
    assert!(answer(connect(), path, "").starts_with("HTTP/1.1 403"));
    assert!(dash.stderr().contains(&format!("for another browser: http://127.0.0.1:{port}/?token=")));
    dash.signal("INT");
    assert_eq!(dash.wait_in_time().code, 0);
    assert_eq!(files(&folder.path().join("study.tribo")), before);
    assert_eq!((folder.read("study.toml"), folder.read("study.html")), (file, report));
}

#[test]
fn a_socket_is_for_its_owner_alone_and_goes_with_the_server() {
    let folder = run();
    let socket = folder.path().join("dash.sock");
    let mut dash = folder.start(["dash", "--socket", "dash.sock"]);
    let link = dash.line();
    let said = said(&dash);
    assert!(link.starts_with("http://localhost:8080/?token="), "{link}");
    assert!(said.contains(&format!("ssh -N -L 8080:{} ", socket.display())), "{said}");
    let found = fs::symlink_metadata(&socket).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    let path = link.trim().strip_prefix("http://localhost:8080").unwrap();
    let cookie = cookie(&answer(UnixStream::connect(&socket).unwrap(), path, ""));
    assert!(answer(UnixStream::connect(&socket).unwrap(), "/s/0/", &cookie).contains("</html>"));
    // Another one does not take it away, nor a file that is something else.
    folder.tribo(["dash", "--socket", "dash.sock"]).code(2).says("it is there already");
    folder.write("file", "mine");
    folder.tribo(["dash", "--socket", "file"]).code(2).says("it is there already");
    assert_eq!(folder.read("file"), "mine");
    dash.signal("TERM");
    assert_eq!(dash.wait_in_time().code, 0);
    assert!(!socket.exists());
    // What a server left that was killed is in nobody's way.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let mut dash = folder.start(["dash", "--socket", "dash.sock"]);
    assert!(dash.line().contains("token="));
    dash.signal("HUP");
    assert_eq!(dash.wait_in_time().code, 0);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let folder = Folder::empty();
    folder.tribo(["dash"]).code(2).says("there is no study here");
    let folder = run();
    folder.tribo(["dash", ".", "nothing.toml"]).code(2).says("nothing.toml");
    folder.tribo(["dash", "--port", "99999"]).code(2);
    folder.tribo(["dash", "--port", "1", "--socket", "x"]).code(2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    folder.tribo(["dash", "--port", &port]).code(2).says(&format!("cannot listen on port {port}"));
}
