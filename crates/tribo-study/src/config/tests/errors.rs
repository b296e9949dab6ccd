//! Bad files: where the complaint points to and what it says.

use super::{COMPLETE, SMALLEST, parse, with};
use crate::Error;
use crate::config::Config;
use crate::config::place::line_and_column;

/// Checks the complaint about a text; the place is where `«` stands, which is not part of the text.
fn complains(marked: &str, words: &[&str]) {
    let at = marked.find('«').expect("a mark");
    let text = marked.replace('«', "");
    let error = parse(&text).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
    assert_eq!((error.line, error.column), line_and_column(&text, at), "{error}\n{marked}");
    for word in words {
        assert!(error.message.contains(word), "`{}` does not say `{word}`", error.message);
    }
}

/// The smallest file with `from` replaced by `to`.
fn changed(from: &str, to: &str, words: &[&str]) {
    assert_eq!(SMALLEST.matches(from).count(), 1, "{from}");
    complains(&SMALLEST.replace(from, to), words);
}

/// The smallest file with lines added.
fn added(lines: &str, words: &[&str]) {
    complains(&with(lines), words);
}

#[test]
fn the_top_of_the_file() {
    complains("«", &["study_version", "study_version = 1"]);
    complains("«# nothing here\n", &["study_version"]);
    changed("study_version = 1", "study_version = «2\nkey_of_version_two = 1", &["is 2", "knows version 1"]);
    changed("study_version = 1", "study_version = «\"1\"", &["the text \"1\"", "study_version = 1"]);
    changed("study_version = 1\n", "«", &["`study_version` is missing"]);
    changed("direction = \"maximize\"", "direction = «\"min\"", &["did you mean \"minimize\"?"]);
    changed("direction = \"maximize\"", "direction = «\"max\"", &["did you mean \"maximize\"?"]);
    changed("direction = \"maximize\"", "direction = «\"up\"", &["\"minimize\" or \"maximize\""]);
    changed("direction = \"maximize\"", "«dircetion = \"maximize\"", &["did you mean `direction`?"]);
    changed("study_version = 1", "study_version = 1\nseed = «-1", &["seed", "0 or more", "seed = 7"]);
    changed("study_version = 1", "study_version = 1\nseed = «9223372036854775808", &["seed"]);
    changed("study_version = 1", "study_version = 1\nseed = «1.5", &["the number 1.5", "whole number"]);
    changed("study_version = 1", "study_version = 1\nname = «\"\"", &["name"]);
    changed(
        "study_version = 1",
        "study_version = 1\n«zzz = 1",
        &["unknown key `zzz`", "its keys are study_version, name"],
    );
    changed("study_version = 1", "study_version = 1\n«workers = 1", &["does not belong to", "key of [run]"]);
    added("«seed = 1", &["does not belong to [budget]", "at the top of the file"]);
}

#[test]
fn outputs() {
    let outputs = |text: &str| {
        SMALLEST
            .replace("direction = \"maximize\"\n", "")
            .replace("[[parameter]]", &format!("{text}[[parameter]]"))
    };
    let output = |name: &str, goal: &str| format!("[[output]]\nname = {name}\ngoal = {goal}\n");
    let (mass, stress) = (output("\"mass\"", "\"minimize\""), output("\"stress\"", "\"record\""));
    complains(
        &format!("«{}", SMALLEST.replace("direction = \"maximize\"\n", "")),
        &["`direction` is missing", "direction = \"minimize\""],
    );
    complains(
        &SMALLEST
            .replace("= \"maximize\"", "= «\"maximize\"")
            .replace("[[parameter]]", &format!("{mass}[[parameter]]")),
        &["with [[output]] remove `direction`"],
    );
    complains(&outputs(&output("\"mass\"", "«\"record\"")), &["no output is optimised", "exactly one"]);
    complains(
        &outputs(&format!("{mass}{}", output("\"s\"", "«\"maximize\""))),
        &["one output is optimised today"],
    );
    complains(
        &outputs(&format!("{mass}{}", output("«\"mass\"", "\"record\""))),
        &["two outputs are called `mass`"],
    );
    complains(&outputs(&output("«\" mass\"", "\"minimize\"")), &["blanks at an end"]);
    complains(&outputs(&output("\"mass\"", "«\"minimise\"")), &["did you mean \"minimize\"?"]);
    complains(&outputs("«[[output]]\nname = \"mass\"\n"), &["`goal` is missing in [[output]]"]);
    let both = outputs(&format!("{mass}{stress}"));
    let stdout = format!("{both}[run]\ncommand = \"./f\"\nresult = \"stdout\"\n");
    complains(&stdout.replace("\"stress\"", "«\"stress\""), &["finds one number", "say where `stress` is"]);
    complains(
        &format!("{both}[run]\ncommand = \"./f\"\nresult = \"stdout\"\n").replace(
            "goal = \"record\"\n",
            "goal = \"record\"\nresult = { from = \"regex\", pattern = «'x' }\n",
        ),
        &["`pattern` has no group"],
    );
    let csv = "[run]\ncommand = \"./f\"\n[run.result]\nfrom = \"csv\"\nfile = \"t.csv\"\n";
    assert!(parse(&format!("{both}{csv}")).is_ok());
    complains(
        &format!("{SMALLEST}{}", csv.replace("[run.result]", "«[run.result]")),
        &["`column` is missing"],
    );
}

