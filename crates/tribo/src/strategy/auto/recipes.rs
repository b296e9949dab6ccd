//! Points made from recipes: all inputs of one trial, or a few inputs of many.
//!
//! Every random number is a function of the seed, a name and a coordinate, so the value of one input costs nothing more
//! than itself, and a point of a million coordinates is never kept. Inputs that are integers or categories are put where
//! the evaluation sees them.

use super::screening::part_at;
use super::tuning;
use crate::design::latin_cell;
use crate::error::{Error, Result};
use crate::rng::{Stream, bits_at, uniform_at};
use crate::space::formula::Region;
use crate::space::{Input, Space};
use crate::trial::{Moves, Recipe, RoundStart, Trial, TrialId};
use std::collections::BTreeMap;

/// Not in the round.
const ABSENT: u32 = u32::MAX;

/// What makes points: the space, the seed, and the rounds of screening so far.
pub(in crate::strategy) struct Recipes {
    space: Space,
    pub(super) n_inputs: usize,
    /// The inputs; None where input j is coordinate j and takes every value.
    inputs: Option<Vec<Input>>,
    seed: u64,
    rounds: BTreeMap<usize, RoundMap>,
    /// Bin of every input, for each time that they were drawn.
    bins: Vec<Vec<u32>>,
    made: BTreeMap<u64, (Recipe, Vec<f64>)>,
    constrained: Option<Constrained>,
}

/// Constraints between inputs.
struct Constrained {
    /// Where they are met, in the coordinates of the inputs that they look at.
    region: Region,
    /// Those inputs, in increasing order.
    inputs: Vec<usize>,
    /// The trials that would miss one of them, and what became of those inputs.
    mended: BTreeMap<u64, Vec<f64>>,
}

impl Constrained {
    fn new(space: &Space) -> Option<Constrained> {
        let region = space.region()?;
        let coordinates = region.coordinates();
        // What constraints look at are numbers, of one coordinate each.
        let of_coordinate: BTreeMap<usize, usize> =
            space.inputs().enumerate().map(|(number, input)| (input.coordinates.start, number)).collect();
        let inputs = coordinates.iter().map(|coordinate| of_coordinate[coordinate]).collect();
        let region = region.slice(&coordinates, &vec![0.5; coordinates.len()]);
        Some(Constrained { region, inputs, mended: BTreeMap::new() })
    }
}

/// What a round of screening moves, and which way.
pub(super) struct RoundMap {
    pub(super) start: RoundStart,
    /// The inputs of the round in random order.
    pub(super) order: Vec<u32>,
    /// Where in the order an input is.
    place: Vec<u32>,
}

impl RoundMap {
    fn new(start: RoundStart, order: Vec<u32>, n_inputs: usize) -> RoundMap {
        let mut place = vec![ABSENT; n_inputs];
        for (index, &input) in order.iter().enumerate() {
            place[input as usize] = index as u32;
        }
        RoundMap { start, order, place }
    }

    /// The part of the step that an input takes, without its sign; 0 if it is not in the group.
    fn weight(&self, input: usize, parts: &[(usize, usize)], chunk: Option<usize>) -> f64 {
        let place = self.place[input];
        if place == ABSENT {
            return 0.0;
        }
        let place = place as usize;
        let mut rank = 0;
        for &(start, end) in parts {
            if (start..end).contains(&place) {
                rank += place - start;
                let Some(chunk) = chunk else { return 1.0 };
                let m: usize = parts.iter().map(|(start, end)| end - start).sum();
                return (rank / chunk + 1) as f64 / m.div_ceil(chunk) as f64;
            }
            rank += end - start;
        }
        0.0
    }

    /// The sum of all signed steps of a group whose signs alternate.
    fn sum(&self, parts: &[(usize, usize)], chunk: Option<usize>, step: f64) -> f64 {
        let places = parts.iter().flat_map(|&(start, end)| start..end);
        places
            .map(|place| {
                let weight = self.weight(self.order[place] as usize, parts, chunk);
                alternating(place) * step * weight
            })
            .sum()
    }
}

