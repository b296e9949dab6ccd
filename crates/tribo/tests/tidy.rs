//! Tidy: rules of the house that the compiler does not know.
//!
//! Each rule is a function from files to complaints (`path:line: what is wrong; what to do`), so that it is tried
//! here on small made-up files that break it, and then on the repository. Files are found by walking the tree,
//! not by asking git, so that the tests also run from an archive.
//!
//! Forbidden words are put together from pieces, or this file would break its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Level of each module of the library. A module uses modules of a smaller level, never of its own; level 0 is
/// open to all. `problems` is on top: nothing uses it but tests.
const LEVELS: [(&str, u32); 16] = [
    ("error", 0),
    ("rng", 0),
    ("linalg", 0),
    ("normal", 0),
    ("opt", 0),
    ("suggest", 0),
    ("space", 1),
    ("trial", 1),
    ("limit", 1),
    ("design", 2),
    ("embed", 2),
    ("surrogate", 3),
    ("acquisition", 4),
    ("strategy", 5),
    ("analysis", 6),
    ("problems", 7),
];
/// Level of each module of `tribo-study`, which goes on where the library ends. Its tests may use any.
const STUDY_LEVELS: [(&str, u32); 27] = [
    ("error", 0),
    ("config", 0),
    ("outputs", 0),
    ("layout", 0),
    ("memory", 0),
    ("waiting", 0),
    ("beside", 0),
    ("pool", 0),
    ("worker", 8),
    ("point", 0),
    ("model_file", 0),
    ("recalled", 0),
    ("tag", 0),
    ("job", 6),
    ("runner", 7),
    ("store", 7),
    ("scheduler", 8),
    ("replay", 8),
    ("report", 9),
    ("table", 10),
    ("owned", 10),
    ("reading", 11),
    ("by_hand", 11),
    ("driver", 11),
    ("repair", 12),
    ("view", 12),
    ("page", 13),
];
/// Edges up: the study file and jobs ask the list of schedulers, so that what one of them is stands in one folder.
const UP: [(&str, &str); 2] = [("config", "scheduler"), ("job", "scheduler")];
/// Modules that use less than their level would allow, and what they may use.
const NARROW: [(&str, &[&str]); 1] = [("problems", &["error", "rng", "linalg", "space", "limit"])];
const LONGEST_FILE: usize = 800;
const BANNED_NAMES: [&str; 5] = ["util", "utils", "misc", "helper", "helpers"];
const BANNED_WORDS: [&str; 4] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
    concat!("should", "_panic"),
];

