//! A study file from one command line with ranges in it:
//! `./sim --x={x:0..1} --y={y:1e-3..1:log} --n={n:1..9:int} --m={m:a,b,c}`.
//!
//! Each `{name:range}` becomes a parameter, and in the command the environment variable that has its value. The command is
//! for `sh -c`, so that variables are filled in; its answer is the last number on standard output. Files of the study
//! folder that the line names are linked into the working directory, where the command runs.

use std::path::Path;

/// A parameter found in the line.
#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    name: String,
    keys: String,
}

/// Where in the quotes of a shell a character stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// The text of the study file. `folder` is where it will be: files there that the line names are linked.
pub(crate) fn study_file(line: &str, folder: &Path) -> Result<String, String> {
    let (command, parameters) = scan(line)?;
    if parameters.is_empty() {
        return Err(
            "the line has no parameter; write one as {x:0..1}, {n:1..9:int}, {y:1e-3..1:log} or {m:a,b,c}"
                .to_owned(),
        );
    }
    let sections: String = parameters
        .iter()
        .map(|one| format!("\n[[parameter]]\nname = {}\n{}", quoted(&one.name), one.keys))
        .collect();
    let linked = linked(line, folder);
    let link = match linked.is_empty() {
        true => String::new(),
        false => {
            let files: Vec<String> = linked.iter().map(|file| quoted(file)).collect();
            format!(
                "# Files beside this one that the command needs in its working directory.\nlink = [{}]\n",
                files.join(", ")
            )
        }
    };
    Ok(format!(
        "# Made from: {}\n\
         # Check it with `tribo check`, which runs one evaluation, then start it with `tribo run`.\n\
         study_version = 1\n\
         # minimize or maximize the number that the command prints last\n\
         direction = \"minimize\"\n\
         seed = 1\n\
         {sections}\n\
         [budget]\n\
         evaluations = {}\n\
         \n\
         [run]\n\
         workers = 1\n\
         # Parameters are in the environment; `{{params}}` would be the path of a JSON file with them.\n\
         command = {}\n\
         {link}\
         result = \"stdout\"\n\
         # timeout = \"30m\"\n",
        line.replace(['\n', '\r'], " "),
        (20 * parameters.len()).clamp(40, 200),
        quoted(&command),
    ))
}

/// The command with variables in it, and the parameters.
fn scan(line: &str) -> Result<(String, Vec<Parameter>), String> {
    let (mut command, mut parameters) = (String::new(), Vec::<Parameter>::new());
    let mut quotes = Quotes::None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let field =
            rest.strip_prefix('{').and_then(|inside| inside.split_once('}')).and_then(|(field, after)| {
                let (name, range) = field.split_once(':')?;
                Some((name, range, after))
            });
        if let Some((name, range, after)) = field {
            if quotes == Quotes::Single {
                return Err(format!(
                    "{{{name}:...}} stands in single quotes, where a shell fills nothing in; use double quotes"
                ));
            }
            let parameter = Parameter { name: checked(name)?.to_owned(), keys: keys(name, range)? };
            let variable = variable(name);
            match parameters.iter().find(|known| self::variable(&known.name) == variable) {
                Some(known) if *known == parameter => {}
                Some(known) if known.name == name => {
                    return Err(format!("{name} is given two different ranges"));
                }
                Some(known) => {
                    return Err(format!(
                        "{name} and {} would both be the variable {variable}; rename one",
                        known.name
                    ));
                }
                None => parameters.push(parameter),
            }
            command.push_str(&match quotes {
                Quotes::None => format!("\"${variable}\""),
                _ => format!("${{{variable}}}"),
            });
            rest = after;
            continue;
        }
        quotes = match (quotes, c) {
            (Quotes::None, '\'') => Quotes::Single,
            (Quotes::None, '"') => Quotes::Double,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => Quotes::None,
            (same, _) => same,
        };
        command.push(c);
        rest = &rest[c.len_utf8()..];
    }
    Ok((command, parameters))
}

/// The variable that `tribo job` puts the value of a parameter into.
fn variable(name: &str) -> String {
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("TRIBO_X_{}", name.chars().map(capital).collect::<String>())
}

fn checked(name: &str) -> Result<&str, String> {
    let fine = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if fine {
        Ok(name)
    } else {
        Err(format!("{name:?} is no name for a parameter; use letters, digits and _"))
    }
}

