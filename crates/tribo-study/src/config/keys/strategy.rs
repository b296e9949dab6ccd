//! The keys of `[strategy]`: every choice of `tribo::strategy::Settings`.

use super::{Key, Range, Section, Type, key, table};

/// A condition on other keys.
type When = &'static [(&'static str, &'static [&'static str])];

const MODEL: (&str, &[&str]) = ("name", &["bo", "paper"]);
const AUTO: When = &[("name", &["auto"])];
const ANY: When = &[MODEL];
const EMBEDDED: When = &[MODEL, ("embedding", &["gaussian", "hashing"])];
const GAUSSIAN: When = &[MODEL, ("embedding", &["gaussian"])];
const HASHING: When = &[MODEL, ("embedding", &["hashing"])];
const SPARSE: When = &[MODEL, ("process", &["sparse"])];
const PITC: When = &[MODEL, ("process", &["sparse"]), ("approximation", &["pitc"])];
const UCB: When = &[MODEL, ("acquisition", &["ucb"])];
const GRADIENT: When = &[MODEL, ("maximizer", &["gradient"])];
const CMAES: When = &[MODEL, ("maximizer", &["cmaes"])];

/// (0, 1], a part of the side of the box.
const FRACTION: Range = Range { low: 0.0, high: 1.0, open: (true, false) };
const PROBABILITY: Range = Range { low: 0.0, high: 1.0, open: (true, true) };
const GROWTH: Range = Range { low: 1.0, high: 1e6, open: (false, false) };

const fn count(name: &'static str, low: i64, high: i64, example: &'static str, doc: &'static str) -> Key {
    key(name, Type::Integer { low, high }, example, doc).when(ANY)
}

const fn choice(
    name: &'static str,
    choices: &'static [&'static str],
    example: &'static str,
    doc: &'static str,
) -> Key {
    key(name, Type::Choice(choices), example, doc).when(ANY)
}

const fn flag(name: &'static str, example: &'static str, doc: &'static str) -> Key {
    key(name, Type::Flag, example, doc).when(ANY)
}