/// A text file: path relative to the root of the repository, with `/`, and content.
struct File {
    path: String,
    text: String,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|e| e.to_str()).unwrap_or("")
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text file of the repository, in the order of the paths.
fn repository() -> Vec<File> {
    let mut files = Vec::new();
    walk(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.iter().any(|f| f.path == "crates/tribo/tests/tidy.rs"), "the walk did not find this file");
    files
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    // What .gitignore names.
    let skip = |path: &str, name: &str| {
        [".git", "target", "__pycache__", ".venv"].contains(&name) || path == "bench"
    };
    for entry in std::fs::read_dir(directory).expect("readable directory") {
        let entry = entry.expect("readable directory entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if skip(&path, &name) {
            continue;
        }
        if entry.file_type().expect("file type").is_dir() {
            walk(&entry.path(), &path, files);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(File { path, text }); // What is not UTF-8 is not text.
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The identifier at the start of `text`, possibly empty.
fn leading_word(text: &str) -> &str {
    text.split(|c| !is_word(c)).next().unwrap_or("")
}

/// Whether `needle` stands in `text` with no letter, digit or underscore on either side.
fn has_word(text: &str, needle: &str) -> bool {
    text.match_indices(needle)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + needle.len()..].starts_with(is_word))
}

/// The code of a Rust file: `//` comments blanked, lines kept.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Rule (a): the module order of the library and of `tribo-study`.
fn module_order(files: &[File]) -> Vec<String> {
    let mut complaints =
        order_in("crates/tribo/src/", &BTreeMap::from(LEVELS), |used| used == "problems", files);
    complaints.extend(order_in("crates/tribo-study/src/", &BTreeMap::from(STUDY_LEVELS), |_| true, files));
    complaints
}

/// The module order of one crate; `for_tests` says what tests may use besides.
fn order_in(
    source: &str,
    levels: &BTreeMap<&str, u32>,
    for_tests: impl Fn(&str) -> bool,
    files: &[File],
) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        let Some(inside) = file.path.strip_prefix(source) else { continue };
        if inside == "lib.rs" || file.extension() != "rs" {
            continue;
        }
        let module = inside.split('/').next().unwrap_or("").trim_end_matches(".rs");
        let Some(&level) = levels.get(module) else {
            complaints.push(format!(
                "{}:1: module `{module}` has no level; add it to LEVELS in tidy.rs",
                file.path
            ));
            continue;
        };
        let code = without_comments(&file.text);
        let is_test = inside.ends_with("tests.rs") || inside.contains("/tests/");
        let tests_start = if is_test { Some(0) } else { code.find("#[cfg(test)]") };
        for (at, name) in root_paths(&code, inside) {
            let in_tests = tests_start.is_some_and(|start| at >= start);
            let line = 1 + code[..at].matches('\n').count();
            let narrow = NARROW.iter().find(|(m, _)| *m == module).map(|(_, allowed)| *allowed);
            let problem = match levels.get(name.as_str()) {
                _ if name == module || (in_tests && for_tests(&name)) => continue,
                Some(0) => continue,
                Some(_) if narrow.is_some_and(|allowed| allowed.contains(&name.as_str())) => continue,
                Some(_) if narrow.is_some() => format!("`{module}` may use only {:?}", narrow.unwrap_or(&[])),
                Some(&used) if used < level || UP.contains(&(module, name.as_str())) => continue,
                Some(used) => format!("`{module}` (level {level}) must not use `{name}` (level {used})"),
                None if ["Error", "Result"].contains(&name.as_str()) => continue,
                None if name.starts_with(char::is_uppercase) => {
                    format!("`crate::{name}` hides the module it comes from; write the full path")
                }
                None => continue,
            };
            complaints.push(format!("{}:{line}: {problem}; see the order in tidy.rs", file.path));
        }
    }
    complaints
}

/// The names that follow the root of the crate in `code`, with their places: `crate::NAME`, each item of
/// `crate::{…}`, and `super::` repeated up to the root. `inside` is the path below `src/`.
fn root_paths(code: &str, inside: &str) -> Vec<(usize, String)> {
    let depth = inside.matches('/').count() + usize::from(!inside.ends_with("/mod.rs"));
    let tests_start = code.find("#[cfg(test)]").unwrap_or(code.len());
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::").filter(|(at, _)| !code[..*at].ends_with(is_word)) {
        names_after(code, at + "crate::".len(), &mut found);
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("::")) {
        let steps = code[at..].split("::").take_while(|part| *part == "super").count();
        if steps >= depth + usize::from(at >= tests_start) {
            names_after(code, at + steps * "super::".len(), &mut found);
        }
    }
    found
}

/// The name at `at`, or the first names of the items of a `{…}` group there.
fn names_after(code: &str, at: usize, found: &mut Vec<(usize, String)>) {
    let Some(group) = code[at..].strip_prefix('{') else {
        found.push((at, leading_word(&code[at..]).to_owned()));
        return;
    };
    let (mut depth, mut item_starts) = (0, true);
    for (offset, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => return,
            '}' => depth -= 1,
            '{' => depth += 1,
            ',' if depth == 0 => item_starts = true,
            c if c.is_whitespace() => {}
            _ if depth == 0 && item_starts => {
                found.push((at + 1 + offset, leading_word(&group[offset..]).to_owned()));
                item_starts = false;
            }
            _ => {}
        }
    }
}

/// Rules (b) and (c): length of files, names and words that are banned.
fn length_and_words(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        let n_lines = file.text.lines().count();
        if ["rs", "py"].contains(&file.extension()) && n_lines > LONGEST_FILE {
            complaints
                .push(format!("{}:{n_lines}: over {LONGEST_FILE} lines; split it by subject", file.path));
        }
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or("");
            if BANNED_NAMES.contains(&stem) {
                complaints.push(format!("{}:1: `{stem}` says nothing; name what is inside", file.path));
            }
        }
        for (number, line) in file.lines().filter(|_| file.extension() == "rs") {
            for word in BANNED_WORDS.iter().filter(|word| line.contains(**word)) {
                complaints
                    .push(format!("{}:{number}: `{word}` is banned; finish the code or the test", file.path));
            }
        }
    }
    complaints
}

