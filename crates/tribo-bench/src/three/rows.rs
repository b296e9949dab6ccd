//! Earlier results that nobody holds: every number follows from the seed, the row and the column.

use crate::rivals::suite::Instance;
use faer::MatMut;
use rayon::prelude::*;
use tribo::Result;
use tribo::rng::{Stream, bits_at, uniform_at};
use tribo::space::Kind;
use tribo::surrogate::source::{Reader, Source};

/// What the earlier results are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Earlier {
    /// Random points of the same function.
    Same,
    /// The same with normal noise of 10 % of the spread of the values.
    Noisy,
    /// Around one design, three inputs of a hundred varied in a row.
    OneDesign,
    /// Of another function of the same inputs: its optimum is elsewhere.
    Moved,
    /// Of the same function of other inputs.
    OtherInputs,
    /// Values that have nothing to do with the inputs.
    Unrelated,
    /// All values are the same.
    Constant,
    /// A hundred rows, again and again.
    Repeated,
}

/// Rows made from a seed.
pub struct MadeRows<'a> {
    /// The function that the rows were measured with.
    pub instance: &'a Instance,
    /// What they are like.
    pub earlier: Earlier,
    /// How many.
    pub n: usize,
    /// Decides all of them.
    pub seed: u64,
    columns: Columns,
    /// Lower end and width of the inputs.
    bounds: (f64, f64),
    noise_sd: f64,
}

/// Which inputs are read.
#[derive(Clone)]
enum Columns {
    All(usize),
    Some(Vec<usize>),
}

impl<'a> MadeRows<'a> {
    /// Rows of a problem whose inputs all have the same bounds.
    pub fn new(instance: &'a Instance, earlier: Earlier, n: usize, seed: u64) -> Option<MadeRows<'a>> {
        let [parameter] = instance.space.parameters() else { return None };
        let Kind::Float { low, high, .. } = *parameter.kind() else { return None };
        let columns = Columns::All(instance.space.n_inputs());
        let bounds = (low, high - low);
        let mut rows = MadeRows { instance, earlier, n, seed, columns, bounds, noise_sd: 0.0 };
        if earlier == Earlier::Noisy {
            let mut x = rows.scratch();
            let values: Vec<f64> = (0..1_000).map(|row| rows.value(row, &mut x)).collect();
            let mean = values.iter().sum::<f64>() / 1e3;
            rows.noise_sd = 0.1 * (values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 1e3).sqrt();
        }
        Some(rows)
    }

    fn column(&self, k: usize) -> usize {
        match &self.columns {
            Columns::All(_) => k,
            Columns::Some(columns) => columns[k],
        }
    }

    /// What the numbers of a row are made from.
    fn key(&self, row: usize) -> u64 {
        let row = if self.earlier == Earlier::Repeated { row % 100 } else { row };
        bits_at(self.seed ^ 0x0074_6872_6565, row as u64)
    }

    fn number(&self, key: u64, column: usize) -> f64 {
        let u = uniform_at(key, column as u64);
        let u = match self.earlier {
            // A second number says whether it is varied at all.
            Earlier::OneDesign if uniform_at(!key, column as u64) >= 0.03 => 0.35,
            _ => u,
        };
        self.bounds.0 + self.bounds.1 * u
    }

    /// Room for a point; only inputs that matter are ever written.
    fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.instance.space.n_inputs()]
    }

    fn value(&self, row: usize, x: &mut [f64]) -> f64 {
        let key = self.key(row);
        let noise = || Stream::new(self.seed, "noise of earlier results", row as u64).normal();
        match self.earlier {
            Earlier::Unrelated => return noise(),
            Earlier::Constant => return 1.0,
            _ => {}
        }
        for &input in self.instance.active.as_deref().unwrap_or(&[]) {
            x[input] = self.number(key, input);
        }
        let truth = self.instance.value_at(x);
        if self.noise_sd > 0.0 { truth + self.noise_sd * noise() } else { truth }
    }

    /// The best of the rows there are.
    pub fn lowest(&self) -> f64 {
        let of = |x: &mut Vec<f64>, row: usize| self.value(row, x);
        (0..self.n).into_par_iter().map_init(|| self.scratch(), of).reduce(|| f64::INFINITY, f64::min)
    }
}

impl Source for MadeRows<'_> {
    fn len(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        match &self.columns {
            Columns::All(n) => *n,
            Columns::Some(columns) => columns.len(),
        }
    }

    fn reader(&self, start: usize) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(Place { rows: self, next: start, keys: vec![], x: self.scratch() }))
    }

    fn columns(&self, columns: &[usize]) -> Option<Box<dyn Source + '_>> {
        let columns = Columns::Some(columns.iter().map(|&k| self.column(k)).collect());
        let MadeRows { instance, earlier, n, seed, bounds, noise_sd, .. } = *self;
        Some(Box::new(MadeRows { instance, earlier, n, seed, columns, bounds, noise_sd }))
    }
}

/// A place among the rows.
struct Place<'a> {
    rows: &'a MadeRows<'a>,
    next: usize,
    keys: Vec<u64>,
    x: Vec<f64>,
}

impl Reader for Place<'_> {
    fn read(&mut self, mut x: MatMut<'_, f64>, y: &mut [f64]) -> Result<()> {
        self.keys.clear();
        self.keys.extend((self.next..self.next + y.len()).map(|row| self.rows.key(row)));
        for k in 0..x.ncols() {
            let column = self.rows.column(k);
            for (out, &key) in x.as_mut().col_mut(k).iter_mut().zip(&self.keys) {
                *out = self.rows.number(key, column);
            }
        }
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.rows.value(self.next + i, &mut self.x);
        }
        self.next += y.len();
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.next += n;
        Ok(())
    }
}