#[test]
fn limits() {
    let with_stress = |lines: &str| {
        let outputs = format!(
            "[[output]]\nname = \"mass\"\ngoal = \"minimize\"\n[[output]]\nname = \"stress\"\n{lines}\n"
        );
        SMALLEST
            .replace("direction = \"maximize\"\n", "")
            .replace("[[parameter]]", &format!("{outputs}[[parameter]]"))
    };
    for lines in
        ["at_most = 2", "between = [0, 1.5]", "equals = -4\ntolerance = 0", "goal = \"record\"\nat_least = 0"]
    {
        parse(&with_stress(lines)).unwrap_or_else(|error| panic!("{lines}: {error}"));
    }
    let says = |lines: &str, words: &[&str]| complains(&with_stress(lines), words);
    says("at_most = 2\nequals = «3", &["`stress` has both `at_most` and `equals`", "give one"]);
    says("at_least = 1\nbetween = «[1, 2]", &["both `at_least` and `between`"]);
    says("between = «[2, 1]", &["output `stress`", "at least 2 and at most 1"]);
    says("at_least = 3\nat_most = «2", &["at least 3 and at most 2"]);
    says("between = «[1, 2, 3]", &["the length of `between` is 3", "two numbers"]);
    says("between = [1, «\"2\"]", &["an entry of `between`", "between = [0.9, 1.1]"]);
    says("at_most = «inf", &["not a finite number"]);
    says("goal = \"record\"\ntolerance = «1", &["`stress`", "which has none", "at_most = 200"]);
    says("at_most = 2\ntolerance = «-1", &["of 0 or more"]);
    says("«at_mots = 2", &["did you mean `at_most`?"]);
    complains(
        &with_stress("at_most = 2").replace("goal = \"minimize\"", "goal = «\"minimize\"\nat_most = 3"),
        &["`mass` is optimised", "`mass <= 3`", "`target`"],
    );
    complains(
        &with_stress("«").replace("[[output]]\nname = \"stress\"\n«", "«[[output]]\nname = \"stress\"\n"),
        &["`goal` is missing"],
    );
    let simulated = "[run]\non = «\"simulated\"\n[run.simulated]\nproblem = \"sphere\"\n";
    complains(
        &format!("{}{simulated}", with_stress("at_most = 2")),
        &["one number", "`stress <= 2` could never be met"],
    );
}

#[test]
fn constraints() {
    let says = |lines: &str, words: &[&str]| complains(&format!("{lines}\n{SMALLEST}"), words);
    says("constraints = [\"x <= 1\", \"x + «z <= 1\"]", &["no parameter is called `z`; there are `x`"]);
    says("constraints = [\"x «= 1\"]", &["`=` is no comparison; write `==`"]);
    says("constraints = [\"«value <= 1\"]", &["`value` is an output", "its [[output]]", "at_most = 200"]);
    says(
        "constraints = «[\"x >= 2\"]",
        &["no point within the bounds meets the constraint", "`x >= 2` by 1.0", "widen"],
    );
    says("constraints = [«3]", &["an entry of `constraints`"]);
    says("constraints = «[]", &["`constraints`"]);
    // What is escaped has its place at the text.
    says("constraints = [«\"x \\u003c= q\"]", &["no parameter is called `q`"]);
}

#[test]
fn missing_sections() {
    let without_budget = SMALLEST.replace("[budget]\nevaluations = 10\n", "");
    let run = format!("«{without_budget}[run]\ncommand = \"./f\"\n");
    complains(&run, &["no section [budget]", "evaluations = 200"]);
    // Whoever asks by hand knows when to stop.
    assert!(parse(&without_budget).is_ok());
}

