//! The keys of `[run]` and the sections inside it.

use super::result::RESULT;
use super::{Key, Section, Type, key, section, table};
use crate::scheduler;

const LINES: Type = Type::List { of: &Type::Text, least: 0, most: usize::MAX };
/// Attempts after the first: a job name has room for 35 attempts.
const RETRY: Type = Type::Integer { low: 0, high: 34 };
const EXIT_CODE: Type = Type::Integer { low: 1, high: 255 };

pub(super) static RUN: Section = table(
    "run",
    "How a point is evaluated, and where. A section for another runner than `on` names is \
             checked and left alone, so that one file can switch.",
    &KEYS,
);

const N_SCHEDULERS: usize = scheduler::ALL.len();

/// Where evaluations run.
static PLACES: [&str; N_SCHEDULERS + 3] = {
    let mut places = ["local"; N_SCHEDULERS + 3];
    let mut n = 0;
    while n < N_SCHEDULERS {
        places[n + 1] = scheduler::ALL[n].name;
        n += 1;
    }
    places[N_SCHEDULERS + 1] = "workers";
    places[N_SCHEDULERS + 2] = "simulated";
    places
};

/// The keys of `[run]`: its own, a section for each scheduler, and that of the test problems.
static KEYS: [Key; OWN.len() + N_SCHEDULERS + 1] = {
    let simulated =
        section("simulated", Type::Table(&SIMULATED), "The test problem of `on = \"simulated\"`.");
    let mut keys = [simulated; OWN.len() + N_SCHEDULERS + 1];
    let mut n = 0;
    while n < OWN.len() {
        keys[n] = OWN[n];
        n += 1;
    }
    while n < OWN.len() + N_SCHEDULERS {
        let scheduler = &scheduler::ALL[n - OWN.len()];
        keys[n] = section(scheduler.name, Type::Table(scheduler.section), scheduler.doc);
        n += 1;
    }
    keys
};

static RETRIES_TYPES: [Type; 2] = [RETRY, Type::Table(&RETRIES)];
static RESULT_TYPES: [Type; 2] = [Type::Choice(&["json", "dakota", "stdout"]), Type::Table(&RESULT)];

const OWN: &[Key] = &[
    key(
        "on",
        Type::Choice(&PLACES),
        "\"local\"",
        "Where evaluations run: this machine, a queue, `tribo worker` wherever it is started, or a \
         built-in test problem on a virtual clock.",
    )
    .or("\"local\""),
    key("workers", Type::Integer { low: 1, high: 100_000 }, "20", "Evaluations under way at once.").or("1"),
    key(
        "command",
        Type::Either(&[Type::List { of: &Type::Word, least: 1, most: usize::MAX }, Type::Text]),
        "[\"python3\", \"simulate.py\", \"{params}\", \"{result}\"]",
        "Program and arguments, or one line for `sh -c`; `{params}`, `{result}`, `{dir}`, \
         `{trial}` and `{attempt}` are filled in. Needed unless `on = \"simulated\"`.",
    ),
    key("timeout", Type::Duration, "\"30m\"", "Longest time one evaluation may take.").or_prose("no limit"),
    key(
        "warning",
        Type::Duration,
        "\"5m\"",
        "How long before its time limit, the study's or the scheduler's, the command and all it started are sent SIGUSR1, to \
         save what they have; what does not expect it ends.",
    )
    .or_prose("no signal"),
    key(
        "retries",
        Type::Either(&RETRIES_TYPES),
        "2",
        "How often an evaluation is tried again: after it asked for it (a number), or by what \
         went wrong (a section).",
    )
    .or_prose("see `[run.retries]`"),
    key(
        "retry_delay",
        Type::Duration,
        "\"5m\"",
        "How long an evaluation that asked to be tried again waits; twice as long each further time, \
         ten minutes at most unless this is more, give or take a fifth.",
    )
    .or("\"30s\""),
    key(
        "params",
        Type::Choice(&["json", "dakota", "aprepro"]),
        "\"json\"",
        "How the command gets its parameters: `params.json`, or one of Dakota's formats.",
    )
    .or("\"json\""),
    key(
        "result",
        Type::Either(&RESULT_TYPES),
        "\"stdout\"",
        "Where the answer is: `result.json`, Dakota's `results.out`, the last number on \
         standard output, or a section.",
    )
    .or_prose("`\"dakota\"` if `params` is `\"dakota\"` or `\"aprepro\"`, else `\"json\"`"),
    key(
        "ahead",
        Type::Integer { low: 0, high: 100_000 },
        "10",
        "Evaluations offered to pilots and workers beyond `workers`, so that none waits for the next; \
         each is proposed with less known.",
    )
    .or("0"),
    section(
        "pilots",
        Type::Table(&PILOTS),
        "Jobs of the scheduler that each run many evaluations, one after the other.",
    ),
    section("deck", Type::Tables(&DECK, 0), "Input decks to fill in, one section each."),
    key(
        "copy",
        LINES,
        "[\"mesh.dat\"]",
        "Files and folders of the study folder to copy into the working directory.",
    )
    .or("[]"),
    key("link", LINES, "[\"tables\"]", "Files and folders of the study folder to link there.").or("[]"),
    key(
        "scratch",
        Type::Text,
        "\"$TMPDIR\"",
        "A folder on a disk of the machine that evaluates, with variables of its environment: the command works in a folder of \
         its own there, which gets copies, links and decks and is removed afterwards.",
    )
    .or_prose("the working directory is in the store"),
    key(
        "fetch",
        LINES,
        "[\"fields\", \"solver.log\"]",
        "Files and folders that are copied back from `scratch`, besides the answer; without `scratch` all stays where it is.",
    )
    .or_prose("all that the command made or changed there"),
    key("env", Type::Names, "{ OMP_NUM_THREADS = \"4\" }", "Additions to the environment.").or("{}"),
    key(
        "keep",
        Type::Choice(&["all", "failed", "none"]),
        "\"failed\"",
        "Which working directories stay: all, those of evaluations without a value, or none.",
    )
    .or("\"all\""),
    key(
        "capture",
        Type::Size,
        "\"1MB\"",
        "How much of standard output, and of standard error, is kept from the start; a \
         sixteenth of it from the end.",
    )
    .or("\"16MB\""),
    key("retry_exit_code", EXIT_CODE, "75", "The exit code that means: try again later.").or("75"),
    key("infeasible_exit_code", EXIT_CODE, "65", "The exit code that means: this point is not allowed.")
        .or("65"),
];

