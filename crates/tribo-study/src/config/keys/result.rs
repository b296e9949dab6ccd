//! Where a number of the answer is found: the keys of `[run.result]` and of `[output.result]`.

use super::{Key, Section, Type, key, table};

const OCCURRENCE: Type =
    Type::Either(&[Type::Choice(&["only", "first", "last"]), Type::Integer { low: 1, high: 1_000_000_000 }]);

pub(super) static RESULT: Section = table(
    "run.result",
    "Where the answer is, where a word is not enough. With `[[output]]`, what is said of one number (`key`, `response`, \
             `pattern`, `column`) is said of the one that is optimised.",
    KEYS,
);

pub(super) static OUTPUT_RESULT: Section = table(
    "output.result",
    "Where one output is, if it is not where `result` of `[run]` says. Stands below its `[[output]]`.",
    KEYS,
);

const KEYS: &[Key] = &[
    key(
        "from",
        Type::Choice(&["json", "dakota", "stdout", "regex", "csv"]),
        "\"regex\"",
        "What it is found in.",
    )
    .required(),
    key("file", Type::File, "\"run.log\"", "The file, in the working directory; needed for `csv`.")
        .or_prose("`result.json`, `results.out`; standard output for `regex`")
        .when(&[("from", &["json", "dakota", "regex", "csv"])]),
    key("key", Type::Text, "\"drag\"", "The member of the JSON object that is the number.")
        .or_prose("the name of the output; `objective` without `[[output]]`")
        .when(&[("from", &["json"])]),
    key(
        "response",
        Type::Either(&[Type::Integer { low: 1, high: 10_000 }, Type::Text]),
        "2",
        "Which response of Dakota's results file: its number from 1, or its descriptor.",
    )
    .or_prose("the one with the name of the output, else by the order of the outputs; the only one without `[[output]]`")
    .when(&[("from", &["dakota"])]),
    key("pattern", Type::Text, "'drag = (\\S+)'", "A regular expression whose first group is the number.")
        .required()
        .when(&[("from", &["regex"])]),
    key(
        "occurrence",
        OCCURRENCE,
        "\"last\"",
        "Which match counts: the only one, the first, the last, or the n-th.",
    )
    .or("\"only\"")
    .when(&[("from", &["regex"])]),
    key("column", Type::Text, "\"drag\"", "The name of the column in the first line.")
        .or_prose("the name of the output; needed without `[[output]]`")
        .when(&[("from", &["csv"])]),
    key("row", OCCURRENCE, "\"last\"", "Which row counts: the only one, the first, the last, or the n-th.")
        .or("\"only\"")
        .when(&[("from", &["csv"])]),
];
