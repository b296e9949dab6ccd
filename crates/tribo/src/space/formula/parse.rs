//! From text to a formula.
//!
//! ```text
//! formula    = sum (("<=" | "<" | ">=" | ">" | "==") sum)+          all signs the same way
//! sum        = product (("+" | "-") product)*
//! product    = signed (("*" | "/") signed)*
//! signed     = ("+" | "-") signed | power
//! power      = atom (("^" | "**") signed)?                          from the right, and before a sign: -x^2 is -(x^2)
//! atom       = number | name | name "[" index "]" | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```
//!
//! Names are those of parameters; one that is no plain word stands between backticks. Descent is recursive and refuses to go
//! deeper than [`DEEPEST`], so no text overflows the stack.

use super::tape::{Binary, CALLED, Node, Tape, Unary};
use super::{Comparison, Sign};
use crate::error::{Error, Result};
use crate::space::{Kind, Parameter};
use crate::suggest::suggest;
use std::collections::BTreeMap;

/// Parentheses, signs and powers inside each other, at most.
const DEEPEST: usize = 200;
/// Operations of one formula at most: what a vector of ten million inputs would make is no cheap formula.
const MOST_NODES: usize = 1_000_000;

/// What a text says.
pub(super) struct Parsed {
    pub(super) tape: Tape,
    pub(super) comparisons: Vec<Comparison>,
    /// Parameter and element of every input, in the order they are named.
    pub(super) inputs: Vec<(usize, usize)>,
    /// The text with its blanks where people put them.
    pub(super) canonical: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    /// An operator, a comparison, a parenthesis, a bracket or a comma.
    Mark(&'static str),
    End,
}

/// Longer ones first: what begins alike is read as the longest.
const MARKS: [&str; 19] =
    ["<=", ">=", "==", "=<", "=>", "**", "!=", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", "[", "]"];

/// Reads a formula over these parameters.
pub(super) fn parse(text: &str, parameters: &[Parameter]) -> Result<Parsed> {
    let tokens = tokens(text)?;
    let canonical = canonical(text, &tokens);
    let numbered =
        parameters.iter().enumerate().map(|(index, parameter)| (parameter.name(), index)).collect();
    let (tape, inputs, places) = (Tape::default(), vec![], BTreeMap::new());
    let mut parser =
        Parser { text, tokens, at: 0, depth: 0, parameters, numbered, tape, n_nodes: 0, inputs, places };
    let comparisons = parser.formula()?;
    Ok(Parsed { tape: parser.tape, comparisons, inputs: parser.inputs, canonical })
}

/// The text with its blanks where people put them, so that two ways to write it are one.
fn canonical(text: &str, tokens: &[(usize, usize, Token)]) -> String {
    let mut out = String::new();
    let (mut before, mut is_sign): (Option<&Token>, bool) = (None, false);
    for (from, to, token) in tokens.iter().filter(|(.., token)| *token != Token::End) {
        let opens = |token: Option<&Token>| matches!(token, None | Some(Token::Mark("(" | "[")));
        let closes = matches!(token, Token::Mark(")" | "]" | "," | "["));
        let is_call = matches!((before, token), (Some(Token::Name(_)), Token::Mark("(")));
        if !(opens(before) || closes || is_call || is_sign) {
            out.push(' ');
        }
        out.push_str(&text[*from..*to]);
        // A sign belongs to what follows it.
        let after_value = matches!(before, Some(Token::Number(_) | Token::Name(_) | Token::Mark(")" | "]")));
        is_sign = matches!(token, Token::Mark("+" | "-")) && !after_value;
        before = Some(token);
    }
    out
}

/// All tokens, each with where it begins and ends in the text, and the end.
fn tokens(text: &str) -> Result<Vec<(usize, usize, Token)>> {
    let mut tokens = vec![];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, token) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() || c == '.' {
            let length = number_length(rest);
            let number = rest[..length].parse::<f64>().ok().filter(|number| number.is_finite());
            match number {
                Some(number) => (length, Token::Number(number)),
                None => return Err(complain(text, at, format!("`{}` is no finite number", &rest[..length]))),
            }
        } else if c.is_alphabetic() || c == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (length, Token::Name(rest[..length].to_owned()))
        } else if c == '`' {
            match rest[1..].find('`') {
                Some(length) => (length + 2, Token::Name(rest[1..=length].to_owned())),
                None => return Err(complain(text, at, "this backtick is not closed".to_owned())),
            }
        } else if let Some(mark) = [",", "≤", "≥"].iter().chain(&MARKS).find(|mark| rest.starts_with(**mark))
        {
            let meant = match *mark {
                "≤" => "<=",
                "≥" => ">=",
                other => other,
            };
            (mark.len(), Token::Mark(meant))
        } else {
            return Err(complain(text, at, format!("`{c}` has no meaning in a formula")));
        };
        tokens.push((at, at + length, token));
        at += length;
    }
    tokens.push((text.len(), text.len(), Token::End));
    Ok(tokens)
}

