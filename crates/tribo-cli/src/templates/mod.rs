//! Studies to begin with, part of the program. They are the files of `examples/` at the root of the repository, where they
//! run as they are; the study file without an example is in `templates/` of this crate.

pub(crate) mod line;

/// A file of a template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its content.
    pub(crate) text: &'static str,
}

/// The study file of a folder without a template.
pub(crate) const PLAIN: &[File] =
    &[File { name: "study.toml", text: include_str!("../../templates/plain/study.toml") }];

/// A study of a small shell script.
pub(crate) const QUICK: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/quick/study.toml") },
    File { name: "branin.sh", text: include_str!("../../../../examples/quick/branin.sh") },
];

/// A solver with an input deck and a log.
pub(crate) const DECK: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/deck/study.toml") },
    File { name: "beam.in.template", text: include_str!("../../../../examples/deck/beam.in.template") },
    File { name: "solve.sh", text: include_str!("../../../../examples/deck/solve.sh") },
];

/// A driver written for Dakota.
pub(crate) const DAKOTA: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/dakota/study.toml") },
    File { name: "driver.sh", text: include_str!("../../../../examples/dakota/driver.sh") },
];

/// Ten thousand inputs.
pub(crate) const WIDE: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/wide/study.toml") },
    File { name: "wide.py", text: include_str!("../../../../examples/wide/wide.py") },
];

/// Jobs of SLURM.
pub(crate) const SLURM: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/slurm/study.toml") },
    File { name: "simulate.sh", text: include_str!("../../../../examples/slurm/simulate.sh") },
];

/// Jobs of PBS.
pub(crate) const PBS: &[File] = &[
    File { name: "study.toml", text: include_str!("../../../../examples/pbs/study.toml") },
    File { name: "simulate.sh", text: include_str!("../../../../examples/pbs/simulate.sh") },
];