fn alternating(place: usize) -> f64 {
    if place.is_multiple_of(2) { 1.0 } else { -1.0 }
}

impl Recipes {
    pub(in crate::strategy) fn new(space: &Space, seed: u64) -> Recipes {
        let n_inputs = space.n_inputs();
        let plain = n_inputs == space.dim()
            && space.parameters().iter().all(|p| matches!(p.kind(), crate::space::Kind::Float { .. }));
        let inputs = (!plain).then(|| space.inputs().collect());
        Recipes {
            space: space.clone(),
            n_inputs,
            inputs,
            seed,
            rounds: BTreeMap::new(),
            bins: vec![],
            made: BTreeMap::new(),
            constrained: Constrained::new(space),
        }
    }

    /// Number of coordinates of the cube.
    pub(super) fn dim(&self) -> usize {
        self.space.dim()
    }

    pub(super) fn name(&self, input: usize) -> String {
        self.space.input_name(self.span(input).0).unwrap_or_default()
    }

    /// How many values an input takes, if not every one in between.
    pub(super) fn n_values(&self, input: usize) -> Option<u64> {
        self.inputs.as_ref()?[input].n_values
    }

    pub(super) fn is_discrete(&self, input: usize) -> bool {
        self.n_values(input).is_some()
    }

    /// First coordinate and number of coordinates.
    fn span(&self, input: usize) -> (usize, usize) {
        match &self.inputs {
            None => (input, 1),
            Some(inputs) => (inputs[input].coordinates.start, inputs[input].coordinates.len()),
        }
    }

    /// Coordinates of these inputs.
    pub(super) fn width(&self, inputs: &[usize]) -> usize {
        inputs.iter().map(|&input| self.span(input).1).sum()
    }

    /// Inputs that a round with this start moves, in increasing order: those that are not named, and take part in such moves.
    pub(super) fn movable(&self, start: &RoundStart) -> Vec<u32> {
        let is_named = |input: usize| start.named.binary_search(&input).is_ok();
        let moves = |input: usize| start.moves == Moves::Far || !self.is_discrete(input);
        (0..self.n_inputs).filter(|&j| !is_named(j) && moves(j)).map(|j| j as u32).collect()
    }

    /// Begins the next round and returns its number.
    pub(super) fn add_round(&mut self, start: RoundStart) -> usize {
        let number = self.rounds.last_key_value().map_or(0, |(last, _)| last + 1);
        self.set_round(number, start);
        number
    }

    fn set_round(&mut self, number: usize, start: RoundStart) {
        let mut order = self.movable(&start);
        Stream::new(self.seed, "round of screening", number as u64).shuffle(&mut order);
        self.rounds.insert(number, RoundMap::new(start, order, self.n_inputs));
    }

    pub(super) fn round(&self, number: usize) -> &RoundMap {
        &self.rounds[&number]
    }

    /// Takes note of how a trial was made that another process asked: rounds and bins are those the recipe speaks of.
    pub(in crate::strategy) fn learn(&mut self, id: TrialId, recipe: Recipe, z: Vec<f64>) -> Result<()> {
        match &recipe {
            Recipe::Move { round, began: Some(start), .. } if !self.rounds.contains_key(round) => {
                self.set_round(*round, (**start).clone());
            }
            // Each draw takes a trial before it.
            Recipe::Bins { number, .. } if *number <= self.made.len() => {
                while self.bins.len() <= *number {
                    self.make_bins(tuning::BINS);
                }
            }
            _ => {}
        }
        if !self.is_sound(&recipe, &z) {
            return Err(Error::NoRecipe { id: id.0 });
        }
        self.note(id, recipe, z);
        Ok(())
    }