/// Bytes of the number at the start: digits, a point, and an exponent if there is a whole one.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = if length + 1 + sign <= bytes.len() { digits(length + 1 + sign) } else { 0 };
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length.max(1)
}

/// An error at a byte of the text, which people count in characters.
fn complain(text: &str, at: usize, why: String) -> Error {
    Error::Formula { text: text.to_owned(), at: text[..at].chars().count() + 1, why }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, usize, Token)>,
    at: usize,
    depth: usize,
    parameters: &'a [Parameter],
    numbered: BTreeMap<&'a str, usize>,
    tape: Tape,
    n_nodes: usize,
    inputs: Vec<(usize, usize)>,
    /// Where an input is in `inputs`.
    places: BTreeMap<(usize, usize), usize>,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at].2
    }

    fn next(&mut self) -> Token {
        let token = self.token().clone();
        // The end stays the end.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_it = matches!(self.token(), Token::Mark(other) if *other == mark);
        if is_it {
            self.next();
        }
        is_it
    }

    fn complaint(&self, why: impl Into<String>) -> Error {
        complain(self.text, self.tokens[self.at].0, why.into())
    }

    /// What was found, for a message.
    fn found(&self) -> String {
        let (from, to, token) = &self.tokens[self.at];
        match token {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[*from..*to]),
        }
    }

    fn expect(&mut self, mark: &'static str, what: &str) -> Result<()> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.complaint(format!("{what} was expected, and not {}", self.found())))
    }

    fn push(&mut self, node: Node) -> Result<usize> {
        self.n_nodes += 1;
        if self.n_nodes > MOST_NODES {
            return Err(self.complaint(format!("this is more than {MOST_NODES} operations")));
        }
        Ok(self.tape.push(node))
    }

    /// Goes one level deeper, for as long as `inner` lasts.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Result<usize>) -> Result<usize> {
        if self.depth == DEEPEST {
            return Err(self.complaint(format!("nested more than {DEEPEST} deep; write it flatter")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn formula(&mut self) -> Result<Vec<Comparison>> {
        const EXAMPLE: &str = "such as \"x + y <= 1\" or \"0.9 <= x / y <= 1.1\"";
        if matches!(self.token(), Token::End) {
            return Err(self.complaint(format!("it is empty; write a comparison, {EXAMPLE}")));
        }
        let mut left = self.sum()?;
        let mut comparisons: Vec<Comparison> = vec![];
        while let Token::Mark(mark @ ("<=" | "<" | ">=" | ">" | "==" | "=" | "=<" | "=>" | "!=")) =
            *self.token()
        {
            let sign = match mark {
                "<=" => Sign::AtMost,
                "<" => Sign::Below,
                ">=" => Sign::AtLeast,
                ">" => Sign::Above,
                "==" => Sign::Equal,
                "=" => return Err(self.complaint("`=` is no comparison; write `==`, `<=` or `>=`")),
                "=<" => return Err(self.complaint("write `<=`, and not `=<`")),
                "=>" => return Err(self.complaint("write `>=`, and not `=>`")),
                _ => return Err(self.complaint("what must differ has no border; write `<` or `>`")),
            };
            if comparisons.first().is_some_and(|first| first.sign.way() != sign.way()) {
                return Err(self.complaint("the comparisons go different ways; write two constraints"));
            }
            self.next();
            let right = self.sum()?;
            comparisons.push(Comparison { left, sign, right });
            left = right;
        }
        if !matches!(self.token(), Token::End) {
            let what = if comparisons.is_empty() { "a comparison" } else { "an operator" };
            return Err(self.complaint(format!("{what} was expected, and not {}", self.found())));
        }
        if comparisons.is_empty() {
            return Err(self.complaint(format!("nothing is compared; write a comparison, {EXAMPLE}")));
        }
        if self.inputs.is_empty() {
            return Err(complain(self.text, 0, "it names no parameter".to_owned()));
        }
        Ok(comparisons)
    }

    fn sum(&mut self) -> Result<usize> {
        let mut left = self.product()?;
        loop {
            let function = if self.take("+") {
                Binary::Add
            } else if self.take("-") {
                Binary::Subtract
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.push(Node::Binary(function, left, right))?;
        }
    }

    fn product(&mut self) -> Result<usize> {
        let mut left = self.signed()?;
        loop {
            let function = if self.take("*") {
                Binary::Multiply
            } else if self.take("/") {
                Binary::Divide
            } else {
                return Ok(left);
            };
            let right = self.signed()?;
            left = self.push(Node::Binary(function, left, right))?;
        }
    }

    fn signed(&mut self) -> Result<usize> {
        if self.take("-") {
            let of = self.deeper(Self::signed)?;
            return self.push(Node::Unary(Unary::Negate, of));
        }
        if self.take("+") {
            return self.deeper(Self::signed);
        }
        let base = self.atom()?;
        if self.take("^") || self.take("**") {
            let exponent = self.deeper(Self::signed)?;
            return self.push(Node::Binary(Binary::Power, base, exponent));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<usize> {
        match self.token().clone() {
            Token::Number(number) => {
                self.next();
                self.push(Node::Number(number))
            }
            Token::Name(name) => self.named(&name),
            Token::Mark("(") => {
                self.next();
                let inside = self.deeper(Self::sum)?;
                self.expect(")", "`)`")?;
                Ok(inside)
            }
            _ => Err(self.complaint(format!("a number or a name was expected, and not {}", self.found()))),
        }
    }

    /// A parameter, an element of one, a function, or pi.
    fn named(&mut self, name: &str) -> Result<usize> {
        let is_called = matches!(self.tokens[self.at + 1].2, Token::Mark("("));
        if is_called {
            return self.called(name);
        }
        let Some(&index) = self.numbered.get(name) else {
            if name == "pi" {
                self.next();
                return self.push(Node::Number(std::f64::consts::PI));
            }
            return Err(self.unknown(name));
        };
        let size = self.numeric(index)?;
        self.next();
        let element = match (self.take("["), size) {
            (false, None) => 0,
            (true, Some(size)) => self.element(name, size)?,
            (true, None) => {
                return Err(self.complaint(format!("`{name}` is one number and has no elements")));
            }
            (false, Some(size)) => {
                let why = format!(
                    "`{name}` has {size} elements; write one of them, `{name}[0]`, or `sum({name})`, `min({name})`, \
                     `max({name})`"
                );
                return Err(self.complaint(why));
            }
        };
        self.input(index, element)
    }

    /// The element between brackets, the first of which was taken.
    fn element(&mut self, name: &str, size: usize) -> Result<usize> {
        let (from, to, token) = self.tokens[self.at].clone();
        let element = self.text[from..to].parse::<usize>().ok().filter(|_| matches!(token, Token::Number(_)));
        match element {
            Some(element) if element < size => {
                self.next();
                self.expect("]", "`]`")?;
                Ok(element)
            }
            _ => {
                let last = size - 1;
                Err(self.complaint(format!(
                    "elements of `{name}` are numbered 0 to {last}, not {}",
                    self.found()
                )))
            }
        }
    }

    /// Refuses a category; how many elements a vector has, None if it is none.
    fn numeric(&self, index: usize) -> Result<Option<usize>> {
        let parameter = &self.parameters[index];
        if matches!(parameter.kind(), Kind::Categorical { .. }) {
            let name = parameter.name();
            return Err(self.complaint(format!("`{name}` is a category; a formula is of numbers")));
        }
        Ok(parameter.size())
    }

    fn input(&mut self, index: usize, element: usize) -> Result<usize> {
        let next = self.inputs.len();
        let place = *self.places.entry((index, element)).or_insert(next);
        if place == next {
            self.inputs.push((index, element));
        }
        self.push(Node::Input(place))
    }

    fn called(&mut self, name: &str) -> Result<usize> {
        let one = CALLED.iter().find(|(word, _)| *word == name).map(|(_, function)| *function);
        let fold = match name {
            "min" => Some(Binary::Min),
            "max" => Some(Binary::Max),
            "sum" => Some(Binary::Add),
            _ => None,
        };
        if one.is_none() && fold.is_none() {
            let mut known: Vec<&str> = CALLED.iter().map(|(word, _)| *word).collect();
            known.extend(["min", "max", "sum"]);
            if self.numbered.contains_key(name) {
                return Err(
                    self.complaint(format!("`{name}` is a parameter and not a function; write `{name} * (`"))
                );
            }
            let meant =
                suggest(name, &known).map_or(String::new(), |word| format!("; did you mean `{word}`?"));
            let why = format!("no function is called `{name}`{meant} There are {}", known.join(", "));
            return Err(self.complaint(why.replace("` There", "`; there")));
        }
        let at = self.at;
        self.next();
        self.next();
        let mut result = None;
        let mut count = 0;
        loop {
            for argument in self.argument(fold.is_some())? {
                count += 1;
                result = Some(match (result, fold) {
                    (Some(left), Some(function)) => self.push(Node::Binary(function, left, argument))?,
                    (_, _) => argument,
                });
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "`)`")?;
        match (one, result) {
            (Some(function), Some(argument)) if count == 1 => self.push(Node::Unary(function, argument)),
            (None, Some(result)) => Ok(result),
            _ => {
                self.at = at;
                Err(self.complaint(format!("`{name}` is of one number, and {count} were given")))
            }
        }
    }

    /// One argument of a function; all elements of a vector where many are welcome.
    fn argument(&mut self, many: bool) -> Result<Vec<usize>> {
        if let (true, Token::Name(name)) = (many, self.token().clone())
            && let Some(&index) = self.numbered.get(name.as_str())
            && matches!(self.tokens[self.at + 1].2, Token::Mark(")") | Token::Mark(","))
            && let Some(size) = self.numeric(index)?
        {
            self.next();
            return (0..size).map(|element| self.input(index, element)).collect();
        }
        Ok(vec![self.deeper(Self::sum)?])
    }

    fn unknown(&self, name: &str) -> Error {
        let names: Vec<&str> = self.parameters.iter().map(Parameter::name).collect();
        // Of one or two letters every other name would be near.
        let near = if name.chars().count() < 3 { None } else { suggest(name, &names) };
        let why = match near {
            Some(meant) => format!("no parameter is called `{name}`; did you mean `{meant}`?"),
            None if names.len() <= 12 => {
                let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("no parameter is called `{name}`; there are {}", all.join(", "))
            }
            None => format!("no parameter is called `{name}`; a constraint is of inputs"),
        };
        self.complaint(why)
    }
}
