//! A fitted process in a file: JSON, with the names of its inputs and output. Numbers read back to the same bits.
//!
//! Of the two factors the lower triangles are kept, row by row: m (m + 1) numbers, 2 MB at m = 300.

use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use tribo::surrogate::edges::Edges;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::{Kernel, Shape, Terms};
use tribo::surrogate::sparse::{Approximation, SparsePosterior, State};
use tribo::surrogate::{Posterior, Prediction};

/// The format of a model whose inputs have edges or whose kernel is a sum: programs that know neither are told so.
const FORMAT: u32 = 2;
/// The format of other models, which those programs read, too.
const PLAIN: u32 = 1;

/// A process and what its inputs and its output are called.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// Inputs, in the order of the process.
    pub inputs: Vec<String>,
    /// The output.
    pub output: String,
    /// Beyond which entries of the inputs are read as the edge.
    pub edges: Edges,
    /// The process.
    pub posterior: SparsePosterior,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct OnDisk {
    tribo_model: u32,
    inputs: Vec<String>,
    output: String,
    /// Lower and upper edge of each input, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<[Option<f64>; 2]>,
    kernel: String,
    length_scales: Vec<f64>,
    /// Numbers of the terms of a sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terms: Option<TermsOnDisk>,
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

/// The numbers of a sum's terms, as many as its name has use for.
#[derive(Debug, Serialize, Deserialize)]
struct TermsOnDisk {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    length_scales: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constant: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    slopes: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    centre: Vec<f64>,
}

impl TermsOnDisk {
    fn new(terms: Terms) -> TermsOnDisk {
        let Terms { length_scales, weights, pairs, constant, slopes, centre } = terms;
        TermsOnDisk { length_scales, weights, pairs, constant, slopes, centre }
    }

    fn terms(self) -> Terms {
        let TermsOnDisk { length_scales, weights, pairs, constant, slopes, centre } = self;
        Terms { length_scales, weights, pairs, constant, slopes, centre }
    }
}

impl NamedModel {
    /// What the process says at the rows of `x`, which are clipped.
    pub fn predict(&self, mut x: Mat<f64>) -> tribo::Result<Prediction> {
        if x.ncols() == self.edges.dim() {
            self.edges.clip(x.as_mut());
        }
        self.posterior.predict(x.as_ref())
    }

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
        if !(PLAIN..=FORMAT).contains(&disk.tribo_model) {
            return Err(fault(format!(
                "the model has format {} and this tribo reads up to {FORMAT}; fit it again",
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
        let (low, high) = self.edges.ends();
        let edge = |value: f64| value.is_finite().then_some(value);
        let edges: Vec<[Option<f64>; 2]> = match self.edges.is_none() {
            true => vec![],
            false => low.iter().zip(high).map(|(low, high)| [edge(*low), edge(*high)]).collect(),
        };
        let is_sum = state.hyper.kernel.shape.is_sum();
        let is_plain = edges.is_empty() && !is_sum;
        let tribo_model = if is_plain { PLAIN } else { FORMAT };
        OnDisk {
            tribo_model,
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            edges,
            kernel: state.hyper.kernel.shape.name(),
            length_scales: state.hyper.kernel.length_scales,
            terms: is_sum.then(|| TermsOnDisk::new(state.hyper.kernel.terms)),
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
        let shape = Shape::from_name(&disk.kernel).map_err(|error| error.to_string())?;
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
        let kernel = Kernel {
            shape,
            length_scales: disk.length_scales,
            signal_var: disk.signal_var,
            terms: disk.terms.map_or_else(Terms::default, TermsOnDisk::terms),
        };
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
        let edges = match disk.edges.len() {
            0 => Edges::none(d),
            found if found != d => return Err(format!("{found} pairs of edges for {d} inputs")),
            _ => {
                let low = disk.edges.iter().map(|edge| edge[0].unwrap_or(f64::NEG_INFINITY)).collect();
                let high = disk.edges.iter().map(|edge| edge[1].unwrap_or(f64::INFINITY)).collect();
                Edges::new(low, high).map_err(|error| error.to_string())?
            }
        };
        Ok(NamedModel { inputs: disk.inputs, output: disk.output, edges, posterior })
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
    use tribo::surrogate::train::SparseGp;
    use tribo::surrogate::watch::Unwatched;

    #[test]
    fn a_sum_reads_back_to_the_same_bits() {
        let x = Mat::from_fn(60, 2, |i, k| ((i * (7 + 4 * k)) % 60) as f64 / 59.0);
        let y: Vec<f64> = (0..60).map(|i| (4.0 * x[(i, 0)]).sin() + x[(i, 1)]).collect();
        let shape = Shape::from_name("matern32+additive+pairs+constant+linear").unwrap();
        let gp = SparseGp { shape, ard: true, ..SparseGp::paper(15, &[0.0; 2], &[1.0; 2]) };
        let (posterior, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let names = vec!["a".to_owned(), "b".to_owned()];
        let model = NamedModel { inputs: names, output: "y".to_owned(), edges: Edges::none(2), posterior };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.tribo");
        model.save(&path).unwrap();
        let read = NamedModel::load(&path).unwrap();
        assert_eq!(read.posterior.hyperparameters(), model.posterior.hyperparameters());
        assert_eq!(read.posterior.predict(x.as_ref()).unwrap(), model.posterior.predict(x.as_ref()).unwrap());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{\"tribo_model\":2"), "a program that knows no sums must refuse it");
        for key in ["terms", "length_scales", "weights", "pairs", "constant", "slopes", "centre"] {
            let at = text.rfind(&format!("\"{key}\"")).unwrap();
            fs::write(&path, format!("{}\"others{}", &text[..at], &text[at + 1 + key.len()..])).unwrap();
            assert!(NamedModel::load(&path).unwrap_err().to_string().contains("damaged"), "{key}");
        }
    }

    #[test]
    fn a_model_reads_back_to_the_same_bits_and_a_damaged_one_is_refused() {
        let x = Mat::from_fn(60, 2, |i, k| ((i * (7 + 4 * k)) % 60) as f64 / 59.0);
        let y: Vec<f64> = (0..60).map(|i| (4.0 * x[(i, 0)]).sin() + x[(i, 1)]).collect();
        let gp = SparseGp::paper(15, &[0.0; 2], &[1.0; 2]);
        let (posterior, _) = gp.fit(x.as_ref(), &y, &Unwatched).unwrap();
        let names = vec!["a".to_owned(), "b".to_owned()];
        let edges = Edges::none(2);
        let mut model = NamedModel { inputs: names, output: "y".to_owned(), edges, posterior };
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
        model.edges = Edges::new(vec![f64::NEG_INFINITY, 0.1], vec![f64::INFINITY, 0.7]).unwrap();
        model.save(&path).unwrap();
        let read = NamedModel::load(&path).unwrap();
        assert_eq!(read.edges, model.edges);
        let at = |b: f64| read.predict(Mat::from_fn(1, 2, |_, k| [0.4, b][k])).unwrap();
        assert_eq!((at(-3.0), at(9.0)), (at(0.1), at(0.7)));
        assert_ne!(at(0.1), at(0.2));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{\"tribo_model\":2"), "a program that knows no edges must refuse it");
        fs::write(&path, text.replacen("[0.1,0.7]", "[0.8,0.7]", 1)).unwrap();
        assert!(NamedModel::load(&path).unwrap_err().to_string().contains("damaged"));
    }
}