    /// Whether a point can be made of this.
    fn is_sound(&self, recipe: &Recipe, z: &[f64]) -> bool {
        let is_made = |id: &TrialId| self.made.contains_key(&id.0);
        let rising = |inputs: &[usize]| inputs.windows(2).all(|pair| pair[0] < pair[1]);
        let are_inputs =
            |inputs: &[usize]| rising(inputs) && inputs.last().is_none_or(|&j| j < self.n_inputs);
        match recipe {
            Recipe::Centre | Recipe::Low | Recipe::High | Recipe::Uniform => true,
            Recipe::Latin { count, row, .. } => row < count && *count <= tuning::LATIN_ROWS,
            Recipe::Jitter { base, .. } | Recipe::Scatter { base, .. } | Recipe::Line { base, .. } => {
                is_made(base)
            }
            Recipe::Move { round, parts, chunk, .. } => self.rounds.get(round).is_some_and(|map| {
                let inside = |&(start, end): &(usize, usize)| start < end && end <= map.order.len();
                is_made(&map.start.base) && *chunk != Some(0) && parts.iter().all(inside)
            }),
            Recipe::Set { base, inputs } => {
                is_made(base) && are_inputs(inputs) && z.len() == self.width(inputs)
            }
            Recipe::Others { base, kept } => is_made(base) && are_inputs(kept),
            Recipe::Bins { base, number } => {
                is_made(base) && *number < self.bins.len() && z.len() == tuning::BINS
            }
            Recipe::Pairs { runs, .. } => (1..=self.n_inputs).contains(runs) && z.len() == 2 * runs,
            Recipe::Given => z.len() == self.dim(),
        }
    }

    /// Draws `count` equal bins at random and returns the number of the draw.
    pub(super) fn make_bins(&mut self, count: usize) -> usize {
        let number = self.bins.len();
        let mut bins: Vec<u32> = (0..self.n_inputs).map(|input| (input % count) as u32).collect();
        Stream::new(self.seed, "bins", number as u64).shuffle(&mut bins);
        self.bins.push(bins);
        number
    }

    /// The last trial that was noted.
    pub(super) fn last_id(&self) -> Option<u64> {
        self.made.last_key_value().map(|(&id, _)| id)
    }

    /// Takes note of how a trial was made.
    pub(super) fn note(&mut self, id: TrialId, recipe: Recipe, z: Vec<f64>) {
        let mended = self.mended(id, &recipe, &z);
        self.made.insert(id.0, (recipe, z));
        if let (Some(constrained), Some(mended)) = (&mut self.constrained, mended) {
            constrained.mended.insert(id.0, mended);
        }
    }

    /// What becomes of the inputs that constraints look at, if a point made like this would miss one of them.
    fn mended(&self, id: TrialId, recipe: &Recipe, z: &[f64]) -> Option<Vec<f64>> {
        let Constrained { region, inputs, .. } = self.constrained.as_ref()?;
        if matches!(recipe, Recipe::Given) {
            return None;
        }
        let seen = self.as_written(id, recipe, z, inputs);
        if region.admits(&seen) { None } else { region.nearest(&seen) }
    }

    /// Where constraints between inputs are met by a point whose inputs `moved` are searched, while the others stay as in a
    /// trial; None if there are none.
    pub(super) fn region(&self, moved: &[usize], base: TrialId) -> Option<Region> {
        let Constrained { inputs, .. } = self.constrained.as_ref()?;
        let coordinates: Vec<usize> = moved
            .iter()
            .flat_map(|&input| {
                let (first, width) = self.span(input);
                first..first + width
            })
            .collect();
        self.space.region().map(|region| region.slice(&coordinates, &self.of(base, inputs)))
    }

    pub(super) fn recipe(&self, id: TrialId) -> Option<&Recipe> {
        self.made.get(&id.0).map(|(recipe, _)| recipe)
    }

    /// Whether all coordinates of a trial were made low or high.
    pub(super) fn is_corner(&self, id: TrialId) -> bool {
        match self.made.get(&id.0) {
            Some((Recipe::Low | Recipe::High, _)) => true,
            Some((Recipe::Pairs { .. }, z)) => z.iter().all(|u| *u == 0.0 || *u == 1.0),
            _ => false,
        }
    }

