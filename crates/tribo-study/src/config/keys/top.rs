//! The keys at the top of the file, `[[output]]`, `[[parameter]]` and `[budget]`.

use super::result::OUTPUT_RESULT;
use super::run::RUN;
use super::strategy::STRATEGY;
use super::{Range, Section, Type, key, section, table};
use crate::config::STUDY_VERSION;

const NUMERIC: &[(&str, &[&str])] = &[("type", &["float", "int"])];
const CATEGORICAL: &[(&str, &[&str])] = &[("type", &["categorical"])];
/// Elements of one vector at most: 80 MB for one point.
const MOST_ELEMENTS: i64 = 10_000_000;

pub(in crate::config) static ROOT: Section = table(
    "",
    "What is optimised. These keys stand above the first section.",
    &[
        key(
            "study_version",
            Type::Integer { low: 1, high: STUDY_VERSION as i64 },
            "1",
            "The version of study files this one is written for.",
        )
        .required(),
        key("name", Type::Text, "\"wing\"", "What the study is called in listings and reports.")
            .or_prose("the name of the file, without `.toml`"),
        key(
            "direction",
            Type::Choice(&["minimize", "maximize"]),
            "\"minimize\"",
            "Whether smaller or larger values are better: the short form for one output called `value`, needed unless there is \
             an `[[output]]`.",
        ),
        key(
            "seed",
            Type::Integer { low: 0, high: i64::MAX },
            "7",
            "Decides every random draw: the same seed and the same results give the same points.",
        )
        .or("0"),
        key(
            "constraints",
            Type::List { of: &Type::Text, least: 1, most: 1_000 },
            "[\"x + y <= 1\"]",
            "What is known to hold between parameters, so that every proposed point meets it: numbers, names (`v[0]` of a vector), `+ - * / ^`, parentheses, `sqrt exp log abs sin cos tan min max sum` and `pi`, compared by `<= < >= >` or, between integers, `==`; limits on outputs stand in `[[output]]`.",
        ),
        key(
            "readable_by",
            Type::Choice(&["owner", "group", "everyone"]),
            "\"group\"",
            "Who may read the store with all results; nobody but you can write to it.",
        )
        .or("\"owner\""),
        key(
            "report",
            Type::Flag,
            "false",
            "Whether a run that is over writes its report, a page beside this file with the ending `.html`.",
        )
        .or("true"),
        section("output", Type::Tables(&OUTPUT, 1), "The numbers an evaluation gives, one section each."),
        section("parameter", Type::Tables(&PARAMETER, 1), "The inputs, one section each.").required(),
        section("strategy", Type::Table(&STRATEGY), "How points are chosen."),
        section("budget", Type::Table(&BUDGET), "When the study is over; needed with `[run]`."),
        section(
            "run",
            Type::Table(&RUN),
            "How a point is evaluated, and where; not needed if the study is driven by `tribo \
             ask` and `tribo tell`.",
        ),
    ],
);

pub(in crate::config) static OUTPUT: Section = table(
    "output",
    "A number that an evaluation gives. One section for each; exactly one has the goal to be minimized or maximized, and others may \
     have limits.",
    &[
        key("name", Type::Text, "\"mass\"", "What it is called in answers and tables.").required(),
        key(
            "goal",
            Type::Choice(&["minimize", "maximize", "record"]),
            "\"minimize\"",
            "Whether it is optimised, or only written down; an evaluation without it counts then all the same.",
        )
        .or_prose("needed, but for an output with a limit, which is `\"record\"`"),
        key("at_most", Type::Number(Range::ANY), "200", "A limit that the output must not be above."),
        key("at_least", Type::Number(Range::ANY), "0.9", "A limit that the output must not be below."),
        key(
            "between",
            Type::List { of: &Type::Number(Range::ANY), least: 2, most: 2 },
            "[0.9, 1.1]",
            "Two limits, the lower one first.",
        ),
        key("equals", Type::Number(Range::ANY), "4", "The one value that the output must have."),
        key(
            "tolerance",
            Type::Number(Range { low: 0.0, high: f64::INFINITY, open: (false, false) }),
            "0.01",
            "How far beyond its limit the output may be and still meet it, in its own units.",
        )
        .or_prose("a millionth of the larger limit, or 1e-6 if that is 0; with `equals` 100 times as much"),
        section(
            "result",
            Type::Table(&OUTPUT_RESULT),
            "Where it is found, if not where `result` of `[run]` says, under its name.",
        ),
    ],
);

pub(in crate::config) static PARAMETER: Section = table(
    "parameter",
    "An input, or a vector of inputs. One section for each.",
    &[
        key(
            "name",
            Type::Text,
            "\"x\"",
            "What it is called in parameter files, decks and tables; without `[`, `]` and `=`.",
        )
        .required(),
        key(
            "type",
            Type::Choice(&["float", "int", "categorical"]),
            "\"float\"",
            "A number, a whole number, or one of several names.",
        )
        .required(),
        key("low", Type::Number(Range::ANY), "0.1", "The smallest value, included.").required().when(NUMERIC),
        key("high", Type::Number(Range::ANY), "1", "The largest value, included.").required().when(NUMERIC),
        key("log", Type::Flag, "true", "Whether it is searched in its logarithm; needs `low` above 0.")
            .or("false")
            .when(NUMERIC),
        key(
            "choices",
            Type::List { of: &Type::Text, least: 2, most: usize::MAX },
            "[\"steel\", \"glass\"]",
            "The names to choose from.",
        )
        .required()
        .when(CATEGORICAL),
        key(
            "size",
            Type::Integer { low: 1, high: MOST_ELEMENTS },
            "10000",
            "Makes it a vector of this many elements, each with these bounds.",
        )
        .or_prose("a single value"),
        key(
            "earlier",
            Type::Either(&[Type::Number(Range::ANY), Type::Text]),
            "0.3",
            "For a parameter that is added to a study: the value that it had in the evaluations made before.",
        ),
        key(
            "unused",
            Type::Flag,
            "true",
            "It is meant that no deck, command or script uses it: `check` and `run` do not complain.",
        )
        .or("false"),
    ],
);

static BUDGET: Section = Section {
    path: "budget",
    doc: "When the study is over: whatever comes first. At least one key is needed.",
    keys: &[
        // Job names have room for 36^5 trials.
        key(
            "evaluations",
            Type::Integer { low: 1, high: 60_000_000 },
            "200",
            "Trials, failed ones included.",
        ),
        key("wall_time", Type::Duration, "\"12h\"", "Time since the study was first run."),
        key("target", Type::Number(Range::ANY), "1e-3", "A value that is good enough."),
    ],
    least: 1,
};