/// Every key cited in code and documents, with its first place: `@key`, `@key, eq. 3` or `@one; @two` in brackets.
fn cited_keys(files: &[File]) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    for file in files.iter().filter(|f| ["rs", "md"].contains(&f.extension())) {
        for (at, _) in file.text.match_indices(concat!("[", "@")) {
            let line = 1 + file.text[..at].matches('\n').count();
            let inside = file.text[at..].split(']').next().unwrap_or("");
            for part in inside.split('@').skip(1) {
                let key: String = part.chars().take_while(|c| is_word(*c) || "-:+".contains(*c)).collect();
                keys.entry(key).or_insert_with(|| format!("{}:{line}", file.path));
            }
        }
    }
    keys
}

/// The keys of a BibTeX file with their lines.
fn bib_keys(bib: &str) -> BTreeMap<String, usize> {
    let entry =
        |line: &str| Some(line.strip_prefix('@')?.split_once('{')?.1.trim().trim_end_matches(',').to_owned());
    bib.lines().enumerate().filter_map(|(i, line)| Some((entry(line)?, i + 1))).collect()
}

/// Rule (d), first half: what is cited exists.
fn citations_resolve(files: &[File], bib: &str) -> Vec<String> {
    let known = bib_keys(bib);
    cited_keys(files)
        .iter()
        .filter(|(key, _)| !known.contains_key(*key))
        .map(|(key, place)| format!("{place}: no entry `{key}` in docs/refs.bib; add it or correct the key"))
        .collect()
}

/// Rule (d), second half: what is listed is cited.
fn references_are_cited(files: &[File], bib: &str) -> Vec<String> {
    let cited = cited_keys(files);
    bib_keys(bib)
        .iter()
        .filter(|(key, _)| !cited.contains_key(*key))
        .map(|(key, line)| format!("docs/refs.bib:{line}: `{key}` is cited nowhere; cite it or remove it"))
        .collect()
}

/// Rule (e): each row of the tables `symbol | code name | shape | meaning` names identifiers that exist in code.
fn notation_is_used(notation: &str, files: &[File]) -> Vec<String> {
    let code: Vec<String> = files
        .iter()
        .filter(|f| {
            f.path.starts_with("crates/") && f.extension() == "rs" && !f.path.ends_with("tests/tidy.rs")
        })
        .map(|f| without_comments(&f.text))
        .collect();
    let words: BTreeSet<&str> = code.iter().flat_map(|text| text.split(|c| !is_word(c))).collect();
    let (mut complaints, mut in_table, mut n_rows) = (Vec::new(), false, 0);
    for (i, line) in notation.lines().enumerate() {
        // `\|` is a bar inside a cell.
        let row = line.trim().replace("\\|", "¦");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        if !row.starts_with('|') {
            in_table = false;
        } else if cells.get(1).is_some_and(|cell| cell.eq_ignore_ascii_case("code name")) {
            in_table = true;
        } else if in_table && !cells[0].chars().all(|c| ":- ".contains(c)) {
            n_rows += 1;
            let names: Vec<&str> =
                cells.get(1).map_or(Vec::new(), |cell| cell.split('`').skip(1).step_by(2).collect());
            if names.is_empty() {
                complaints.push(format!("NOTATION.md:{}: no code name in backticks; add it", i + 1));
            }
            for word in names.iter().flat_map(|name| name.split(|c| !is_word(c))).filter(|w| !w.is_empty()) {
                if !words.contains(word) {
                    complaints
                        .push(format!("NOTATION.md:{}: `{word}` is not in the code; correct the row", i + 1));
                }
            }
        }
    }
    if n_rows == 0 {
        complaints
            .push("NOTATION.md:1: no row in a table `| symbol | code name | shape | meaning |`".to_owned());
    }
    complaints
}