    /// The z of a trial.
    pub(super) fn z(&self, id: TrialId) -> &[f64] {
        self.made.get(&id.0).map_or(&[], |(_, z)| z)
    }

    /// Coordinates of some inputs of a trial that was noted.
    pub(in crate::strategy) fn of(&self, id: TrialId, inputs: &[usize]) -> Vec<f64> {
        match self.made.get(&id.0) {
            Some((recipe, z)) => self.made_of(id, recipe, z, inputs),
            None => vec![0.5; self.width(inputs)],
        }
    }

    /// All coordinates of a trial, noted or not.
    pub(super) fn point(&self, trial: &Trial) -> Vec<f64> {
        let all: Vec<usize> = (0..self.n_inputs).collect();
        match trial.recipe.as_deref() {
            Some(recipe) => self.made_of(trial.id, recipe, &trial.z, &all),
            None => vec![0.0; self.dim()],
        }
    }

    /// Coordinates of some inputs of a point that is made like this, and meets the constraints between inputs.
    pub(super) fn made_of(&self, id: TrialId, recipe: &Recipe, z: &[f64], inputs: &[usize]) -> Vec<f64> {
        let mut out = self.as_written(id, recipe, z, inputs);
        let Some(constrained) = &self.constrained else { return out };
        if !inputs.iter().any(|input| constrained.inputs.binary_search(input).is_ok()) {
            return out;
        }
        let anew = if self.made.contains_key(&id.0) { None } else { self.mended(id, recipe, z) };
        let Some(mended) = constrained.mended.get(&id.0).or(anew.as_ref()) else { return out };
        let mut at = 0;
        for &input in inputs {
            if let Ok(place) = constrained.inputs.binary_search(&input) {
                out[at] = mended[place];
            }
            at += self.span(input).1;
        }
        out
    }

    /// The same without a look at constraints.
    fn as_written(&self, id: TrialId, recipe: &Recipe, z: &[f64], inputs: &[usize]) -> Vec<f64> {
        let width = self.width(inputs);
        let mut out = match recipe {
            Recipe::Centre => vec![0.5; width],
            Recipe::Low => vec![0.0; width],
            Recipe::High => vec![1.0; width],
            Recipe::Latin { batch, count, row } => {
                let key = Stream::new(self.seed, "latin rows", *batch as u64).bits();
                self.each(inputs, |coordinate| latin_cell(key, coordinate, *count, *row))
            }
            Recipe::Uniform => self.uniform(id, inputs),
            Recipe::Jitter { base, balanced } => {
                self.moved_by(*base, inputs, self.jitter(id, *balanced, inputs))
            }
            Recipe::Scatter { base, step } => {
                let key = self.scatter_key(id);
                let by = self.each(inputs, |coordinate| step * part_at(key, coordinate));
                self.moved_by(*base, inputs, by)
            }
            Recipe::Move { round, parts, chunk, step, .. } => {
                self.moved(&self.rounds[round], parts, *chunk, *step, inputs)
            }
            Recipe::Given => self.each(inputs, |coordinate| z[coordinate]),
            Recipe::Set { base, inputs: set } => self.with_set(*base, set, z, inputs),
            Recipe::Others { base, kept } => self.others_uniform(id, *base, kept, inputs),
            Recipe::Line { base, shift } => self.moved_by(*base, inputs, vec![*shift; width]),
            Recipe::Bins { base, number } => {
                let Some(bins) = self.bins.get(*number) else { return self.of(*base, inputs) };
                let shift = |input: usize| z[bins[input] as usize] - 0.5;
                let by = inputs.iter().flat_map(|&input| vec![shift(input); self.span(input).1]);
                self.moved_by(*base, inputs, by.collect())
            }
            Recipe::Pairs { runs, halves } => {
                let n_pairs = self.n_inputs.div_ceil(2);
                let place = |input: usize| {
                    let (pair, side) = match halves {
                        true => (input % n_pairs, input / n_pairs),
                        false => (input / 2, input % 2),
                    };
                    2 * (pair * runs / n_pairs) + side
                };
                inputs.iter().flat_map(|&input| vec![z[place(input)]; self.span(input).1]).collect()
            }
        };
        self.snap(inputs, &mut out);
        out
    }

