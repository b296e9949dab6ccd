//! What a fit found of its kernel: length scales of each input, and of a sum the weight of every term.

use serde_json::{Value, json};
use tribo_study::model_file::NamedModel;
use tribo_study::report::text;

/// One input.
pub(super) struct Input<'a> {
    name: &'a str,
    /// Its length scale in the kernel of all inputs.
    length: Length,
    /// Of a sum with a kernel of each input alone, or with pairs of these.
    alone: Option<Length>,
    /// The part of the variance that the kernel of this input alone has.
    share: Option<f64>,
    /// The standard deviation of its slope, of a linear term.
    slope: Option<f64>,
}

/// A length scale, and that in widths of the inducing points.
#[derive(Clone, Copy)]
struct Length {
    value: f64,
    of_range: f64,
}

/// All inputs; those with the shortest length scales by their range first, which matter most.
pub(super) fn inputs(model: &NamedModel) -> Vec<Input<'_>> {
    let (kernel, points) = (&model.posterior.hyperparameters().kernel, model.posterior.inducing());
    let (terms, shares) = (&kernel.terms, kernel.shares());
    let width = |k: usize| {
        let column = (0..points.nrows()).map(|i| points[(i, k)]);
        let (low, high) =
            column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if high > low { high - low } else { 1.0 }
    };
    let mut inputs = Vec::with_capacity(model.inputs.len());
    for (k, name) in model.inputs.iter().enumerate() {
        let length = |value: f64| Length { value, of_range: value / width(k) };
        inputs.push(Input {
            name,
            length: length(kernel.length_scale(k)),
            alone: terms.length_scales.get(k).map(|&value| length(value)),
            share: shares.inputs.get(k).copied(),
            slope: terms.slopes.get(k).map(|slope| (kernel.signal_var * slope).sqrt()),
        });
    }
    inputs.sort_by(|a, b| a.length.of_range.total_cmp(&b.length.of_range));
    inputs
}

/// The table of them: its head, and a row for each. Columns that a kernel has no use for are left out.
pub(super) fn table(inputs: &[Input<'_>]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let (mut head, mut rows) = (vec!["input"], vec![vec![]; inputs.len()]);
    let mut column = |name: &'static str, cell: &dyn Fn(&Input<'_>) -> Option<String>| {
        if inputs.iter().all(|input| cell(input).is_some()) {
            head.push(name);
            rows.iter_mut().zip(inputs).for_each(|(row, input)| row.extend(cell(input)));
        }
    };
    column("length scale", &|input| Some(text::number(input.length.value)));
    column("of its range", &|input| Some(text::number(input.length.of_range)));
    column("alone", &|input| input.alone.map(|length| text::number(length.value)));
    column("of its range", &|input| input.alone.map(|length| text::number(length.of_range)));
    column("% of the variance", &|input| input.share.map(percent));
    column("slope", &|input| input.slope.map(text::number));
    rows.iter_mut().zip(inputs).for_each(|(row, input)| row.insert(0, input.name.to_owned()));
    (head, rows)
}

/// The same as JSON.
pub(super) fn json(inputs: &[Input<'_>]) -> Vec<Value> {
    let one = |input: &Input<'_>| {
        let mut one = json!({
            "input": input.name,
            "length_scale": input.length.value,
            "of_range": input.length.of_range,
        });
        if let Some(alone) = input.alone {
            one["alone_length_scale"] = alone.value.into();
            one["alone_of_range"] = alone.of_range.into();
        }
        if let Some(share) = input.share {
            one["alone_share"] = share.into();
        }
        if let Some(slope) = input.slope {
            one["slope_sd"] = slope.into();
        }
        one
    };
    inputs.iter().map(one).collect()
}

/// The kernel by its name, and of a sum which part of the variance each term has.
pub(super) fn words(model: &NamedModel) -> String {
    let kernel = &model.posterior.hyperparameters().kernel;
    let (parts, shares) = (kernel.shape.parts(), kernel.shares());
    let mut said = vec![format!("{} % in all inputs together", percent(shares.joint))];
    let mut say = |is_there: bool, share: f64, words: &str| {
        if is_there {
            said.push(format!("{} % {words}", percent(share)));
        }
    };
    say(parts.additive, shares.inputs.iter().sum(), "in single inputs");
    say(parts.pairs, shares.pairs, "in pairs of them");
    say(parts.constant, shares.constant, "in a constant");
    let beside = if parts.linear { "; slopes beside it" } else { "" };
    match kernel.shape.is_sum() {
        true => format!("{}: of the prior variance {}{beside}", kernel.shape.name(), said.join(", ")),
        false => kernel.shape.name(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
