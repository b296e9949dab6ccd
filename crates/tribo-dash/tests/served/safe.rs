//! What is refused, and what is harmless.

use crate::support::{PATIENCE, Told, everything};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

#[test]
fn strangers_see_nothing() {
    let told = Told::new(3);
    let served = told.serve();
    for path in ["/", "/s/0/", "/s/0/trial/0", "/s/0/part/result", "/events", "/style.css", "/nope"] {
        let answer = served.raw(&served.request("GET", path, &[]));
        assert_eq!(answer.status, 403, "{path}: {answer:?}");
        assert!(!answer.body.contains("trial") && answer.header("set-cookie").is_none(), "{answer:?}");
    }
    for cookie in ["", "x=1", "tribo-00000000=00", &served.cookie[..served.cookie.len() - 2]] {
        assert_eq!(
            served.raw(&served.request("GET", "/s/0/", &[("Cookie", cookie)])).status,
            403,
            "{cookie}"
        );
    }
}

#[test]
fn a_link_is_good_once() {
    let told = Told::new(3);
    let served = told.serve();
    let path = served.path_of_link();
    for wrong in
        ["/?token=", "/?token=0", &path[..path.len() - 1], &format!("{path}0"), &path.replace("/?", "/s/0/?")]
    {
        assert_eq!(served.raw(&served.request("GET", wrong, &[])).status, 403, "{wrong}");
    }
    // Whoever looks ahead does not use it up.
    assert_eq!(served.raw(&served.request("HEAD", &path, &[])).status, 403);
    let second = served.enter();
    assert_eq!(second, served.cookie);
    let again = served.raw(&served.request("GET", &path, &[]));
    assert_eq!(again.status, 403, "{again:?}");
    assert!(again.body.contains("good once"));
    assert_ne!(served.path_of_link(), path);
    // In the browser that was let in, an old link leads to the page.
    let old = served.ask("GET", &path, &[]);
    assert_eq!((old.status, old.header("location"), old.header("set-cookie")), (303, Some("/"), None));
}

#[test]
fn the_cookie_is_for_this_browser_and_this_site_only() {
    let told = Told::new(3);
    let served = told.serve();
    let answer = served.raw(&served.request("GET", &served.path_of_link(), &[]));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("Domain"));
}