static RETRIES: Section = table(
    "run.retries",
    "Attempts after the first, by what went wrong; 34 in all at most.",
    &[
        key("transient", RETRY, "5", "The command asked for it with `retry_exit_code`.").or("5"),
        key(
            "infrastructure",
            RETRY,
            "3",
            "The job was lost; preempted jobs and those of a failed node are tried again anyway.",
        )
        .or("3"),
        key("failed", RETRY, "1", "The command failed.").or("0"),
        key("timeout", RETRY, "1", "It ran into a time limit.").or("0"),
        key("memory", RETRY, "1", "It ran out of memory.").or("0"),
    ],
);

static PILOTS: Section = table(
    "run.pilots",
    "With this section a job of the scheduler is a pilot: it runs one evaluation after the other for as long as its time \
     allows. For evaluations that are short beside the time in the queue.",
    &[
        key("slots", Type::Integer { low: 1, high: 10_000 }, "8", "Evaluations at once in one pilot.")
            .or("1"),
        key("idle", Type::Duration, "\"2m\"", "How long a pilot stays when there is nothing to do.")
            .or("\"5m\""),
    ],
);

static DECK: Section = table(
    "run.deck",
    "An input deck with `{{name}}` or `{{name | %12.5e}}` where parameters go. One \
             section for each.",
    &[
        key("template", Type::Text, "\"wing.in.template\"", "The template, in the study folder.").required(),
        key("to", Type::File, "\"wing.in\"", "The name it gets in the working directory.")
            .or_prose("the template's name"),
        key("open", Type::Text, "\"<<\"", "What opens a field.").or("\"{{\""),
        key("close", Type::Text, "\">>\"", "What closes a field.").or("\"}}\""),
    ],
);

static SIMULATED: Section = table(
    "run.simulated",
    "A built-in test problem and how long it pretends to take, on a virtual clock.",
    &[
        key(
            "problem",
            Type::Choice(&tribo::problems::NAMES),
            "\"sphere\"",
            "Its name; the parameters must be as many numbers as it has inputs.",
        )
        .required(),
        key(
            "duration",
            Type::Either(&[Type::Duration, Type::List { of: &Type::Duration, least: 2, most: 2 }]),
            "[\"10m\", \"2h\"]",
            "How long one evaluation takes, or the shortest and the longest time.",
        )
        .or("[\"30m\", \"90m\"]"),
    ],
);
