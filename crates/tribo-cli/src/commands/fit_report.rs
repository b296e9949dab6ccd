//! The page of `tribo fit --report`: the model on rows that it has not seen, its slices, and which inputs matter.
//!
//! An input's part is its total effect, with its error (`analysis::sensitivity_over`): parts add up to more than one where inputs
//! act together.

use super::fit::Check;
use super::fit_kernel;
use crate::failure::Failure;
use faer::Mat;
use tribo::analysis::{Share, sensitivity_over};
use tribo::surrogate::Posterior;
use tribo_chart::{Axis, Bars, Chart, Dots, LineChart, Mark, Measure, Rule, Series, plain};
use tribo_study::model_file::NamedModel;
use tribo_study::page::Html;

/// Rows held out that are drawn: more hide each other, and make the file large.
const DRAWN: usize = 600;
/// Inputs that get a slice.
const SLICES: usize = 9;
/// Inputs in the list of parts.
const BARS: usize = 20;
/// Places along a slice.
const PLACES: usize = 81;

/// The page; `facts` are the lines of the summary.
pub(super) fn page(
    model: &NamedModel,
    check: &Check,
    title: &str,
    facts: &[(&str, String)],
) -> Result<String, Failure> {
    let mut html = Html::default();
    html.facts(facts);
    if check.y.is_empty() {
        html.paragraph(
            "There are too few rows to hold some out, so that nothing can be said of rows not seen.",
        );
        return Ok(html.page(title));
    }
    let shares = sensitivity_over(&model.posterior, &check.points, 0)?.unwrap_or_default();
    html.section("Predicted and measured");
    html.chart(&against(model, check));
    html.section("Which inputs matter");
    if shares.is_empty() {
        html.paragraph("The model is flat, or the rows held out are too few to tell.");
    } else {
        html.paragraph(
            "The part of the variance of the predictions that an input has a hand in, each with its entries in the rows held out and \
             independent of the others; the interval holds the true part with about 95 %.",
        );
        html.chart(&bars(model, &shares));
    }
    html.section("Slices");
    html.paragraph(
        "The prediction along one input, the others at their medians; the band holds the function with 95 %.",
    );
    let mut order: Vec<usize> = (0..model.inputs.len()).collect();
    let part = |k: usize| shares.get(k).map_or(0.0, |share| share.total);
    order.sort_by(|&a, &b| part(b).total_cmp(&part(a)));
    let slices = order.iter().take(SLICES).map(|&k| slice(model, check, k));
    html.charts(&on_one_axis(slices.collect::<Result<Vec<_>, Failure>>()?));
    html.section("Length scales");
    let (head, rows) = fit_kernel::table(&fit_kernel::inputs(model));
    html.table(&head, &rows);
    Ok(html.page(title))
}

fn bars(model: &NamedModel, shares: &[Share]) -> Bars {
    let mut named: Vec<(&String, &Share)> = model.inputs.iter().zip(shares).collect();
    named.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
    let bar = |(name, share): (&String, &Share)| {
        let (part, error) = (100.0 * share.total, 200.0 * share.total_sd);
        Measure {
            name: name.clone(),
            value: part,
            interval: Some(((part - error).max(0.0), (part + error).min(100.0))),
            label: format!("{part:.0} ± {error:.0} %"),
            title: format!("{name}: {part:.1} % ± {error:.1}"),
            ..Measure::default()
        }
    };
    Bars {
        title: format!("Parts of the variance of {}", model.output),
        description:
            "The total effect of each input; they add up to more than 100 % where inputs act together."
                .to_owned(),
        label: "% of the variance".to_owned(),
        bars: named.into_iter().take(BARS).map(bar).collect(),
        end: None,
    }
}

fn against(model: &NamedModel, check: &Check) -> LineChart {
    let every = check.y.len().div_ceil(DRAWN);
    let group = |inside: bool, name: &str, kind| {
        let rows = (0..check.y.len()).step_by(every).filter(|&i| check.is_inside(i) == inside);
        let mark = |i: usize| {
            let (expected, measured) = (check.mean[i], check.y[i]);
            let title = format!("expected {}, measured {}", plain(expected), plain(measured));
            Mark { x: expected, y: measured, title, level: None }
        };
        Dots { name: name.to_owned(), kind, marks: rows.map(mark).collect(), ..Dots::default() }
    };
    let dots = [group(true, "in the 95 % interval", 0), group(false, "outside", 1)];
    LineChart {
        title: "Rows held out".to_owned(),
        description: format!(
            "{:.1} % of the variance is explained; {:.1} % of the rows lie in their interval of 95 %.",
            100.0 * check.explained,
            100.0 * check.covered
        ),
        x: Axis::linear(&format!("{} predicted", model.output)),
        y: Axis::linear(&format!("{} measured", model.output)),
        dots: dots.into_iter().filter(|dots| !dots.marks.is_empty()).collect(),
        rules: vec![Rule::Diagonal],
        size: Some((420.0, 340.0)),
        ..LineChart::default()
    }
}

fn slice(model: &NamedModel, check: &Check, k: usize) -> Result<LineChart, Failure> {
    let middle: Vec<f64> =
        (0..model.inputs.len()).map(|j| sorted(check, j)[check.points.len() / 2]).collect();
    let own = sorted(check, k);
    let (low, high) = (own[0], own[own.len() - 1]);
    let place = |i: usize| low + (high - low) * i as f64 / (PLACES - 1) as f64;
    let x = Mat::from_fn(PLACES, model.inputs.len(), |i, j| if j == k { place(i) } else { middle[j] });
    let prediction = model.posterior.predict(x.as_ref())?;
    let half = |i: usize| 1.959_964 * prediction.var[i].sqrt();
    let band = (0..PLACES).map(|i| (place(i), prediction.mean[i] - half(i), prediction.mean[i] + half(i)));
    let name = &model.inputs[k];
    Ok(LineChart {
        title: name.clone(),
        description: format!("{} along {name}, the other inputs at their medians.", model.output),
        x: Axis::linear(name),
        y: Axis::linear(&model.output),
        series: vec![Series {
            points: (0..PLACES).map(|i| (place(i), prediction.mean[i])).collect(),
            band: band.collect(),
            ..Series::default()
        }],
        size: Some((260.0, 180.0)),
        ..LineChart::default()
    })
}

/// Charts with the same ends of y: what hardly changes anything looks it.
fn on_one_axis(mut charts: Vec<LineChart>) -> Vec<Box<dyn Chart>> {
    let bands = charts.iter().flat_map(|chart| &chart.series).flat_map(|series| &series.band);
    let (low, high) = bands.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, lower, upper)| {
        (low.min(*lower), high.max(*upper))
    });
    if low < high {
        charts.iter_mut().for_each(|chart| chart.y = chart.y.clone().within(low, high));
    }
    charts.into_iter().map(|chart| Box::new(chart) as Box<dyn Chart>).collect()
}

/// The values of an input in the rows held out, sorted.
fn sorted(check: &Check, k: usize) -> Vec<f64> {
    let mut values: Vec<f64> = check.points.iter().map(|point| point[k]).collect();
    values.sort_by(f64::total_cmp);
    values
}