    /// Puts integers and categories where the evaluation sees them.
    fn snap(&self, inputs: &[usize], out: &mut [f64]) {
        let Some(table) = &self.inputs else { return };
        let mut at = 0;
        for &input in inputs {
            let Input { coordinates, n_values } = &table[input];
            if n_values.is_some() {
                self.space.snap_input(coordinates.start, &mut out[at..at + coordinates.len()]);
            }
            at += coordinates.len();
        }
    }

    /// Inputs of a trial, each coordinate moved by its own length.
    fn moved_by(&self, base: TrialId, inputs: &[usize], by: Vec<f64>) -> Vec<f64> {
        let mut out = self.of(base, inputs);
        out.iter_mut().zip(by).for_each(|(u, by)| *u = (*u + by).clamp(0.0, 1.0));
        out
    }

    /// A tiny step up or down in every coordinate, at random; `balanced` if the steps of two neighbours cancel.
    fn jitter(&self, id: TrialId, balanced: bool, inputs: &[usize]) -> Vec<f64> {
        let key = Stream::new(self.seed, "jitter", id.0).bits();
        self.each(inputs, |coordinate| {
            let (word, flip) = match balanced {
                true => (bits_at(key, coordinate as u64 / 2), coordinate % 2 == 1),
                false => (bits_at(key, coordinate as u64), false),
            };
            let alone = balanced && coordinate + 1 == self.dim() && coordinate.is_multiple_of(2);
            let sign = if alone {
                0.0
            } else if (word & 1 == 1) != flip {
                1.0
            } else {
                -1.0
            };
            tuning::JITTER * sign
        })
    }

    /// Inputs of a trial, those of `set` as in z.
    fn with_set(&self, base: TrialId, set: &[usize], z: &[f64], inputs: &[usize]) -> Vec<f64> {
        let mut out = self.of(base, inputs);
        let (mut at, mut from) = (0, 0);
        let mut next = set.iter().peekable();
        for &input in inputs {
            let width = self.span(input).1;
            while let Some(&&other) = next.peek()
                && other < input
            {
                from += self.span(other).1;
                next.next();
            }
            if next.peek() == Some(&&input) {
                out[at..at + width].copy_from_slice(&z[from..from + width]);
            }
            at += width;
        }
        out
    }

    /// Uniform inputs, but for those `kept` as in a trial.
    fn others_uniform(&self, id: TrialId, base: TrialId, kept: &[usize], inputs: &[usize]) -> Vec<f64> {
        let mut out = self.uniform(id, inputs);
        let stays = self.of(base, inputs);
        let mut at = 0;
        for &input in inputs {
            let width = self.span(input).1;
            if kept.binary_search(&input).is_ok() {
                out[at..at + width].copy_from_slice(&stays[at..at + width]);
            }
            at += width;
        }
        out
    }

    /// Which way inputs go in a probe that moves them all.
    pub(super) fn scatter_key(&self, id: TrialId) -> u64 {
        Stream::new(self.seed, "scatter", id.0).bits()
    }

    fn each(&self, inputs: &[usize], value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut out = Vec::with_capacity(inputs.len());
        for &input in inputs {
            let (first, width) = self.span(input);
            (first..first + width).for_each(|coordinate| out.push(value(coordinate)));
        }
        out
    }

    fn uniform(&self, id: TrialId, inputs: &[usize]) -> Vec<f64> {
        let key = Stream::new(self.seed, "uniform point", id.0).bits();
        self.each(inputs, |coordinate| uniform_at(key, coordinate as u64))
    }

