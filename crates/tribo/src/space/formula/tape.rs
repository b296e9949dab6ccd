//! A formula as a list of operations, each on results of earlier ones.
//!
//! Nothing here recurses, however deep the parentheses were: values are one pass forwards, slopes one pass backwards
//! (reverse differentiation). Operations are those of doubles, in the order written, so a value is the one that the
//! user's own program finds; whole powers are the one thing that programs do in two ways, so there are two lists of values. Cost: one operation per node, and three for slopes.

#[cfg(test)]
use std::fmt::Write;

/// One operation; operands are places of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    /// A number as it was written.
    Number(f64),
    /// An input, by its place in the list of inputs.
    Input(usize),
    /// A function of one number.
    Unary(Unary, usize),
    /// A function of two.
    Binary(Binary, usize, usize),
}

/// Functions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Sqrt,
    Exp,
    Log,
    Abs,
    Sin,
    Cos,
    Tan,
}

/// Functions of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
}

/// Functions that are called by name, of one number.
pub(super) const CALLED: [(&str, Unary); 7] = [
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("abs", Unary::Abs),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
];

impl Unary {
    fn value(self, a: f64) -> f64 {
        match self {
            Unary::Negate => -a,
            Unary::Sqrt => a.sqrt(),
            Unary::Exp => a.exp(),
            Unary::Log => a.ln(),
            Unary::Abs => a.abs(),
            Unary::Sin => a.sin(),
            Unary::Cos => a.cos(),
            Unary::Tan => a.tan(),
        }
    }

    /// The slope at a, where the value is v.
    fn slope(self, a: f64, v: f64) -> f64 {
        match self {
            Unary::Negate => -1.0,
            Unary::Sqrt => 0.5 / v,
            Unary::Exp => v,
            Unary::Log => 1.0 / a,
            Unary::Abs => {
                if a < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
            Unary::Sin => a.cos(),
            Unary::Cos => -a.sin(),
            Unary::Tan => 1.0 + v * v,
        }
    }
}

impl Binary {
    fn value(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Power => a.powf(b),
            // What is no number stays none: `f64::min` would lose it.
            Binary::Min | Binary::Max if a.is_nan() || b.is_nan() => f64::NAN,
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
        }
    }

    /// The slopes in a and b, where the value is v.
    fn slopes(self, a: f64, b: f64, v: f64) -> (f64, f64) {
        match self {
            Binary::Add => (1.0, 1.0),
            Binary::Subtract => (1.0, -1.0),
            Binary::Multiply => (b, a),
            Binary::Divide => (1.0 / b, -v / b),
            Binary::Power => (b * a.powf(b - 1.0), if a > 0.0 { v * a.ln() } else { 0.0 }),
            Binary::Min => (f64::from(u8::from(a <= b)), f64::from(u8::from(a > b))),
            Binary::Max => (f64::from(u8::from(a >= b)), f64::from(u8::from(a < b))),
        }
    }
}

/// Powers up to this one are written as products by some.
const LARGEST_PRODUCT: f64 = 8.0;

/// Operations in an order in which each can be done.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tape {
    nodes: Vec<Node>,
}

impl Tape {
    /// Adds an operation and gives its place.
    pub(super) fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The values of all operations, powers by the machine's function.
    pub(super) fn values(&self, inputs: &[f64]) -> Vec<f64> {
        self.values_with(inputs, |a, b| Binary::Power.value(a, b))
    }

    /// The same with small whole powers as products, x² as x x: many programs write or compile them so, and the last bit can
    /// be another. None if there are no powers.
    pub(super) fn values_of_products(&self, inputs: &[f64]) -> Option<Vec<f64>> {
        let has_power = self.nodes.iter().any(|node| matches!(node, Node::Binary(Binary::Power, ..)));
        let power = |a: f64, b: f64| match b {
            _ if b.fract() == 0.0 && (2.0..=LARGEST_PRODUCT).contains(&b) => {
                (1..b as usize).fold(a, |p, _| p * a)
            }
            _ => Binary::Power.value(a, b),
        };
        has_power.then(|| self.values_with(inputs, power))
    }

    fn values_with(&self, inputs: &[f64], power: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = match *node {
                Node::Number(number) => number,
                Node::Input(place) => inputs[place],
                Node::Unary(function, a) => function.value(values[a]),
                Node::Binary(Binary::Power, a, b) => power(values[a], values[b]),
                Node::Binary(function, a, b) => function.value(values[a], values[b]),
            };
            values.push(value);
        }
        values
    }

    /// Adds `weight` times the slopes of the operation at `place` to `slopes`, one for each input. A slope that is no number
    /// counts as none.
    pub(super) fn add_slopes(&self, values: &[f64], place: usize, weight: f64, slopes: &mut [f64]) {
        let mut adjoints = vec![0.0; place + 1];
        adjoints[place] = weight;
        for at in (0..=place).rev() {
            let adjoint = adjoints[at];
            if adjoint == 0.0 || !adjoint.is_finite() {
                continue;
            }
            match self.nodes[at] {
                Node::Number(_) => {}
                Node::Input(input) => slopes[input] += adjoint,
                Node::Unary(function, a) => adjoints[a] += adjoint * function.slope(values[a], values[at]),
                Node::Binary(function, a, b) => {
                    let (by_a, by_b) = function.slopes(values[a], values[b], values[at]);
                    adjoints[a] += adjoint * by_a;
                    adjoints[b] += adjoint * by_b;
                }
            }
        }
    }

    /// For tests: the operation at `place` as text that reads back to the same operations; `name` names an input.
    #[cfg(test)]
    pub(super) fn text(&self, place: usize, name: &dyn Fn(usize) -> String) -> String {
        enum Piece {
            Of(usize),
            Text(&'static str),
        }
        let mut out = String::new();
        let mut open = vec![Piece::Of(place)];
        while let Some(piece) = open.pop() {
            let at = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Of(at) => at,
            };
            // Pieces go on a stack, so the last one comes first.
            match self.nodes[at] {
                // Writing to a string cannot fail.
                Node::Number(number) => drop(write!(out, "{number:?}")),
                Node::Input(input) => out.push_str(&name(input)),
                Node::Unary(Unary::Negate, a) => {
                    open.extend([Piece::Text(")"), Piece::Of(a), Piece::Text("(-")]);
                }
                Node::Unary(function, a) => {
                    let called = CALLED.iter().find(|(_, other)| *other == function);
                    out.push_str(called.map_or("", |(word, _)| word));
                    open.extend([Piece::Text(")"), Piece::Of(a), Piece::Text("(")]);
                }
                Node::Binary(function, a, b) => {
                    let (before, between) = match function {
                        Binary::Add => ("(", " + "),
                        Binary::Subtract => ("(", " - "),
                        Binary::Multiply => ("(", " * "),
                        Binary::Divide => ("(", " / "),
                        Binary::Power => ("(", " ^ "),
                        Binary::Min => ("min(", ", "),
                        Binary::Max => ("max(", ", "),
                    };
                    open.extend([
                        Piece::Text(")"),
                        Piece::Of(b),
                        Piece::Text(between),
                        Piece::Of(a),
                        Piece::Text(before),
                    ]);
                }
            }
        }
        out
    }
}
