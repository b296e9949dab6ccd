//! A fitted process in a file: JSON, with the names of its inputs and output. Numbers read back to the same bits.
//!
//! Of the two factors the lower triangles are kept, row by row: m (m + 1) numbers, 2 MB at m = 300.

use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::{Kernel, Shape};
use tribo::surrogate::sparse::{Approximation, SparsePosterior, State};

/// The format that is written.
const FORMAT: u32 = 1;

/// A process and what its inputs and its output are called.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// Inputs, in the order of the process.
    pub inputs: Vec<String>,
    /// The output.
    pub output: String,
    /// The process.
    pub posterior: SparsePosterior,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct OnDisk {
    tribo_model: u32,
    inputs: Vec<String>,
    output: String,
    kernel: String,
    length_scales: Vec<f64>,
    signal_var: f64,
    noise_var: f64,
    approximation: String,
    /// Of a mean that is not estimated.
    mean: Option<f64>,
    /// Rows of Z_u.
    inducing: Vec<Vec<f64>>,
    luu: Vec<Vec<f64>>,
    luu_jitter: f64,
    lb: Vec<Vec<f64>>,
    lb_jitter: f64,
    y_shift: f64,
    v_y: Vec<f64>,
    v_one: Vec<f64>,
    sums: [f64; 6],
}

impl NamedModel {
    /// Writes the file: whole, or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut name = path.file_name().map(std::ffi::OsString::from).unwrap_or_default();
        name.push(".part");
        let part = path.with_file_name(name);
        let failed = |source: std::io::Error| Error::io("cannot write", path)(source);
        let write = || -> std::io::Result<()> {
            let mut out = BufWriter::new(File::create(&part)?);
            serde_json::to_writer(&mut out, &self.on_disk())?;
            out.write_all(b"\n")?;
            out.into_inner()?.sync_all()?;
            fs::rename(&part, path)
        };
        write().inspect_err(|_| drop(fs::remove_file(&part))).map_err(failed)
    }

    /// Reads a file that [`NamedModel::save`] wrote.
    pub fn load(path: &Path) -> Result<NamedModel> {
        let file = File::open(path).map_err(Error::io("cannot read", path))?;
        let fault = |what: String| Error::Usage(format!("{}: {what}", path.display()));
        let read = serde_json::from_reader(BufReader::new(file));
        let disk: OnDisk = read.map_err(|error| fault(format!("this is not a model of tribo's: {error}")))?;
        if disk.tribo_model != FORMAT {
            return Err(fault(format!(
                "the model has format {} and this tribo reads {FORMAT}; fit it again",
                disk.tribo_model
            )));
        }
        NamedModel::from_disk(disk).map_err(|what| fault(format!("the model is damaged: {what}")))
    }

    fn on_disk(&self) -> OnDisk {
        let state = self.posterior.state();
        let approximation = match state.approximation {
            Approximation::Sor => "sor".to_owned(),
            Approximation::Dtc => "dtc".to_owned(),
            Approximation::Fic => "fic".to_owned(),
            Approximation::Pitc { group } => format!("pitc {group}"),
        };
        let mean = match state.mean {
            Mean::Estimated => None,
            Mean::Fixed(mean) => Some(mean),
        };
        OnDisk {
            tribo_model: FORMAT,
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            kernel: state.hyper.kernel.shape.name().to_owned(),
            length_scales: state.hyper.kernel.length_scales,
            signal_var: state.hyper.kernel.signal_var,
            noise_var: state.hyper.noise_var,
            approximation,
            mean,
            inducing: rows(&state.inducing, |_| state.inducing.ncols()),
            luu: rows(&state.luu, |i| i + 1),
            luu_jitter: state.luu_jitter,
            lb: rows(&state.lb, |i| i + 1),
            lb_jitter: state.lb_jitter,
            y_shift: state.y_shift,
            v_y: state.v_y,
            v_one: state.v_one,
            sums: state.sums,
        }
    }

    fn from_disk(disk: OnDisk) -> std::result::Result<NamedModel, String> {
        let d = disk.inputs.len();
        let shape =
            Shape::from_name(&disk.kernel).ok_or_else(|| format!("there is no kernel {:?}", disk.kernel))?;
        let approximation = match disk.approximation.split_once(' ') {
            Some(("pitc", group)) => group.parse().ok().map(|group| Approximation::Pitc { group }),
            None => match disk.approximation.as_str() {
                "sor" => Some(Approximation::Sor),
                "dtc" => Some(Approximation::Dtc),
                "fic" => Some(Approximation::Fic),
                _ => None,
            },
            Some(_) => None,
        };
        let approximation = approximation.ok_or_else(|| format!("there is no {:?}", disk.approximation))?;
        let m = disk.inducing.len();
        let kernel = Kernel { shape, length_scales: disk.length_scales, signal_var: disk.signal_var };
        let state = State {
            approximation,
            mean: disk.mean.map_or(Mean::Estimated, Mean::Fixed),
            hyper: Hyperparameters { kernel, noise_var: disk.noise_var },
            inducing: matrix(&disk.inducing, d, |_| d)?,
            luu: matrix(&disk.luu, m, |i| i + 1)?,
            luu_jitter: disk.luu_jitter,
            lb: matrix(&disk.lb, m, |i| i + 1)?,
            lb_jitter: disk.lb_jitter,
            y_shift: disk.y_shift,
            v_y: disk.v_y,
            v_one: disk.v_one,
            sums: disk.sums,
        };
        let posterior = SparsePosterior::from_state(state).map_err(|error| error.to_string())?;
        Ok(NamedModel { inputs: disk.inputs, output: disk.output, posterior })
    }
}