    fn moved(
        &self,
        map: &RoundMap,
        parts: &[(usize, usize)],
        chunk: Option<usize>,
        step: f64,
        inputs: &[usize],
    ) -> Vec<f64> {
        let mut out = self.of(map.start.base, inputs);
        let spread = match map.start.moves {
            Moves::SumKept => map.sum(parts, chunk, step) / self.dim() as f64,
            Moves::Inside | Moves::Far => 0.0,
        };
        let mut at = 0;
        for &input in inputs {
            let (_, width) = self.span(input);
            let coordinates = &mut out[at..at + width];
            at += width;
            let weight = map.weight(input, parts, chunk);
            if weight == 0.0 && spread == 0.0 {
                continue;
            }
            if width > 1 {
                // Categories have no small steps: another one wins.
                let winner =
                    (0..width).fold(0, |best, k| if coordinates[k] > coordinates[best] { k } else { best });
                coordinates.fill(0.0);
                coordinates[(winner + 1) % width] = 1.0;
                continue;
            }
            let u = coordinates[0];
            let sign = match map.start.moves {
                Moves::Inside => {
                    if u + step > 1.0 {
                        -1.0
                    } else {
                        1.0
                    }
                }
                Moves::Far => {
                    if u < 0.5 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                Moves::SumKept => match map.place[input] {
                    ABSENT => 0.0,
                    place => alternating(place as usize),
                },
            };
            coordinates[0] = (u + sign * step * weight - spread).clamp(0.0, 1.0);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::auto::rehearsal::space;

    /// The centre, and a trial made from it like this: its inputs.
    fn made(n: usize, recipe: Recipe, z: Vec<f64>) -> Vec<f64> {
        let mut recipes = Recipes::new(&space(n), 7);
        recipes.make_bins(tuning::BINS);
        recipes.note(TrialId(0), Recipe::Centre, vec![]);
        recipes.note(TrialId(1), recipe, z);
        let all: Vec<usize> = (0..n).collect();
        let whole = recipes.of(TrialId(1), &all);
        // One input alone is the same as among all.
        for input in [0, 3, n - 1] {
            assert_eq!(recipes.of(TrialId(1), &[input]), [whole[input]]);
        }
        whole
    }

    #[test]
    fn some_inputs_are_set_and_some_are_kept() {
        let base = TrialId(0);
        let set = made(60, Recipe::Set { base, inputs: vec![3, 9] }, vec![0.1, 0.9]);
        let moved = |x: &[f64]| (0..x.len()).filter(|&j| x[j] != 0.5).collect::<Vec<_>>();
        assert_eq!((moved(&set), set[3], set[9]), (vec![3, 9], 0.1, 0.9));
        let others = made(60, Recipe::Others { base, kept: vec![3, 9] }, vec![]);
        assert_eq!((moved(&others).len(), others[3], others[9]), (58, 0.5, 0.5));
    }

    #[test]
    fn all_inputs_move_alike_or_in_bins_or_hardly() {
        let base = TrialId(0);
        assert_eq!(made(60, Recipe::Line { base, shift: -0.7 }, vec![]), [0.0; 60]);
        let z: Vec<f64> = (0..tuning::BINS).map(|k| 0.5 + 0.01 * k as f64).collect();
        let mut bins = made(160, Recipe::Bins { base, number: 0 }, z);
        bins.sort_by(f64::total_cmp);
        bins.dedup();
        assert_eq!(bins.len(), tuning::BINS, "every bin has inputs, which move alike");
        // An odd number: the last one has nobody to balance it.
        let jitter = made(61, Recipe::Jitter { base, balanced: true }, vec![]);
        assert!(jitter[..60].iter().all(|x| (x - 0.5).abs() > 0.9 * tuning::JITTER) && jitter[60] == 0.5);
        assert!((jitter.iter().sum::<f64>() - 30.5).abs() < 1e-12);
    }

    #[test]
    fn rows_of_a_latin_hypercube_have_every_cell_once() {
        let rows: Vec<Vec<f64>> =
            (0..10).map(|row| made(60, Recipe::Latin { batch: 0, count: 10, row }, vec![])).collect();
        for input in 0..60 {
            let mut cells: Vec<usize> = rows.iter().map(|row| (10.0 * row[input]) as usize).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..10).collect::<Vec<_>>());
        }
    }
}
