//! Which page a path means. Paths are fixed words and numbers, compared as they come: nothing is decoded, nothing is a name of
//! a file, so there is nothing that tricks with dots, percent signs or zero bytes could reach.

/// Parts that are made again as results come, in the order of the overview; the last three are shown elsewhere.
pub(crate) const PARTS: [&str; 12] = [
    "trouble",
    "result",
    "convergence",
    "inputs",
    "model",
    "search",
    "failures",
    "strategy",
    "again",
    "machine",
    "now",
    "card",
];

/// A page of a study, or a piece of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The report, live.
    Overview,
    /// Slices of the model that sliders move.
    Model,
    /// Those slices alone.
    Slices,
    /// A list of trials.
    Trials,
    /// A trial; with the reason why it was proposed, which takes a moment to find.
    Trial { trial: u64, why: bool },
    /// Who works.
    Machine,
    /// One part.
    Part(&'static str),
    /// Which parts have changed.
    Events,
}

/// What a path means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// All studies.
    Index,
    /// Which cards of that page have changed.
    Events,
    /// A page of a study.
    Study(usize, Page),
    Style,
    Script,
    Icon,
}

impl Route {
    /// The route of a path.
    pub(crate) fn of(path: &str) -> Option<Route> {
        match path {
            "/" => return Some(Route::Index),
            "/events" => return Some(Route::Events),
            "/style.css" => return Some(Route::Style),
            "/script.js" => return Some(Route::Script),
            "/icon.svg" => return Some(Route::Icon),
            _ => {}
        }
        let (study, page) = path.strip_prefix("/s/")?.split_once('/')?;
        let page = match page.split('/').collect::<Vec<_>>()[..] {
            [""] => Page::Overview,
            ["model"] => Page::Model,
            ["model", "slices"] => Page::Slices,
            ["trials"] => Page::Trials,
            ["trial", trial] => Page::Trial { trial: number(trial)?, why: false },
            ["trial", trial, "why"] => Page::Trial { trial: number(trial)?, why: true },
            ["machine"] => Page::Machine,
            ["part", name] => Page::Part(PARTS.into_iter().find(|part| *part == name)?),
            ["events"] => Page::Events,
            _ => return None,
        };
        Some(Route::Study(usize::try_from(number(study)?).ok()?, page))
    }
}

/// A number in digits, written in one way only.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

/// What follows the question mark, as names and values. Ours are made of digits, letters and dots, so nothing is decoded.
pub(crate) fn query(text: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    text.unwrap_or("").split('&').filter_map(|pair| pair.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_and_numbers() {
        let study = |page| Some(Route::Study(3, page));
        assert_eq!(Route::of("/"), Some(Route::Index));
        assert_eq!(Route::of("/s/3/"), study(Page::Overview));
        assert_eq!(Route::of("/s/3/trial/17"), study(Page::Trial { trial: 17, why: false }));
        assert_eq!(Route::of("/s/3/trial/0/why"), study(Page::Trial { trial: 0, why: true }));
        assert_eq!(Route::of("/s/3/part/search"), study(Page::Part("search")));
        let none = [
            "",
            "//",
            "/s",
            "/s/",
            "/s/3",
            "/s/-1/",
            "/s/+3/",
            "/s/03/",
            "/s/3//",
            "/s/3/..",
            "/s/3/../3/",
            "/s/%33/",
            "/s/3/trial/",
            "/s/3/trial/1/",
            "/s/3/trial/1e3",
            "/s/3/trial/99999999999999999999",
            "/s/3/part/",
            "/s/3/part/x",
            "/s/3/trial/..%2f",
            "/s/3/trial/%252e%252e",
            "/s/3/trial/1%00",
            "/style.css/",
            "/S/3/",
            "/etc/passwd",
        ];
        for path in none {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }

    #[test]
    fn queries_are_pairs() {
        assert_eq!(query(Some("a=1&b&c=2=3&&=4")).collect::<Vec<_>>(), [("a", "1"), ("c", "2=3"), ("", "4")]);
        assert_eq!(query(None).count(), 0);
    }
}