#[test]
fn parameters() {
    complains(
        "«study_version = 1\ndirection = \"minimize\"\nbudget.target = 0\n",
        &["no section [[parameter]]", "type = \"float\" and low = 0.1 and high = 1"],
    );
    changed("low = 0", "low = «1", &["parameter `x`", "low must be below high"]);
    changed("low = 0", "low = «0\nlog = true", &["log scale"]);
    changed("low = 0", "low = «nan", &["`low` is nan, which is not a finite number"]);
    changed("low = 0", "low = «\"0\"", &["the text \"0\"", "a number", "low = 0"]);
    changed("low = 0\nhigh = 1\n", "low = -1.7e308\nhigh = «1.7e308\n", &["wider"]);
    complains(
        &SMALLEST.replace("low = 0\n", "").replace("[[par", "«[[par"),
        &["`low` is missing in [[parameter]]", "low = 0"],
    );
    changed("type = \"float\"", "type = «\"flaot\"", &["did you mean \"float\"?"]);
    changed(
        "type = \"float\"",
        "type = \"int\"\n«choices = [\"a\", \"b\"]",
        &["type = \"categorical\"", "here type = \"int\""],
    );
    changed("name = \"x\"", "name = «\"x[1]\"", &["parameter `x[1]`"]);
    changed("high = 1", "high = 1\nsize = «0", &["`size`", "from 1"]);
    changed("high = 1", "high = 1\nsize = «10000000000", &["`size`"]);
    changed("type = \"float\"\nlow = 0", "type = \"int\"\nlow = «0.5", &["whole number", "low = 1"]);
    changed(
        "type = \"float\"\nlow = 0\nhigh = 1",
        "type = \"categorical\"\nchoices = «[\"a\"]",
        &["is 1;", "2 at least"],
    );
    changed(
        "type = \"float\"\nlow = 0\nhigh = 1",
        "type = \"categorical\"\nchoices = «[\"a\", \"a\"]",
        &["given twice"],
    );
    changed(
        "type = \"float\"\nlow = 0\nhigh = 1",
        "type = \"categorical\"\nchoices = [\"a\", «1]",
        &["an entry of `choices`"],
    );
    added(
        "[[parameter]]\nname = «\"x\"\ntype = \"int\"\nlow = 1\nhigh = 2",
        &["parameter `x`", "used twice"],
    );
    added(
        "«[[parameter]]\nname = \"y\"\ntype = \"int\"\nlow = 1",
        &["`high` is missing in [[parameter]]", "high = 1"],
    );
    added("[[parameter]]\nname = \"y\"\ntype = \"int\"\nlow = «2\nhigh = 1", &["parameter `y`"]);
    let big = "[[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0\nhigh = 1\nsize = «10000000";
    added(big, &["more than 10000000 coordinates"]);
    let single = SMALLEST.replace("[[parameter]]", "«[parameter]");
    complains(&single, &["a section [[parameter]]", "two brackets"]);
    complains(&SMALLEST.replace("[budget]", "«[[budget]]"), &["[budget]", "one bracket"]);
}

#[test]
fn budgets() {
    changed("evaluations = 10", "evaluations = «0", &["from 1"]);
    changed(
        "evaluations = 10",
        "wall_time = «\"1:30\"",
        &["the text \"1:30\"", "\"1d 2h\"", "wall_time = \"12h\""],
    );
    changed("evaluations = 10", "wall_time = «\"1M\"", &["duration"]);
    changed("evaluations = 10", "wall_time = «0", &["duration"]);
    changed("evaluations = 10", "target = «inf", &["target = 1e-3"]);
    changed("evaluations = 10", "target = «\"low\"", &["the text \"low\""]);
    changed(
        "[budget]\nevaluations = 10",
        "«[budget]",
        &["[budget] is empty", "evaluations, wall_time and target"],
    );
}

#[test]
fn strategies() {
    added(
        "[strategy]\n«kernel = \"se\"",
        &["name = \"bo\" and name = \"paper\"", "here name = \"auto\", the default"],
    );
    added("[strategy]\nname = \"random\"\n«warp = true", &["here name = \"random\""]);
    added(
        "[strategy]\nname = \"bo\"\n«signs = true",
        &["embedding = \"hashing\"", "here embedding = \"identity\", the default"],
    );
    added("[strategy]\nname = \"paper\"\n«signs = true", &["here embedding = \"gaussian\", the default"]);
    added("[strategy]\nname = \"bo\"\n«delta = 0.5", &["acquisition = \"ucb\""]);
    added("[strategy]\nname = \"paper\"\ndelta = «1", &["above 0 and below 1"]);
    added(
        "[strategy]\nname = \"paper\"\nmodel_dim = «2",
        &["`model_dim` is 2", "coordinates; write 1 or less"],
    );
    added("[strategy]\nname = \"bo\"\nexploit = «0", &["both 0"]);
    added("[strategy]\nname = \"bo\"\nacquisition = «\"logei\"", &["did you mean \"log_ei\"?"]);
    added("[strategy]\nname = «\"bayes\"", &["\"auto\", \"bo\", \"paper\" or \"random\""]);
    added("[strategy]\nname = \"bo\"\nprocess = \"exact\"\n«inducing = 3", &["process = \"sparse\""]);
    added("[strategy]\nname = \"bo\"\nrefit_growth = «0.5", &["refit_growth"]);
    // The wrong choice is the mistake, not the key that belongs to the right one.
    added("[strategy]\nsigns = true\nname = «\"bo \"", &["did you mean \"bo\"?"]);
}

