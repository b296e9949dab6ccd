//! Settings: bad ones are refused by name before anything runs, all others run.

use super::{branin, run, space_of, study_of};
use tribo::acquisition::maximize::{CmaesSearch, Search};
use tribo::embed::Kind;
use tribo::space::Direction;
use tribo::strategy::{
    Acquisition, Design, InducingPoints, Initial, Maximizer, Process, Quota, Settings, Strategy, Study,
};
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::sparse::{Approximation, Objective};

fn sparse(n_inducing: usize, inducing: InducingPoints) -> Process {
    let (approximation, objective) = (Approximation::Fic, Objective::Bound);
    Process::Sparse { exact_until: 0, n_inducing, inducing, approximation, objective }
}

fn with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::bo();
    change(&mut settings);
    settings
}

#[test]
fn bad_settings_are_refused_by_name() {
    let cases = [
        ("n_embeddings is 0", with(|s| s.n_embeddings = 0)),
        ("refit_growth is 0.5", with(|s| s.refit_growth = 0.5)),
        ("refit_growth is NaN", with(|s| s.refit_growth = f64::NAN)),
        ("initial.count is 0", with(|s| s.initial.count = Some(0))),
        ("delta is 0", with(|s| s.acquisition = Acquisition::Ucb { delta: 0.0 })),
        ("delta is 1", with(|s| s.acquisition = Acquisition::Ucb { delta: 1.0 })),
        ("n_inducing is 0", with(|s| s.surrogate.process = sparse(0, InducingPoints::Greedy))),
        ("embedding", with(|s| s.embedding = Kind::Hashing { dim: 0, signs: true })),
        ("embedding", with(|s| s.embedding = Kind::Hashing { dim: 3, signs: false })),
        ("embedding", with(|s| s.embedding = Kind::Gaussian { dim: 0, half_width: 1.0 })),
        ("embedding", with(|s| s.embedding = Kind::Gaussian { dim: 3, half_width: 1.0 })),
        ("half_width", with(|s| s.embedding = Kind::Gaussian { dim: 2, half_width: 0.0 })),
        ("quota", with(|s| s.quota = Quota { exploit: 0, explore: 0, border: 0 })),
    ];
    for (name, settings) in cases {
        for strategy in [Strategy::Bo(settings.clone()), Strategy::Paper(settings.clone())] {
            let study = Study::new(space_of(&branin()), Direction::Minimize, strategy, None, 1);
            let error = study.err().unwrap_or_else(|| panic!("accepted although {name}"));
            assert!(error.to_string().contains(name), "`{error}` does not say `{name}`");
        }
    }
}

#[test]
fn every_choice_runs() {
    let gradient = Maximizer::Gradient(Search { candidates: 64, ..Search::default() });
    let cmaes = Maximizer::Cmaes(CmaesSearch { evaluations: 200, ..CmaesSearch::default() });
    let mut cases = Vec::new();
    for acquisition in [
        Acquisition::LogEi,
        Acquisition::Ei,
        Acquisition::Pi,
        Acquisition::Ucb { delta: 0.95 },
        Acquisition::Kg,
        Acquisition::Portfolio,
    ] {
        for maximizer in [&gradient, &cmaes] {
            for trust_region in [false, true] {
                cases.push(with(|s| {
                    (s.acquisition, s.maximizer, s.trust_region) =
                        (acquisition, maximizer.clone(), trust_region);
                }));
            }
        }
    }
    for inducing in [InducingPoints::LatinHypercube, InducingPoints::Subset, InducingPoints::Greedy] {
        cases.push(with(|s| s.surrogate.process = sparse(8, inducing)));
    }
    for design in [Design::Sobol, Design::Uniform] {
        cases.push(with(|s| s.initial = Initial { count: Some(5), design }));
        cases.push(with(|s| s.initial = Initial { count: Some(1), design }));
    }
    for embedding in [Kind::Hashing { dim: 1, signs: true }, Kind::Gaussian { dim: 2, half_width: 1.0 }] {
        cases.push(with(|s| (s.embedding, s.n_embeddings) = (embedding, 3)));
    }
    cases.push(with(|s| s.quota = Quota { exploit: 0, explore: 1, border: 0 }));
    cases.push(with(|s| (s.surrogate.shape, s.surrogate.ard) = (Shape::SquaredExponential, false)));
    cases.push(with(|s| (s.surrogate.priors, s.warp) = (false, false)));
    let problem = branin();
    for settings in cases {
        let mut study = study_of(&problem, Strategy::Bo(settings.clone()), 7);
        assert_eq!(run(&mut study, 15, |x| problem.evaluate(x)).len(), 15, "{settings:?}");
        assert!(study.best().expect("a best trial").is_some());
    }
}

#[test]
fn auto_says_what_it_picked_and_why() {
    for (dim, budget, says) in [
        (2, None, "bo: 2 inputs"),
        (40, None, "bo: 40"),
        (51, Some(400), "51 inputs, those that matter are looked for first"),
        (51, Some(59), "1 hashing embedding(s) of 4 bins: 51"),
    ] {
        let problem = tribo::problems::by_name("ackley", dim).unwrap();
        let study = Study::new(space_of(&problem), Direction::Minimize, Strategy::auto(), budget, 1).unwrap();
        assert!(study.explanation().contains(says), "{}", study.explanation());
    }
}
