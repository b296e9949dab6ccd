//! What is refused whoever asks: a web page of somebody else that makes the reader's browser ask here.
//!
//! Such a page can name this server by its own host name, which it lets point to this machine (so the host is checked before
//! anything else is read: only names that always mean this machine are good), or by ours (then the browser says that the
//! request comes from elsewhere). Comparing origin and host alone would be no check: under the first trick both are the
//! page's. Methods are a list of those that are allowed, not of those that are not.

use hyper::header::{HOST, ORIGIN};
use hyper::{HeaderMap, Method, StatusCode, Uri};

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It names another host.
    Host,
    /// It comes from a page of another one.
    Origin,
    /// It is no reading.
    Method,
    /// It does not bring the cookie, nor a link that is good.
    Stranger,
    /// There is no such page.
    Unknown,
    /// Too many pages are open.
    Crowded,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Origin | Refusal::Stranger => StatusCode::FORBIDDEN,
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Unknown => StatusCode::NOT_FOUND,
            Refusal::Crowded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Refusal::Host => "This page is read as localhost or 127.0.0.1 only.\n",
            Refusal::Origin => "Another page asked for this one. Type or paste its link instead.\n",
            Refusal::Method => "There is nothing to change here: GET and HEAD only.\n",
            Refusal::Stranger => {
                "This page is for whoever started it. Open the link that `tribo dash` printed last: each is good once.\n"
            }
            Refusal::Unknown => "There is no such page.\n",
            Refusal::Crowded => "Too many pages are open; close some.\n",
        }
    }
}

/// Checks where a request goes to, where it comes from, and what it wants.
pub(crate) fn check(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = one(headers, HOST.as_str()).filter(|host| is_local(host)).ok_or(Refusal::Host)?;
    // A request to a proxy names the host twice.
    if uri.authority().is_some_and(|authority| authority.as_str() != host) {
        return Err(Refusal::Host);
    }
    let own = format!("http://{host}");
    if headers.get_all(ORIGIN).iter().any(|origin| origin.as_bytes() != own.as_bytes()) {
        return Err(Refusal::Origin);
    }
    let site = headers.get_all("sec-fetch-site");
    if site.iter().any(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::Origin);
    }
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Refusal::Method),
    }
}

/// The value of a header that is there once.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a host means this machine, whatever a name server says. The port may be that of a tunnel.
fn is_local(host: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|b| b.is_ascii_digit());
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.iter().any(|name| match host.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn checked(method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        check(request.method(), request.uri(), request.headers())
    }

    #[test]
    fn only_names_of_this_machine_are_good() {
        for host in ["localhost", "localhost:1", "127.0.0.1:65535", "[::1]:80", "[::1]"] {
            assert_eq!(checked("GET", "/", &[("host", host)]), Ok(()), "{host}");
        }
        let bad = [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "evil@localhost",
            "localhost:",
            "localhost:+1",
            "localhost:99999",
            "[::1",
            "::1",
            "0.0.0.0",
            "127.0.0.2",
            "localhost:80/",
            "localhost.",
        ];
        for host in bad {
            assert_eq!(checked("GET", "/", &[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(checked("GET", "/", &[]), Err(Refusal::Host));
        assert_eq!(checked("GET", "/", &[("host", "localhost"), ("host", "localhost")]), Err(Refusal::Host));
        assert_eq!(checked("GET", "http://evil.example/", &[("host", "localhost")]), Err(Refusal::Host));
    }

    #[test]
    fn other_pages_and_other_methods_are_refused() {
        let from = |name: &str, value: &str| checked("GET", "/", &[("host", "localhost:8"), (name, value)]);
        assert_eq!(from("origin", "http://localhost:8"), Ok(()));
        for origin in ["http://localhost:9", "https://localhost:8", "http://evil.example", "null", ""] {
            assert_eq!(from("origin", origin), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(from("sec-fetch-site", "same-origin"), Ok(()));
        assert_eq!(from("sec-fetch-site", "none"), Ok(()));
        for site in ["cross-site", "same-site", "what"] {
            assert_eq!(from("sec-fetch-site", site), Err(Refusal::Origin), "{site}");
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"] {
            assert_eq!(checked(method, "/", &[("host", "localhost")]), Err(Refusal::Method), "{method}");
        }
        assert_eq!(checked("HEAD", "/", &[("host", "localhost")]), Ok(()));
    }
}
