//! What a strategy has found out about the function: worth as much to a user as the best point.
//!
//! [`Insight`] is the state of knowledge now; its findings are how it came about, in order, with the numbers each was
//! concluded from. All of it is data; `Display` makes sentences of it.

use std::fmt;

/// What is known about the function and its inputs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Insight {
    /// What the strategy does now, and why.
    pub doing: String,
    /// Whether few inputs matter.
    pub verdict: Verdict,
    /// Number of inputs.
    pub n_inputs: usize,
    /// Inputs known to matter, strongest first.
    pub active: Vec<ActiveInput>,
    /// Under limits, the inputs that drive each output, the objective first; empty where nobody looks.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub outputs: Vec<DrivenOutput>,
    /// Inputs that were moved all at once without a change: they do not matter, as far as can be seen from the best point.
    pub n_idle: usize,
    /// Standard deviation of a value, once it is known.
    pub noise_sd: Option<f64>,
    /// How this came about.
    pub findings: Vec<Finding>,
}

impl Insight {
    /// The same with the objective called by its name.
    pub fn with_objective(mut self, name: &str) -> Insight {
        if let Some(objective) = self.outputs.first_mut() {
            name.clone_into(&mut objective.output);
        }
        self
    }
}

/// Whether few inputs matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Verdict {
    /// Not known: it is being looked into, or nobody looks.
    Open,
    /// Those named.
    Sparse,
    /// Too many to name.
    Dense,
}

/// An input that matters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ActiveInput {
    /// Its name, such as `x[3]`.
    pub name: String,
    /// Its number, counted over the elements of all parameters.
    pub input: usize,
    /// Why it is said to matter; None if the user said so.
    pub evidence: Option<Evidence>,
}

/// An output and the inputs that drive it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DrivenOutput {
    /// Its name; `objective` for the one that is optimised.
    pub output: String,
    /// Inputs known to change it, strongest first.
    pub inputs: Vec<ActiveInput>,
}

/// What shows that an input matters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Evidence {
    /// Change of the value for a move of this input alone.
    pub effect: f64,
    /// How far it was moved, as a part of its range.
    pub step: f64,
    /// The largest change that an input without effect would have shown.
    pub threshold: f64,
}

/// Something that was concluded.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Finding {
    /// Measured values by then.
    pub results: usize,
    /// What.
    pub fact: Fact,
}

/// What was concluded, and from which numbers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(tag = "what", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Fact {
    /// How noisy values are, and how far inputs are moved to see their effect.
    Noise {
        /// Standard deviation of a value.
        sd: f64,
        /// Distance of the quartiles of the first values.
        spread: f64,
        /// The step, as a part of the range.
        step: f64,
    },
    /// With much noise: a point is better than the median by so many standard deviations, and is screened from.
    StandsOut {
        /// How many.
        deviations: f64,
    },
    /// With much noise: no such point was found.
    NothingStandsOut,
    /// With much noise: bins are drawn anew around a point that is better than the median by so many standard deviations.
    BinsMoved {
        /// How many.
        deviations: f64,
    },
    /// Very many earlier results name inputs.
    Recalled {
        /// How many results.
        rows: usize,
        /// How many inputs.
        named: usize,
        /// Part of the variance of the values that these explain.
        explained: f64,
    },
    /// Points of earlier results were evaluated again.
    AskedAgain {
        /// How many.
        asked: usize,
        /// The median of the differences to what they were.
        difference: f64,
        /// Distance of the quartiles of the earlier values.
        spread: f64,
        /// Whether the earlier values are believed.
        kept: bool,
    },
    /// An input matters.
    Named(ActiveInput),
    /// An input that mattered in an earlier search does not answer any more.
    Dropped {
        /// Its name.
        name: String,
        /// What moving it changed.
        change: f64,
        /// Changes up to here mean nothing.
        threshold: f64,
    },
    /// A round of screening ended.
    Screened {
        /// Inputs looked at.
        inputs: usize,
        /// Evaluations it took.
        tests: usize,
        /// Inputs named so far, in all rounds.
        named: usize,
        /// Groups with a weak effect that are looked into later.
        weak_groups: usize,
    },
    /// All inputs that are not named were moved at once.
    Rest {
        /// How many.
        inputs: usize,
        /// What it changed.
        change: f64,
        /// Changes up to here mean nothing.
        threshold: f64,
    },
    /// All inputs act alike: they are moved together first.
    Alike,
    /// The search along all inputs together ended.
    Line {
        /// At this value.
        value: f64,
    },
    /// Too many inputs answer to name them.
    Dense,
    /// The search goes on in common moves of bins of inputs.
    Bins {
        /// How many bins.
        count: usize,
    },
    /// The search goes on in all inputs.
    AllInputs,
    /// Every input is moved on its own, and those that gain are searched.
    Singles,
    /// Inputs are taken for pairs, of which whole runs are moved together.
    Pairs,
    /// An arm of the search in too many inputs gives up, and the next takes over from the best point.
    NextArm {
        /// The arm.
        from: DenseArm,
        /// Evaluations it had.
        evaluations: usize,
        /// The last of them, which brought nothing worthwhile.
        idle: usize,
        /// By how much it improved the best value.
        gain: f64,
        /// The next one.
        to: DenseArm,
    },
    /// The strategy broke and went on: a defect, worth reporting.
    FellBack {
        /// What broke.
        why: String,
        /// Trials that were makeshift points because of it.
        trials: usize,
    },
    /// All values of the inputs that matter were tried: the others are moved.
    AllTried,
}