#[test]
fn runs() {
    added("«[run]\nworkers = 4", &["`command` is missing in [run]", "command = [\"python3\""]);
    // A section that only its inner section makes.
    added("[«run.slurm]\ntime = \"1h\"", &["`command` is missing in [run]"]);
    added("[run]\n«comand = \"./f\"", &["did you mean `command`?"]);
    added("[run]\ncommand = «3", &["the whole number 3", "an array of texts, 1 at least, or a text"]);
    added("[run]\ncommand = «[]", &["is 0;"]);
    added("[run]\ncommand = «\"  \"", &["names no program"]);
    added("[run]\ncommand = [\"./f\", «1]", &["an entry of `command` is the whole number 1"]);
    added("[run]\ncommand = [«\"./f\\u0000\"]", &["command"]);
    added(
        "[run]\ncommand = \"./f\"\nworkers = «\"four\"",
        &["the text \"four\"", "whole number from 1", "workers = 20"],
    );
    added("[run]\ncommand = \"./f\"\ntimeout = «\"soon\"", &["\"soon\"", "duration"]);
    added("[run]\ncommand = \"./f\"\non = «\"slrum\"", &["did you mean \"slurm\"?"]);
    added("[run]\ncommand = \"./f\"\non = «\"simulated\"", &["needs a section [run.simulated]"]);
    added("[run]\ncommand = \"./f\"\nretries = «99", &["from 0 to 34", "[run.retries]"]);
    added("[run]\ncommand = \"./f\"\nretries = «32", &["35 retries"]);
    added("[run]\ncommand = \"./f\"\ncapture = «\"16 megs\"", &["\"16MB\""]);
    added("[run]\ncommand = \"./f\"\nretry_exit_code = «65", &["both 65"]);
    added(
        "[run]\ncommand = \"./f\"\nscratch = \"/x\"\nfetch = «[\"../a\"]",
        &["\"../a\"", "inside `scratch`"],
    );
    added("[run]\ncommand = \"./f\"\n[run.env]\n«TRIBO_X = \"1\"", &["set by tribo"]);
    added("[run]\ncommand = \"./f\"\n[run.env]\nN = «4", &["N = \"4\""]);
    added(
        "[run]\ncommand = \"./f\"\n[[run.deck]]\ntemplate = \"a\"\nto = «\"../a\"",
        &["inside the working directory"],
    );
    added("[run]\ncommand = \"./f\"\n«[[run.deck]]\nto = \"a\"", &["`template` is missing in [[run.deck]]"]);
    let twice = "[run]\ncommand = \"./f\"\n[[run.deck]]\ntemplate = \"d/a\"\n[[run.deck]]\ntemplate = \"b\"\nto = «\"./a\"";
    added(twice, &["two decks"]);
    // What would keep tribo from finding its jobs again.
    for (on, option) in [
        ("pbs", "-N"),
        ("pbs", "-Nwing"),
        ("slurm", "-J"),
        ("slurm", "--job-name=wing"),
        ("slurm", "--array=0-3"),
    ] {
        let lines =
            format!("[run]\ncommand = \"./f\"\non = \"{on}\"\n[run.{on}]\noptions = «[\"{option}\", \"x\"]");
        added(&lines, &["tribo gives itself", option]);
    }
    let short = "[run]\ncommand = \"./f\"\non = \"slurm\"\ntimeout = \"1h\"\n«[run.pilots]\nslots = 2\n[run.slurm]\ntime = \"1h\"";
    added(short, &["too short for even one"]);
    added("[run]\ncommand = \"./f\"\non = \"ssh\"\n«[run.ssh]\nsetup = []", &["`hosts` is missing"]);
    let template = "[run]\ncommand = \"./f\"\non = \"template\"\n";
    added(&format!("{template}«[run.template]\nsubmit = \"sub {{script}}\""), &["has no `id`", "\"lsf\""]);
    added(&format!("{template}[run.template]\npreset = \"lsf\"\nid = «'\\d+'"), &["no group"]);
    added(&format!("{template}[run.template]\npreset = \"lsf\"\njob = «'(?P<id>\\d+)'"), &["(?P<state>...)"]);
    added(&format!("{template}[run.template]\npreset = \"lsf\"\ncancel = «\"bkill\""), &["`{ids}`"]);
    // A section of another runner is checked too.
    added(
        "[run]\ncommand = \"./f\"\n[run.pbs]\n«que = \"q\"",
        &["unknown key `que` in [run.pbs]; did you mean `queue`?"],
    );
}

