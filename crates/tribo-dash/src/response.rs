//! Answers: their bodies, and the headers that all of them have.

use crate::guard::Refusal;
use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// What a browser may do with a page: load our own style, script and pictures, ask us, and nothing else. Charts say their
/// colours by classes, so no style has to be allowed inside a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "geolocation=(), camera=(), microphone=()"),
];

/// A body: all there, or pieces as they come.
pub(crate) enum Body {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Bytes>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes: Option<Bytes>| bytes.map(|bytes| Ok(Frame::data(bytes)));
        match self.get_mut() {
            Body::Whole(bytes) => Poll::Ready(frame(bytes.take())),
            Body::Pieces(pieces) => pieces.poll_recv(context).map(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Body::Pieces(_) => SizeHint::default(),
        }
    }
}

/// An answer of this kind.
pub(crate) fn answer(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A text of this kind.
pub(crate) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    answer(status, kind, Body::Whole(Some(text.into())))
}

/// A page.
pub(crate) fn page(html: String) -> Response<Body> {
    text(StatusCode::OK, "text/html; charset=utf-8", html)
}

/// A refusal, in words.
pub(crate) fn refusal(refusal: Refusal) -> Response<Body> {
    let mut response = text(refusal.status(), "text/plain; charset=utf-8", refusal.words());
    if refusal == Refusal::Method {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// Sends the browser to another page.
pub(crate) fn redirect(to: &'static str) -> Response<Body> {
    let mut response = text(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response
}