/// How too many inputs are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum DenseArm {
    /// Common moves of bins of inputs, with a Gaussian process.
    Bins,
    /// All inputs, with a Gaussian process.
    AllInputs,
    /// All inputs, with separable CMA-ES.
    Evolution,
    /// Inputs that gain when each is moved on its own, with a Gaussian process.
    Singles,
    /// Common places of runs of pairs of inputs, with a Gaussian process.
    Pairs,
}

impl fmt::Display for DenseArm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DenseArm::Bins => "bins",
            DenseArm::AllInputs => "a model of all inputs",
            DenseArm::Evolution => "CMA-ES",
            DenseArm::Singles => "moving single inputs",
            DenseArm::Pairs => "moving pairs of inputs together",
        })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Noise { sd, spread, step } => {
                write!(f, "noise {sd:.1e}, spread of the values {spread:.2e}; inputs are moved by {step:.1e}")
            }
            Fact::StandsOut { deviations } => {
                write!(f, "a point is {deviations:.1} standard deviations better than the median")
            }
            Fact::NothingStandsOut => {
                write!(f, "no point stands out of the noise enough to be screened from")
            }
            Fact::BinsMoved { deviations } => {
                write!(
                    f,
                    "other bins, around a point {deviations:.1} standard deviations better than the middle"
                )
            }
            Fact::Recalled { rows, named, explained } => {
                let percent = 100.0 * explained;
                write!(f, "{rows} earlier results name {named} inputs, which explain {percent:.1} % of them")
            }
            Fact::AskedAgain { asked, difference, spread, kept } => {
                let verdict = if *kept { "they are believed" } else { "they are of another function" };
                write!(
                    f,
                    "{asked} earlier points evaluated again differ by {difference:.1e}, where values spread by \
                     {spread:.1e}: {verdict}"
                )
            }
            Fact::Named(ActiveInput { name, evidence: None, .. }) => write!(f, "{name} matters, as said"),
            Fact::Named(ActiveInput { name, evidence: Some(Evidence { effect, threshold, .. }), .. }) => {
                write!(f, "{name} matters: {effect:.2e}, where an idle input shows at most {threshold:.1e}")
            }
            Fact::Screened { inputs, tests, named, weak_groups } => {
                write!(f, "{inputs} inputs screened with {tests} evaluations: {named} named")?;
                if *weak_groups > 0 { write!(f, ", {weak_groups} weak groups wait") } else { Ok(()) }
            }
            Fact::Rest { inputs, change, threshold } => {
                let verdict =
                    if change.abs() <= *threshold { "they are idle" } else { "one of them matters" };
                write!(f, "{inputs} other inputs moved at once change the value by {change:.1e}: {verdict}")
            }
            Fact::Dropped { name, change, .. } => {
                write!(f, "{name} does not matter any more: moving it changes the value by {change:.1e}")
            }
            Fact::Alike => write!(f, "all inputs act alike: they are moved together"),
            Fact::Line { value } => write!(f, "moving all inputs together ends at {value:.3e}"),
            Fact::Dense => write!(f, "too many inputs matter to name them"),
            Fact::Bins { count } => write!(f, "searching in {count} bins of inputs that move together"),
            Fact::AllInputs => write!(f, "searching in all inputs"),
            Fact::Singles => write!(f, "moving every input on its own; those that gain are searched"),
            Fact::Pairs => write!(
                f,
                "inputs are pairs in a row: all pairs are moved together, then shorter and shorter runs of them"
            ),
            Fact::NextArm { from, evaluations, idle, gain, to } => {
                write!(
                    f,
                    "{from} gained {gain:.1e} with {evaluations} evaluations, nothing with the last {idle}: "
                )?;
                write!(f, "{to} from here")
            }
            Fact::FellBack { why, trials } => {
                write!(f, "the strategy broke and goes on, please report it: {why}")?;
                if *trials > 0 { write!(f, " ({trials} makeshift points)") } else { Ok(()) }
            }
            Fact::AllTried => {
                write!(f, "all values of the inputs that matter were tried: the others are moved")
            }
        }
    }
}

impl fmt::Display for Insight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.doing)?;
        for DrivenOutput { output, inputs } in self.outputs.iter().filter(|driven| !driven.inputs.is_empty())
        {
            let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
            writeln!(f, "  {output} is driven by {}", names.join(", "))?;
        }
        if !self.active.is_empty() && self.outputs.is_empty() {
            writeln!(f, "{} of {} inputs matter:", self.active.len(), self.n_inputs)?;
            for input in &self.active {
                match input.evidence {
                    Some(Evidence { effect, step, .. }) => {
                        writeln!(f, "  {:<12} effect {effect:+.2e} for a step of {step:.1e}", input.name)?;
                    }
                    None => writeln!(f, "  {:<12} as said", input.name)?,
                }
            }
        }
        if self.n_idle > 0 {
            writeln!(f, "{} inputs are idle: moved all at once, nothing changes", self.n_idle)?;
        }
        if let Some(sd) = self.noise_sd {
            writeln!(f, "noise: standard deviation {sd:.1e}")?;
        }
        Ok(())
    }
}