/// The keys of a parameter from its range: `low..high`, with `:int` and `:log` behind it, or `a,b,c`.
fn keys(name: &str, range: &str) -> Result<String, String> {
    let mut parts = range.split(':').map(str::trim);
    let values = parts.next().unwrap_or("");
    let (mut whole, mut log) = (false, false);
    for word in parts {
        match word {
            "int" => whole = true,
            "log" => log = true,
            _ => return Err(format!("{name}: {word:?} is neither int nor log")),
        }
    }
    let Some((low, high)) = values.split_once("..") else {
        let choices: Vec<&str> = values.split(',').map(str::trim).collect();
        if choices.len() < 2 || whole || log {
            return Err(format!(
                "{name}: {range:?} is neither a range such as 0..1 nor a list such as a,b,c"
            ));
        }
        let choices: Vec<String> = choices.into_iter().map(quoted).collect();
        return Ok(format!("type = \"categorical\"\nchoices = [{}]\n", choices.join(", ")));
    };
    let bound = |text: &str| {
        let text = text.trim();
        let wrong = |what: &str| format!("{name}: the bound {text:?} is not {what}");
        match whole {
            true => text.parse::<i64>().map(|n| n.to_string()).map_err(|_| wrong("a whole number")),
            false => {
                let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
                value.map(|value| format!("{value:?}")).ok_or_else(|| wrong("a number"))
            }
        }
    };
    let (low, high) = (bound(low)?, bound(high)?);
    let kind = if whole { "int" } else { "float" };
    let log = if log { "log = true\n" } else { "" };
    Ok(format!("type = \"{kind}\"\nlow = {low}\nhigh = {high}\n{log}"))
}

/// Words of the line that are files of the folder, or are written as if they were.
fn linked(line: &str, folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let relative = word.strip_prefix("./").unwrap_or(word);
        let plain = !relative.is_empty()
            && !relative.starts_with(['/', '-', '.'])
            && !relative.contains(['{', '"', '\'', '$', '=']);
        let known = word.starts_with("./") || folder.join(relative).exists();
        if plain && known && !files.iter().any(|file| file == relative) {
            files.push(relative.to_owned());
        }
    }
    files
}

/// A text as TOML; what JSON escapes, TOML reads the same.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_parameters_and_variables() {
        let line = "./sim --x={x:0..1} --y=\"{y:1e-3..1:log}\" --n={n:1..9:int} {m:a,b,c} {x:0..1}";
        let (command, parameters) = scan(line).unwrap();
        assert_eq!(
            command,
            r#"./sim --x="$TRIBO_X_X" --y="${TRIBO_X_Y}" --n="$TRIBO_X_N" "$TRIBO_X_M" "$TRIBO_X_X""#
        );
        let keys: Vec<&str> = parameters.iter().map(|one| one.keys.as_str()).collect();
        assert_eq!(
            keys,
            [
                "type = \"float\"\nlow = 0.0\nhigh = 1.0\n",
                "type = \"float\"\nlow = 0.001\nhigh = 1.0\nlog = true\n",
                "type = \"int\"\nlow = 1\nhigh = 9\n",
                "type = \"categorical\"\nchoices = [\"a\", \"b\", \"c\"]\n",
            ]
        );
    }

    #[test]
    fn other_braces_are_left_alone() {
        assert_eq!(
            scan("awk '{ print $1 }' {params} {x:0..1}").unwrap().0,
            "awk '{ print $1 }' {params} \"$TRIBO_X_X\""
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (line, part) in [
            ("./sim", "no parameter"),
            ("./sim '{x:0..1}'", "single quotes"),
            ("./sim {x:0..one}", "\"one\" is not a number"),
            ("./sim {x:0..1.5:int}", "whole number"),
            ("./sim {x:0..1:lin}", "neither int nor log"),
            ("./sim {x:5}", "neither a range"),
            ("./sim {x:0..1} {x:0..2}", "two different ranges"),
            ("./sim {x:0..1} {X:0..1}", "rename one"),
            ("./sim {a b:0..1}", "no name"),
        ] {
            let error = study_file(line, Path::new("nowhere")).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn the_file_is_a_study_file() {
        let text = study_file("./sim \"a b\" --x={x:-1..1}", Path::new("nowhere")).unwrap();
        let config = tribo_study::config::Config::parse(Path::new("study.toml"), &text).unwrap();
        assert_eq!(config.space.n_inputs(), 1);
        assert!(text.contains("link = [\"sim\"]"), "{text}");
    }
}