/// Rule (f): no machine paths, no trailing blanks, a newline at the end.
fn clean_text(files: &[File]) -> Vec<String> {
    let homes = [concat!("/", "root/"), concat!("/", "home/"), concat!("/", "Users/")];
    let mut complaints = Vec::new();
    for file in files {
        for (number, line) in file.lines() {
            let machine_path = homes.iter().any(|home| {
                line.match_indices(home).any(|(at, _)| {
                    !line[..at].ends_with(|c| is_word(c) || c == '.')
                        && line[at + home.len()..].starts_with(is_word)
                })
            });
            if machine_path {
                complaints.push(format!("{}:{number}: path of one machine; make it relative", file.path));
            }
            if line.ends_with([' ', '\t']) {
                complaints.push(format!("{}:{number}: blank at the end of the line; remove it", file.path));
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            complaints.push(format!(
                "{}:{}: no newline at the end; add it",
                file.path,
                file.text.lines().count()
            ));
        }
    }
    complaints
}

/// Rule (g): ARCHITECTURE.md names, in backticks or a fenced block, each module directly below a `src/`.
fn architecture_is_complete(architecture: &str, files: &[File]) -> Vec<String> {
    let modules: BTreeSet<(&str, &str)> = files
        .iter()
        .filter_map(|f| {
            let (package, inside) = f.path.strip_prefix("crates/")?.split_once("/src/")?;
            let module = inside.split('/').next()?.trim_end_matches(".rs");
            (f.extension() == "rs" && !["lib", "main"].contains(&module)).then_some((package, module))
        })
        .collect();
    let code: Vec<&str> = architecture.split('`').skip(1).step_by(2).collect();
    modules
        .iter()
        .filter(|(_, module)| !code.iter().any(|span| has_word(span, module)))
        .map(|(package, module)| {
            format!("ARCHITECTURE.md:1: `{module}` of crates/{package} is not on the map; add a line for it")
        })
        .collect()
}

/// The text of a file that must exist at the root.
fn required(files: &[File], path: &str) -> String {
    let file = files.iter().find(|f| f.path == path);
    file.unwrap_or_else(|| panic!("{path}:1: missing; the repository needs it")).text.clone()
}

fn assert_tidy(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} to put right:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn modules_keep_their_order() {
    assert_tidy(&module_order(&repository()));
}

#[test]
fn files_are_short_and_named_for_what_they_hold() {
    assert_tidy(&length_and_words(&repository()));
}

#[test]
fn every_citation_is_in_the_references() {
    let files = repository();
    assert_tidy(&citations_resolve(&files, &required(&files, "docs/refs.bib")));
}

#[test]
fn every_reference_is_cited() {
    let files = repository();
    assert_tidy(&references_are_cited(&files, &required(&files, "docs/refs.bib")));
}

#[test]
fn every_symbol_of_the_notation_is_in_the_code() {
    let files = repository();
    assert_tidy(&notation_is_used(&required(&files, "NOTATION.md"), &files));
}

#[test]
fn text_is_clean() {
    assert_tidy(&clean_text(&repository()));
}

#[test]
fn the_architecture_page_names_every_module() {
    let files = repository();
    assert_tidy(&architecture_is_complete(&required(&files, "ARCHITECTURE.md"), &files));
}

/// The rules themselves, on files made up to keep and to break them.
mod rules {
    use super::*;

    /// Complaints about one library file with this content.
    fn order(path: &str, text: &str) -> Vec<String> {
        module_order(&[File::new(&format!("crates/tribo/src/{path}"), text)])
    }

    #[test]
    fn order_holds_for_all_ways_to_write_a_path() {
        assert!(
            order("surrogate/exact.rs", "use crate::{design::lhs, rng::Stream, Error};\nuse super::kernel;")
                .is_empty()
        );
        assert!(order("design/mod.rs", "// like crate::surrogate\nuse crate::space::Space;").is_empty());
        assert!(
            order("strategy/bo.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::problems::branin; }")
                .is_empty()
        );
        assert!(
            order("surrogate/sparse/tests.rs", "use super::super::kernel;\nuse crate::problems::branin;")
                .is_empty()
        );
        for (path, text, line) in [
            ("design/lhs.rs", "\nuse crate::surrogate::exact;", 2),
            ("design/lhs.rs", "use crate::embed::Hashing;", 1),
            ("linalg/exp.rs", "fn f() { crate::space::encode(); }", 1),
            ("acquisition/ei.rs", "use crate::{\n    error::{Error, Result},\n    strategy::Ask,\n};", 3),
            ("trial.rs", "use super::design;", 1),
            ("design/lhs.rs", "use super::super::surrogate::train;", 1),
            ("strategy/bo.rs", "use crate::problems::branin;", 1),
            ("problems/zdt.rs", "use crate::trial::Trial;", 1),
            ("surrogate/mod.rs", "use crate::BayesianOptimiser;", 1),
            ("novelty.rs", "", 1),
        ] {
            let complaints = order(path, text);
            assert_eq!(complaints.len(), 1, "{path}: {text:?} gave {complaints:?}");
            assert!(complaints[0].starts_with(&format!("crates/tribo/src/{path}:{line}:")), "{complaints:?}");
        }
    }

    #[test]
    fn order_holds_for_studies_too() {
        let order = |path: &str, text: &str| {
            module_order(&[File::new(&format!("crates/tribo-study/src/{path}"), text)])
        };
        assert!(
            order("driver/fill.rs", "use crate::{Error, Result, point};\nuse crate::store::Store;")
                .is_empty()
        );
        assert!(order("store/disk.rs", "#[cfg(test)]\nmod tests { use crate::driver::Driver; }").is_empty());
        assert!(order("config/tests/mod.rs", "use crate::driver::Driver;").is_empty());
        for (path, text) in [
            ("store/disk.rs", "use crate::runner::Runner;"),
            ("config/read/run.rs", "use crate::job::Spec;"),
            ("job/body.rs", "use crate::{layout::Layout, store::Disk};"),
            ("novelty.rs", ""),
        ] {
            assert_eq!(order(path, text).len(), 1, "{path}: {text:?} gave {:?}", order(path, text));
        }
    }

    #[test]
    fn length_names_and_words() {
        let long = "\n".repeat(LONGEST_FILE + 1);
        let files = [
            File::new("a.rs", &long),
            File::new("a.md", &long),
            File::new("src/utils/x.rs", "utils"),
            File::new("b.rs", &format!("fn f() {{\n    {}) }}", BANNED_WORDS[0])),
            File::new("b.md", BANNED_WORDS[3]),
        ];
        let complaints = length_and_words(&files);
        let places: Vec<&str> = complaints.iter().map(|c| c.split(": ").next().unwrap()).collect();
        assert_eq!(places, ["a.rs:801", "src/utils/x.rs:1", "b.rs:2"]);
    }

    #[test]
    fn citations_both_ways() {
        let bib = "@article{one2001,\n  title = {A @ B},\n}\n@book{two2002,\n}\n";
        let cite = |inside: &str| File::new("a.rs", &format!("//! x\n//! see [{inside}] here\n"));
        assert!(citations_resolve(&[cite("@one2001; @two2002, eq. 3")], bib).is_empty());
        assert!(citations_resolve(&[cite("@none2000")], bib)[0].starts_with("a.rs:2: no entry `none2000`"));
        assert!(references_are_cited(&[cite("@one2001; @two2002, eq. 3")], bib).is_empty());
        assert!(references_are_cited(&[cite("@one2001")], bib)[0].starts_with("docs/refs.bib:4: `two2002`"));
    }

    #[test]
    fn notation_rows_name_code() {
        let table = "| symbol | code name | shape | meaning |\n|---|:---:|---|---|\n";
        let code = [File::new("crates/tribo/src/a.rs", "let Kuf = 1; // Kff\nm.n_data()")];
        let check = |rows: &str| notation_is_used(&format!("# N\n\n{table}{rows}"), &code);
        assert!(check("| K\\|x | `Kuf`, `m.n_data` | [m, n] | cross |\n").is_empty());
        assert!(check("| K | `Kff` | [n, n] | in a comment only |\n")[0].starts_with("NOTATION.md:5: `Kff`"));
        assert!(check("| K | Kuf | [m, n] | no backticks |\n")[0].starts_with("NOTATION.md:5: no code name"));
        assert!(check("")[0].starts_with("NOTATION.md:1: no row"));
    }

    #[test]
    fn text_that_is_not_clean() {
        let home = concat!("/", "home/");
        let text = |text: &str| clean_text(&[File::new("a.md", text)]);
        assert!(text(&format!("a home{home}x, ~/x, {home}, ..{home}x\n")).is_empty());
        assert!(text("").is_empty());
        assert!(text(&format!("ok\nsee {home}ann/x\n"))[0].starts_with("a.md:2: path"));
        assert!(text("a \n")[0].starts_with("a.md:1: blank"));
        assert!(text("a\nb")[0].starts_with("a.md:2: no newline"));
    }

    #[test]
    fn architecture_lists_modules() {
        let files = ["lib.rs", "rng.rs", "linalg/exp.rs", "opt/mod.rs"]
            .map(|inside| File::new(&format!("crates/tribo/src/{inside}"), ""));
        let complaints =
            architecture_is_complete("`rng`, optics\n```text\nlinalg/  matrices\n```\nopt, `adopt`", &files);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("`opt` of crates/tribo"));
    }
}