#[test]
fn results() {
    let result = |lines: &str, words: &[&str]| added(&format!("[run]\ncommand = \"./f\"\n{lines}"), words);
    result("result = «\"regex\"", &["section [run.result]", "from = \"regex\""]);
    result("result = «\"sdtout\"", &["did you mean \"stdout\"?"]);
    result("«[run.result]\nfile = \"a\"", &["`from` is missing in [run.result]"]);
    result("«[run.result]\nfrom = \"regex\"", &["`pattern` is missing"]);
    result("[run.result]\nfrom = \"regex\"\npattern = «\"x = 1\"", &["no group"]);
    result("[run.result]\nfrom = \"regex\"\npattern = «\"x = (\"", &["not a regular expression"]);
    result("[run.result]\nfrom = \"regex\"\npattern = \"(x)\"\noccurrence = «0", &["from 1"]);
    result("«[run.result]\nfrom = \"csv\"\ncolumn = \"x\"", &["`file` is missing"]);
    result("[run.result]\nfrom = \"json\"\n«column = \"x\"", &["from = \"csv\"", "here from = \"json\""]);
    result("[run.result]\nfrom = \"json\"\nfile = «\"/etc/x\"", &["inside the working directory"]);
}

#[test]
fn simulated_problems() {
    let run = "[run]\non = \"simulated\"\n[run.simulated]\n";
    added(&format!("{run}problem = «\"hartman6\""), &["did you mean \"hartmann6\"?"]);
    added(&format!("{run}problem = «\"hartmann6\""), &["exactly 6"]);
    added(&format!("{run}problem = \"levy\"\nduration = «[\"2h\", \"1h\"]"), &["longer time first"]);
    added(&format!("{run}problem = \"levy\"\nduration = «[\"2h\"]"), &["is 1;", "two durations"]);
}

#[test]
fn toml_that_is_none() {
    complains("study_version = 1\ndirection = «minimize\n", &["not TOML"]);
    added("«evaluations = 5\n", &["not TOML", "duplicate key"]);
    complains("study_version = «", &["not TOML"]);
}

#[test]
fn the_first_mistake_is_reported_and_missing_keys_last() {
    // Keys of a table come sorted by name; the file has another order.
    added("[run]\nworkers = «\"many\"\ncommand = 3\n", &["workers"]);
    added("[run]\nworkers = 3\n«comand = \"./f\"\n", &["did you mean `command`?"]);
    complains("«zeta = 1\nalpha = 1\n", &["zeta"]);
}

#[test]
fn columns_count_characters() {
    changed("study_version = 1", "study_version = 1\nname = \"aérodynamique\" «x", &["not TOML"]);
    added("[run]\ncommand = \"./f\"\nenv = { \"é\" = \"µ\", n = «1 }", &["`n` is the whole number 1"]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Config::read(&folder.path().join("none.toml")).unwrap_err();
    assert!(
        missing.to_string().contains("none.toml") && missing.to_string().contains("tribo init"),
        "{missing}"
    );
    assert_eq!(missing.exit_code(), 2);
    let directory = Config::read(folder.path()).unwrap_err();
    assert!(
        directory.to_string().contains("folder") && directory.to_string().contains("tribo init"),
        "{directory}"
    );
    let path = folder.path().join("latin.toml");
    std::fs::write(&path, b"study_version = 1\nname = \"a\xe9ro\"\n").unwrap();
    let Err(Error::Config(error)) = Config::read(&path) else { panic!("accepted") };
    assert_eq!((error.line, error.column), (2, 10));
    assert!(error.to_string().contains("latin.toml:2:10: this is not UTF-8"), "{error}");
    std::fs::write(&path, b"").unwrap();
    let Err(Error::Config(error)) = Config::read(&path) else { panic!("accepted") };
    assert_eq!((error.line, error.column), (1, 1));
    std::fs::write(&path, COMPLETE).unwrap();
    assert_eq!(Config::read(&path).unwrap().name, "wing");
}