#[test]
fn hosts_origins_and_methods_are_checked_before_anything_else() {
    let told = Told::new(3);
    let served = told.serve();
    for host in ["evil.example", "evil.example:80", "localhost.evil.example", "192.168.0.1", ""] {
        let answer = served.ask("GET", "/s/0/", &[("Host", host)]);
        assert_eq!(answer.status, 421, "{host}: {answer:?}");
        // A link is not used up by a page that guesses it under its own name.
        assert_eq!(served.raw(&served.request("GET", &served.path_of_link(), &[("Host", host)])).status, 421);
    }
    assert!(
        served
            .raw(&format!("GET / HTTP/1.1\r\nCookie: {}\r\nConnection: close\r\n\r\n", served.cookie))
            .status
            >= 400
    );
    assert_eq!(served.ask("GET", "/s/0/", &[("Host", "localhost:9")]).status, 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        assert_eq!(served.ask("GET", "/s/0/", &[("Origin", origin)]).status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(served.ask("GET", "/s/0/part/result", &[("Sec-Fetch-Site", site)]).status, 403, "{site}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND"] {
        let answer = served.ask(method, "/s/0/", &[]);
        assert!(answer.status == 405 || answer.status == 400 || answer.status == 421, "{method}: {answer:?}");
        assert!(answer.header("access-control-allow-origin").is_none());
        if method != "CONNECT" {
            assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
        }
    }
    assert_eq!(served.get("/s/0/").matches("</html>").count(), 1);
}

#[test]
fn paths_lead_nowhere_else() {
    let told = Told::new(3);
    let served = told.serve();
    let tricks = [
        "/../../etc/passwd",
        "/s/0/../../../../etc/passwd",
        "/s/0/trial/../../study.toml",
        "/s/0/%2e%2e/%2e%2e/etc/passwd",
        "/s/0/%252e%252e/%252e%252e/etc/passwd",
        "/s/0/trial/%2e%2e%2fstudy.toml",
        "/s/0/trial/0%00",
        "/s/0/trial/0%0d%0aSet-Cookie:%20a=b",
        "/s/0/trial/-1",
        "/s/0/trial/999999999999999999999",
        "/s/0/trial/77",
        "/s/1/",
        "/s/18446744073709551616/",
        "/s/0/part/../result",
        "/study.toml",
        "/s/0/study.tribo/journal",
        "//s/0/",
        "/s/0/\\..\\",
    ];
    for path in tricks {
        let answer = served.ask("GET", path, &[]);
        assert!(answer.status == 404 || answer.status == 400, "{path}: {answer:?}");
        assert!(!answer.body.contains("study_version") && !answer.body.contains("root:"), "{path}");
        assert!(answer.header("set-cookie").is_none());
    }
    let nul =
        served.raw(&format!("GET /s/0/\0 HTTP/1.1\r\nHost: localhost\r\nCookie: {}\r\n\r\n", served.cookie));
    assert!(nul.status == 400 || nul.status == 0, "{nul:?}");
    // Numbers that are none, or outside, are left out or cut.
    for query in
        ["i0=NaN", "i0=inf", "i0=-1e308", "i0=%00", "i99999=0.5", "i=1", "=&=&&&", "i3=99", "i0=0.5&i0=<b>"]
    {
        let status = served.ask("GET", &format!("/s/0/model/slices?{query}"), &[]).status;
        assert!(status == 200 || status == 400, "{query}: {status}");
    }
    for query in ["page=99999999999999", "page=-1", "order=%3Cscript%3E", "order=best&page=1e9"] {
        let page = served.get(&format!("/s/0/trials?{query}"));
        assert!(page.contains("3 trials") && !page.contains("script%3E"), "{query}");
    }
}

#[test]
fn every_answer_forbids_what_a_page_must_not_do() {
    let told = Told::new(3);
    let served = told.serve();
    let answers = [
        served.ask("GET", "/s/0/", &[]),
        served.ask("GET", "/script.js", &[]),
        served.ask("GET", "/nope", &[]),
        served.ask("POST", "/", &[]),
        served.raw(&served.request("GET", "/", &[])),
        served.raw(&served.request("GET", &served.path_of_link(), &[])),
        served.ask("HEAD", "/s/0/", &[]),
        served.ask("HEAD", "/s/0/events", &[]),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert!(served.ask("HEAD", "/s/0/", &[]).body.is_empty());
}

#[test]
fn a_thousand_connections_keep_nobody_out() {
    raise_limit();
    let told = Told::new(3);
    let served = told.serve();
    let held: Vec<_> = (0..1_000)
        .map(|i| {
            let mut stream = served.connect();
            // Some say nothing, some begin; what was closed for a newer one cannot be written to.
            let _ = if i % 2 == 0 { stream.write_all(b"GET /s/0/ HTTP/1.1\r\nHost: localh") } else { Ok(()) };
            stream
        })
        .collect();
    let begin = Instant::now();
    assert!(served.get("/s/0/").contains("</html>"));
    // A second on a machine that has nothing else to do; the test allows for one that has.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    drop(held);
    assert!(served.get("/s/0/").contains("</html>"));
}

#[test]
fn heads_without_end_are_cut_off() {
    let told = Told::new(3);
    let served = told.serve();
    // One that is long.
    let mut stream = served.connect();
    let _ = stream.write_all(b"GET /s/0/ HTTP/1.1\r\nHost: localhost\r\n");
    let mut sent = 0;
    while sent < (64 << 20) && stream.write_all(&[b'a'; 1 << 12]).is_ok() {
        sent += 1 << 12;
    }
    assert!(sent < (32 << 20), "{sent} bytes of a head were taken");
    // One with very many lines.
    let lines: Vec<(String, &str)> = (0..500).map(|i| (format!("X-{i}"), "1")).collect();
    let lines: Vec<(&str, &str)> = lines.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert!(served.ask("GET", "/s/0/", &lines).status >= 400);
    // One that is never finished.
    let mut slow = served.connect();
    slow.write_all(b"GET /s/0/ HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
    let begin = Instant::now();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(begin.elapsed() < PATIENCE / 2, "{:?}", begin.elapsed());
    assert!(served.get("/s/0/").contains("</html>"));
}

#[test]
fn markup_of_users_and_solvers_is_text_on_every_page() {
    let told = Told::new(30);
    let served = told.serve();
    let mut events = served.events("/s/0/events");
    // With the model: its part says more than that it is being made.
    let begin = Instant::now();
    while served.get("/s/0/part/model").contains("being made") {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = events.write_all(b"");
    let pages = [
        "/s/0/",
        "/s/0/model",
        "/s/0/trials",
        "/s/0/trials?order=failed",
        "/s/0/trial/7",
        "/s/0/trial/7/why",
        "/s/0/machine",
    ];
    for path in pages {
        let page = served.get(path);
        for bad in [
            "<i>",
            "<b>",
            "<u>",
            "<script>",
            "alert(1)</",
            "\u{1b}",
            "\u{202e}",
            " style=",
            "<style",
            " onclick",
            "javascript:",
        ] {
            assert!(!page.contains(bad), "{bad:?} in {path}");
        }
        assert!(page.contains("a &lt;b&gt; &amp; c"), "{path}");
    }
    assert!(served.get("/s/0/trial/7").contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(served.get("/s/0/model").contains("x&lt;i&gt;"));
}

#[test]
fn the_folder_of_a_study_stays_as_it_is() {
    let told = Told::new(25);
    let before = everything(told.folder.path());
    let served = told.serve();
    let _events = served.events("/s/0/events");
    let begin = Instant::now();
    while served.get("/s/0/part/model").contains("being made") {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    for path in
        ["/s/0/", "/s/0/model?i0=0.3", "/s/0/trials", "/s/0/trial/20/why", "/s/0/machine", "/s/0/part/now"]
    {
        served.get(path);
    }
    served.ask("POST", "/s/0/trial/1", &[("Content-Length", "3")]);
    served.ask("DELETE", "/s/0/trial/1", &[]);
    drop(served);
    assert!(everything(told.folder.path()) == before, "something has changed");
}

/// A thousand connections are two thousand files in a test that has both ends.
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = Some(maximum.unwrap_or(4_096).min(4_096));
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}