/// Rows of a matrix, each up to its length.
fn rows(matrix: &Mat<f64>, length: impl Fn(usize) -> usize) -> Vec<Vec<f64>> {
    (0..matrix.nrows()).map(|i| (0..length(i)).map(|j| matrix[(i, j)]).collect()).collect()
}

/// The matrix of such rows, with zeros for the rest.
fn matrix(
    rows: &[Vec<f64>],
    n_columns: usize,
    length: impl Fn(usize) -> usize,
) -> std::result::Result<Mat<f64>, String> {
    if let Some(i) = (0..rows.len()).find(|&i| rows[i].len() != length(i)) {
        return Err(format!("row {i} of a matrix has {} numbers, not {}", rows[i].len(), length(i)));
    }
    Ok(Mat::from_fn(rows.len(), n_columns, |i, j| rows[i].get(j).copied().unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribo::surrogate::Posterior;
    use tribo::surrogate::train::SparseGp;
    use tribo::surrogate::watch::Unwatched;

    #[test]
    fn a_model_reads_back_to_the_same_bits_and_a_damaged_one_is_refused() {
        let x = Mat::from_fn(60, 2, |i, k| ((i * (7 + 4 * k)) % 60) as f64 / 59.0);
        let y: Vec<f64> = (0..60).map(|i| (4.0 * x[(i, 0)]).sin() + x[(i, 1)]).collect();
        let gp = SparseGp::paper(15, &[0.0; 2], &[1.0; 2]);
        let (posterior, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let names = vec!["a".to_owned(), "b".to_owned()];
        let model = NamedModel { inputs: names, output: "y".to_owned(), posterior };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.tribo");
        model.save(&path).unwrap();
        let read = NamedModel::load(&path).unwrap();
        assert_eq!((&read.inputs, &read.output), (&model.inputs, &model.output));
        assert_eq!(read.posterior.predict(x.as_ref()).unwrap(), model.posterior.predict(x.as_ref()).unwrap());
        let text = fs::read_to_string(&path).unwrap();
        for (bad, said) in [
            (text[..text.len() / 2].to_owned(), "not a model"),
            (text.replacen("\"tribo_model\":1", "\"tribo_model\":9", 1), "format 9"),
            (text.replacen("\"fic\"", "\"best\"", 1), "damaged"),
            (text.replacen("\"inputs\":[\"a\",", "\"inputs\":[", 1), "damaged"),
        ] {
            fs::write(&path, bad).unwrap();
            let error = NamedModel::load(&path).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("model.tribo"), "{error}");
        }
    }
}