pub(in crate::config) static STRATEGY: Section = table(
    "strategy",
    "How points are chosen. `random` has no further keys; `bo` and `paper` have the same keys with different defaults.",
    &[
        choice(
            "name",
            &["auto", "bo", "paper", "random"],
            "\"bo\"",
            "Find the inputs that matter and optimise those (`bo` where inputs are few), classical Bayesian \
             optimisation, the paper's method, or uniform points.",
        )
        .or("\"auto\"")
        .when(&[]),
        flag("screen", "false", "Whether to look for the inputs that matter, where there are many.")
            .or("true")
            .when(AUTO),
        key(
            "active",
            Type::List { of: &Type::Text, least: 1, most: 100_000 },
            "[\"x\"]",
            "The inputs that matter, if you know: nothing is looked for, and the others stay where they are.",
        )
        .when(AUTO),
        choice(
            "embedding",
            &["identity", "gaussian", "hashing"],
            "\"hashing\"",
            "How the few coordinates of the model become inputs.",
        )
        .by_strategy("\"identity\"", "\"gaussian\""),
        count("model_dim", 1, 10_000_000, "1", "Coordinates of the model, at most the number of inputs.")
            .or_prose("10, or the number of inputs if that is less")
            .when(EMBEDDED),
        key(
            "half_width",
            Type::Number(Range::POSITIVE),
            "1.0",
            "How far the random map reaches before inputs are clipped; larger clips less and \
             leaves corners out of reach.",
        )
        .or("1.0")
        .when(GAUSSIAN),
        flag("signs", "false", "Whether an input copies its coordinate or, half of the time, its negative.")
            .or("true")
            .when(HASHING),
        count("embeddings", 1, 1_000_000, "4", "Independent embeddings, each with its own model.").or("1"),
        count("initial", 1, 1_000_000_000, "12", "Points of the initial design of each embedding.").or_prose(
            "bo: three times the model dimension, between 4 and 20; paper: the model dimension, \
             at least 2",
        ),
        choice("design", &["sobol", "uniform"], "\"sobol\"", "How initial points are placed.")
            .by_strategy("\"sobol\"", "\"uniform\""),
        choice(
            "kernel",
            &["matern12", "matern32", "matern52", "se"],
            "\"matern52\"",
            "Shape of the kernel, roughest first.",
        )
        .by_strategy("\"matern52\"", "\"matern32\""),
        flag("ard", "true", "One length scale for each coordinate instead of one for all.")
            .by_strategy("true", "false"),
        flag("priors", "true", "Weak priors on the hyper-parameters instead of maximum likelihood.")
            .by_strategy("true", "false"),
        choice(
            "process",
            &["exact", "sparse"],
            "\"exact\"",
            "Exact at any size, or sparse with more than `exact_until` results.",
        )
        .or("\"sparse\""),
        count("exact_until", 0, 100_000, "500", "Results up to which the exact process is used.")
            .by_strategy("1000", "400")
            .when(SPARSE),
        count("inducing", 1, 100_000, "200", "Inducing points at most.")
            .by_strategy("300", "400")
            .when(SPARSE),
        choice(
            "inducing_points",
            &["latin_hypercube", "subset", "greedy"],
            "\"greedy\"",
            "Where inducing points come from.",
        )
        .by_strategy("\"greedy\"", "\"latin_hypercube\"")
        .when(SPARSE),
        choice(
            "approximation",
            &["sor", "dtc", "fic", "pitc"],
            "\"fic\"",
            "How the sparse process approximates the prior.",
        )
        .or("\"fic\"")
        .when(SPARSE),
        count("group", 1, 1024, "32", "Neighbours whose covariance PITC keeps exact.").or("32").when(PITC),
        choice(
            "objective",
            &["bound", "marginal"],
            "\"bound\"",
            "What training of the sparse process maximises.",
        )
        .or("\"bound\"")
        .when(SPARSE),
        choice(
            "acquisition",
            &["log_ei", "ei", "pi", "ucb", "kg", "portfolio"],
            "\"ucb\"",
            "What a proposal that exploits maximises; a `portfolio` follows `log_ei`, `ucb` or `pi`, more often the one whose points were better so far.",
        )
        .by_strategy("\"log_ei\"", "\"ucb\""),
        key(
            "delta",
            Type::Number(PROBABILITY),
            "0.95",
            "The probability in the confidence bound; smaller explores more.",
        )
        .or("0.95")
        .when(UCB),
        choice("maximizer", &["gradient", "cmaes"], "\"gradient\"", "How the acquisition is maximised.")
            .by_strategy("\"gradient\"", "\"cmaes\""),
        count(
            "maximizer_evaluations",
            1,
            1_000_000_000,
            "1000",
            "Points at which the acquisition is evaluated at most, for one proposal.",
        )
        .or_prose("1000 with gradient, 500 with cmaes"),
        count("candidates", 1, 1_000_000, "256", "Raw candidates of the search.").or("256").when(GRADIENT),
        count("starts", 0, 1_000_000, "8", "Candidates that are refined.").or("8").when(GRADIENT),
        count("rounds", 0, 1_000_000, "16", "Rounds of refinement at most.").or("16").when(GRADIENT),
        key(
            "spread",
            Type::Number(FRACTION),
            "0.1",
            "Largest standard deviation of the moves around the best points, in sides of the box.",
        )
        .or("0.1")
        .when(GRADIENT),
        key(
            "sigma",
            Type::Number(FRACTION),
            "0.3",
            "First standard deviation of CMA-ES, in sides of the box.",
        )
        .or_prose("1/3")
        .when(CMAES),
        count("population", 4, 1_000_000, "12", "Points of a generation of CMA-ES.")
            .or_prose("4 + 3 ln d, rounded down, with d the model dimension")
            .when(CMAES),
        count(
            "exploit",
            0,
            1_000_000,
            "16",
            "Evaluations under way that maximise the acquisition before any explores.",
        )
        .or_prose("no limit"),
        count(
            "explore",
            0,
            1_000_000,
            "4",
            "Evaluations under way that maximise the variance instead, at most.",
        )
        .or("0"),
        count(
            "border",
            0,
            1_000_000,
            "2",
            "Under limits, evaluations under way that learn where they begin to be met, at most; never more than a third.",
        )
        .or("0"),
        count(
            "refit_always_until",
            0,
            1_000_000_000,
            "200",
            "Results up to which hyper-parameters are fitted anew whenever results arrive.",
        )
        .by_strategy("200", "50"),
        key(
            "refit_growth",
            Type::Number(GROWTH),
            "1.05",
            "Beyond, they are fitted when the number of results has grown by this factor.",
        )
        .or("1.05")
        .when(ANY),
        flag(
            "trust_region",
            "false",
            "Whether the search stays in a box around the best point that shrinks while nothing \
             improves.",
        )
        .by_strategy("true", "false"),
        flag(
            "warp",
            "true",
            "Whether heavy-tailed values are seen through a logarithm when the evidence favours it.",
        )
        .or("true"),
    ],
);
