//! `[strategy]`: the strategy and its settings. Defaults come from the list of keys; a test holds them to those of
//! `Settings::bo` and `Settings::paper`.

use crate::config::place::Complaint;
use crate::config::view::View;
use tribo::Error;
use tribo::acquisition::maximize::{CmaesSearch, Search};
use tribo::embed;
use tribo::space::Space;
use tribo::strategy::{
    Acquisition, AutoSettings, Design, InducingPoints, Initial, Maximizer, Process, Quota, Settings,
    Strategy, SurrogateSettings,
};
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::sparse::{Approximation, Objective};

/// The model dimension when none is given: a process needs some ten results for each coordinate, and studies have some
/// hundred.
const USUAL_DIM: usize = 10;

/// The strategy for a space.
pub(super) fn read(view: &View<'_>, space: &Space) -> Result<Strategy, Complaint> {
    let input_dim = space.dim();
    match view.text("name").as_deref() {
        Some("bo") => Ok(Strategy::Bo(settings(view, Settings::bo(), input_dim)?)),
        Some("paper") => Ok(Strategy::Paper(settings(view, Settings::paper(1), input_dim)?)),
        Some("random") => Ok(Strategy::Random),
        _ => {
            let active = view.texts("active").unwrap_or_default();
            let settings = AutoSettings { screen: view.flag("screen"), active };
            settings.check(space).map_err(|error| view.complaint("active", error.to_string()))?;
            Ok(Strategy::Auto(settings))
        }
    }
}

/// Settings from the keys, with those of `base` for what has no key or default.
fn settings(view: &View<'_>, base: Settings, input_dim: usize) -> Result<Settings, Complaint> {
    let embedding = embedding(view, input_dim)?;
    let model_dim = match embedding {
        embed::Kind::Identity => input_dim,
        embed::Kind::Gaussian { dim, .. } | embed::Kind::Hashing { dim, .. } => dim,
    };
    // The paper's default design has a point for every coordinate of the model; that of `bo` is decided by the library.
    let usual_count = base.initial.count.and(Some(model_dim.max(2)));
    let settings = Settings {
        embedding,
        n_embeddings: view.integer("embeddings").unwrap_or(base.n_embeddings),
        initial: Initial {
            count: view.integer("initial").or(usual_count),
            design: match view.text("design").as_deref() {
                Some("uniform") => Design::Uniform,
                _ => Design::Sobol,
            },
        },
        surrogate: SurrogateSettings {
            shape: shape(view, base.surrogate.shape),
            ard: view.flag("ard"),
            priors: view.flag("priors"),
            process: process(view),
        },
        acquisition: match view.text("acquisition").as_deref() {
            Some("ei") => Acquisition::Ei,
            Some("pi") => Acquisition::Pi,
            Some("ucb") => Acquisition::Ucb { delta: view.number("delta").unwrap_or(0.95) },
            Some("kg") => Acquisition::Kg,
            Some("portfolio") => Acquisition::Portfolio,
            _ => Acquisition::LogEi,
        },
        maximizer: maximizer(view),
        quota: Quota {
            exploit: view.integer("exploit").unwrap_or(usize::MAX),
            explore: view.integer("explore").unwrap_or(0),
            border: view.integer("border").unwrap_or(0),
        },
        refit_always_until: view.integer("refit_always_until").unwrap_or(base.refit_always_until),
        refit_growth: view.number("refit_growth").unwrap_or(base.refit_growth),
        trust_region: view.flag("trust_region"),
        warp: view.flag("warp"),
    };
    settings.check().map_err(|error| complaint(view, &error))?;
    Ok(settings)
}

fn embedding(view: &View<'_>, input_dim: usize) -> Result<embed::Kind, Complaint> {
    let dim = view.integer("model_dim").unwrap_or(USUAL_DIM.min(input_dim));
    let kind = match view.text("embedding").as_deref() {
        Some("gaussian") => {
            embed::Kind::Gaussian { dim, half_width: view.number("half_width").unwrap_or(1.0) }
        }
        Some("hashing") => embed::Kind::Hashing { dim, signs: view.flag("signs") },
        _ => return Ok(embed::Kind::Identity),
    };
    if dim > input_dim {
        let message = format!(
            "`model_dim` is {dim}, more than the parameters have coordinates; write {input_dim} or less"
        );
        return Err(view.complaint("model_dim", message));
    }
    Ok(kind)
}

fn shape(view: &View<'_>, usual: Shape) -> Shape {
    let name = view.text("kernel");
    Shape::ALL.into_iter().find(|shape| name.as_deref() == Some(shape.curve().name())).unwrap_or(usual)
}

fn process(view: &View<'_>) -> Process {
    if view.text("process").as_deref() == Some("exact") {
        return Process::Exact;
    }
    Process::Sparse {
        exact_until: view.integer("exact_until").unwrap_or(0),
        n_inducing: view.integer("inducing").unwrap_or(1),
        inducing: match view.text("inducing_points").as_deref() {
            Some("latin_hypercube") => InducingPoints::LatinHypercube,
            Some("subset") => InducingPoints::Subset,
            _ => InducingPoints::Greedy,
        },
        approximation: match view.text("approximation").as_deref() {
            Some("sor") => Approximation::Sor,
            Some("dtc") => Approximation::Dtc,
            Some("pitc") => Approximation::Pitc { group: view.integer("group").unwrap_or(1) },
            _ => Approximation::Fic,
        },
        objective: match view.text("objective").as_deref() {
            Some("marginal") => Objective::Marginal,
            _ => Objective::Bound,
        },
    }
}

fn maximizer(view: &View<'_>) -> Maximizer {
    if view.text("maximizer").as_deref() == Some("cmaes") {
        let usual = CmaesSearch::default();
        return Maximizer::Cmaes(CmaesSearch {
            evaluations: view.integer("maximizer_evaluations").unwrap_or(usual.evaluations),
            sigma: view.number("sigma").unwrap_or(usual.sigma),
            population: view.integer("population").or(usual.population),
        });
    }
    let usual = Search::default();
    Maximizer::Gradient(Search {
        candidates: view.integer("candidates").unwrap_or(usual.candidates),
        starts: view.integer("starts").unwrap_or(usual.starts),
        rounds: view.integer("rounds").unwrap_or(usual.rounds),
        evaluations: view.integer("maximizer_evaluations").unwrap_or(usual.evaluations),
        spread: view.number("spread").unwrap_or(usual.spread),
    })
}

/// An error about settings, at the key it is about.
fn complaint(view: &View<'_>, error: &Error) -> Complaint {
    let key = match error {
        Error::OutOfRange { what: "n_embeddings", .. } => "embeddings",
        Error::OutOfRange { what: "initial.count", .. } => "initial",
        Error::OutOfRange { what: "acquisition.delta", .. } => "delta",
        Error::OutOfRange { what: "n_inducing", .. } => "inducing",
        Error::OutOfRange { what: "quota.exploit", .. } => {
            let message = "`exploit` and `explore` are both 0, which leaves nothing to do; raise one of them";
            return view.complaint("exploit", message);
        }
        Error::OutOfRange { what, .. } => what,
        _ => "name",
    };
    view.complaint(key, error.to_string())
}
