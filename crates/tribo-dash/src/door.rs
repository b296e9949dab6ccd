//! Who is let in: whoever brings the link that was printed gets a cookie for it, once. The link is then void, since links
//! stay in histories and logs; another one is made for the next browser.

use hyper::HeaderMap;
use hyper::header::{COOKIE, HeaderValue};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt::Write;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Bytes of a secret: as many as nobody can try.
const SECRET: usize = 16;

/// The door.
pub(crate) struct Door {
    /// What the next link carries.
    token: Mutex<String>,
    /// The cookie. Its name is its own: browsers keep one jar for all ports of a host.
    name: String,
    secret: String,
}

impl Door {
    pub(crate) fn new() -> io::Result<Door> {
        let (token, secret) = (random()?, random()?);
        Ok(Door { token: Mutex::new(token), name: format!("tribo-{}", &random()?[..8]), secret })
    }

    /// What a link carries now.
    pub(crate) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a request comes from someone who was let in.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.name && is_same(value, &self.secret))
    }

    /// The cookie for a token, which is void afterwards; None if it is not the one of the last link.
    pub(crate) fn exchange(&self, token: &str) -> io::Result<Option<HeaderValue>> {
        let mut current = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_same(token, &current) {
            return Ok(None);
        }
        *current = random()?;
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.name, self.secret);
        Ok(HeaderValue::from_str(&cookie).ok())
    }
}

/// A secret in hexadecimal digits.
fn random() -> io::Result<String> {
    let mut bytes = [0; SECRET];
    let mut filled = 0;
    while filled < SECRET {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Whether two texts are the same, in a time that does not tell how much of them is.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookie).unwrap())])
    }

    #[test]
    fn a_token_is_good_once_and_its_cookie_stays_good() {
        let door = Door::new().unwrap();
        let token = door.token();
        assert_eq!(token.len(), 32);
        assert!(door.exchange("").unwrap().is_none() && door.exchange(&token[1..]).unwrap().is_none());
        let cookie = door.exchange(&token).unwrap().unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(door.exchange(&token).unwrap().is_none() && door.token() != token);
        let pair = cookie.split(';').next().unwrap();
        assert!(door.admits(&with(pair)) && door.admits(&with(&format!("other=1; {pair}"))));
        assert!(!door.admits(&HeaderMap::new()) && !door.admits(&with(&pair[..pair.len() - 1])));
        let another = Door::new().unwrap();
        assert!(!another.admits(&with(pair)));
    }
}
