//! Every number of `auto` that somebody chose, with the reason. What can be computed is computed where it is used.
//!
//! In the order of a study: when `auto` screens at all, the start, the noise, screening, the line, the search over what was
//! found, the dense fallback. Lengths are parts of an input's range, noise is a standard deviation of a value.

// ---- choose: what `auto` is for a space and a budget

/// Inputs up to which all of them are modelled.
pub(super) const MODELLED_WHOLE: usize = 40;
/// The same for coordinates, of which a category takes several.
pub(super) const MODELLED_COORDINATES: usize = 50;
/// The budget assumed when none is given.
pub(super) const USUAL_BUDGET: usize = 200;
/// The least budget that is worth screening: a start of 14, the first groups, and some five tests for each input named.
pub(super) const SCREENED_FROM: usize = 60;
/// Without screening: evaluations for each bin of a hashing embedding, since a process needs some ten results for each
/// coordinate, and bins at least and at most.
pub(super) const EVALUATIONS_PER_BIN: usize = 16;
pub(super) const HASHED_BINS: (usize, usize) = (4, 20);
/// Evaluations for each such embedding, and embeddings at least and at most.
pub(super) const EVALUATIONS_PER_EMBEDDING: usize = 100;
pub(super) const EMBEDDINGS: (usize, usize) = (1, 4);

// ---- start: the first points

/// Rows of the first Latin hypercube.
pub(super) const START_ROWS: usize = 10;
/// Results from before with which the start needs no points of its own: as many as there would be rows.
pub(super) const ENOUGH_KNOWN: usize = 10;
/// The start is over when this part of it is back (as a fraction): one slow worker of twenty must not hold up the others.
pub(super) const START_BACK: (usize, usize) = (7, 10);
/// Values without which there is nothing to go by: quartiles of fewer say nothing.
pub(super) const FEWEST_VALUES: usize = 4;
/// How far a noise probe moves every coordinate: far below every step, far above the rounding of a coordinate.
pub(super) const JITTER: f64 = 1e-8;
/// Rows of a Latin hypercube at most; more are no recipe of this strategy, whoever wrote it.
pub(super) const LATIN_ROWS: usize = 1_000;

// ---- earlier: rows of earlier results

/// Rows that are asked again, and with which answers the rows are believed or not.
pub(super) const ASKED_AGAIN: usize = 6;
/// The same as before: differences up to so many standard deviations of a value, or such a part of the spread.
pub(super) const SAME_DEVIATIONS: f64 = 3.0;
pub(super) const SAME_AS_BEFORE: f64 = 1e-6;
/// Roughly as before: differences up to this part of the spread.
pub(super) const ROUGHLY_AS_BEFORE: f64 = 0.5;
/// Answers with which they are refuted before the others are back.
pub(super) const REFUTED_BY: usize = 3;
/// Equal answers with which the named inputs are idle: two that differ in all of them.
pub(super) const IDLE_BY: usize = 2;
/// Results of the search for each input, beyond those that slopes wait for, after which rough rows are dropped.
pub(super) const OWN_EACH: usize = 2;

// ---- noise

/// Noise, as a part of the spread of the values, above which it has to be measured by repeats.
pub(super) const NOTICED_NOISE: f64 = 1e-5;
/// The same, above which small steps are lost in it and steps are large.
pub(super) const MUCH_NOISE: f64 = 2e-3;
/// The same, up to which probes with the smallest step count.
pub(super) const EARLY_NOISE: f64 = 1e-6;
/// The same, up to which much noise is moderate.
pub(super) const MODERATE_NOISE: f64 = 0.25;
/// Repeats of a point that is repeated.
pub(super) const REPEATS: usize = 2;
/// An estimate from four degrees of freedom is too small more often than not, so it is raised by this.
pub(super) const FEW_REPEATS: f64 = 1.2;
/// Rows added under much noise, in search of a point that stands out.
pub(super) const MORE_ROWS: usize = 30;
/// The lowest rows that are repeated before the first bins, and before bins move on.
pub(super) const REPEATED_FIRST: usize = 4;
pub(super) const REPEATED_AGAIN: usize = 2;
/// Standard deviations by which a point must stand out of the median to be screened from: with moderate noise, and with more.
/// Measured; see `noise`.
pub(super) const STAND_OUT: (f64, f64) = (9.0, 15.0);

// ---- screening: steps and tests

/// Steps of screening without much noise, at least and at most. Inputs may pass through files of seven digits.
pub(super) const SMALL_STEP: (f64, f64) = (1e-4, 0.05);
/// The step with much noise, and for integers and plateaus: nearly half the range, so that there is room on one side.
pub(super) const LARGE_STEP: f64 = 0.45;
/// The step of moves that keep the sum. It is the shortest: every such move moves all inputs. No measurement is on record.
pub(super) const SUM_STEP: f64 = 2e-5;
/// A test with at least this step is a point like any other to a model; shorter ones show ripples and not the trend.
pub(super) const STEP_IN_MODEL: f64 = 0.1;
/// Workers from which tests are asked ahead of need.
pub(super) const CROWD: usize = 8;
/// Groups a round begins with, and with a crowd of workers.
pub(super) const FIRST_GROUPS: (usize, usize) = (8, 16);
/// Tests of a round at most, as a part of the budget (one in ...), and what may be asked at least; no round begins for what a
/// rest check missed when tests have had that part.
pub(super) const TESTS_IN_BUDGET: usize = 2;
pub(super) const FEWEST_TESTS: usize = 30;
/// A test that broke is asked again with half the step if its part of the step is above this: once.
pub(super) const BROKEN_ONCE: f64 = 0.4;
/// Members of a group looked at to say which way it moves; odd, so that there is a majority.
pub(super) const SENSE_SAMPLE: usize = 33;
/// Results between two looks into weak groups while the optimisation goes on.
pub(super) const LOOK_EVERY: usize = 3;
/// First points over the named inputs after a line: for each coordinate and beyond, and at least.
pub(super) const SPREAD_POINTS: (usize, usize) = (2, 4);
pub(super) const FEWEST_SPREAD_POINTS: usize = 12;

// ---- screening: points downhill

/// Inputs named since the last point downhill that make another one.
pub(super) const DOWNHILL_INPUTS: usize = 2;
/// Such points in a round at most.
pub(super) const DOWNHILL_POINTS: usize = 3;
/// How far the input of the steepest slope is moved. On Hartmann-6 from the best of twelve points, three such points lead from
/// -1.1 to -2.0, -2.4, -2.2 and -1.8 on the mean with 0.1, 0.2, 0.3 and 0.4.
pub(super) const DOWNHILL_STEP: f64 = 0.2;

// ---- screening with codes

/// Standard deviations that an answer of nothing hardly passes: one of 10^11 does.
pub(super) const SIGNIFICANT: f64 = 7.0;
/// Changes below this part of the value at the base are rounding of one evaluation.
pub(super) const ROUNDING_OF_VALUE: f64 = 1e-13;
/// A verified chunk must explain all but this part of its group, or all but so many standard deviations.
pub(super) const UNEXPLAINED: f64 = 0.05;
pub(super) const UNEXPLAINED_SD: f64 = 6.0;
/// Error of an answer from the curvature, as a part of it and in steps: assumed.
pub(super) const CURVATURE: f64 = 2.5;
/// Error of a ratio of two answers, in standard deviations.
pub(super) const RATIO_SD: f64 = 2.0;
/// Distance of two levels of a code, in errors, is one over this: levels must not be mistaken for each other.
pub(super) const LEVEL_WIDTH: f64 = 0.3;
/// How far from a level a ratio may be to name it.
pub(super) const OFF_LEVEL: f64 = 0.35;
/// Members, and levels, from which a code is better than halves.
pub(super) const CODED_FROM: usize = 4;
/// Code levels of a round that keeps the sum: every member moves all others a little.
pub(super) const SUM_LEVELS: usize = 32;
/// Groups that answer less than this part of the strongest wait until optimisation has begun.
pub(super) const WEAK_GROUP: f64 = 0.02;
/// A split whose weaker half has more than this part of the stronger is one between active inputs.
pub(super) const EVEN_SPLIT: f64 = 0.03;
/// Even splits of weak groups, with nothing named, after which they are given up: a weak background of many inputs.
pub(super) const VAIN_SPLITS: usize = 4;
/// Inputs are too many to name if no group is idle and splits are even: one for each so many evaluations of the budget, at
/// least so many, and so large a part of all.
pub(super) const BUDGET_PER_EVEN_SPLIT: usize = 40;
pub(super) const FEWEST_EVEN_SPLITS: usize = 4;
pub(super) const EVEN_SPLITS_OF_ALL: f64 = 0.8;
/// An answer this small beside the strongest is none, whatever the noise.
pub(super) const SILENT: f64 = 1e-8;
/// All inputs act alike if the mean answer per member is so many standard deviations of it over groups, of which there must
/// be more than so many.
pub(super) const ALIKE: f64 = 5.0;
pub(super) const ALIKE_GROUPS: usize = 3;
/// Free workers from which a group is cut into as many parts, and parts at most.
pub(super) const FAN_FROM: usize = 4;
pub(super) const FAN_PARTS: usize = 16;

// ---- screening by halves

/// Standard deviations of a mean of one, two or three values: idle below the first, active above the second.
pub(super) const IDLE: [f64; 3] = [2.0, 2.3, 3.2];
pub(super) const ACTIVE: [f64; 3] = [3.7, 3.5, 3.2];
/// Changes below this part of the value are rounding.
pub(super) const ROUNDING: f64 = 1e-9;
/// Evaluations that the noise from before the round is worth.
pub(super) const PRIOR_EVALUATIONS: f64 = 4.0;
/// Groups of what is left over.
pub(super) const LEFT_GROUPS: usize = 2;
/// Halvings of groups that all answer, none idle, after which the problem is dense.
pub(super) const DENSE_AFTER: usize = 5;

// ---- screening by scattered probes

/// Probes at most, as a part of the budget and in number.
pub(super) const PROBES_IN_BUDGET: f64 = 0.3;
pub(super) const MOST_PROBES: usize = 64;
/// Probes that a proof takes for each input, and beyond.
pub(super) const PROBES_EACH: usize = 3;
pub(super) const PROBES_SPARE: usize = 6;
/// Paths that are followed at once.
pub(super) const PATHS: usize = 4;
/// What curvature may leave unexplained, in its usual share.
pub(super) const LENIENCE: f64 = 4.0;
/// Changes an input must make, in what may stay unexplained and as a part of the strongest: smaller ones may be curvature
/// that an idle input took on.
pub(super) const CERTAIN: f64 = 5.0;
pub(super) const WEAK_SLOPE: f64 = 0.02;
/// A column with less than this left of its length depends on those before it.
pub(super) const DEPENDENT: f64 = 1e-8;

// ---- screening: groups read together

/// Groups that answer from which they are read together. Of eight, five are some seven inputs. From three on, Ackley's function of
/// ten inputs is at 4.78 after 100 evaluations instead of 4.86 (1,000 inputs, 60 seeds), which may be chance, and Hartmann-6 in 10,000
/// gains 0.22 after 50 and nothing later.
pub(super) const JOINT_FROM: usize = 5;
/// Probes at most, as a part of the budget (one in ...), and what that must be: ten inputs took 31 on the mean.
pub(super) const JOINT_IN_BUDGET: usize = 4;
pub(super) const FEWEST_JOINT: usize = 32;
/// Changes that a proof takes for each input, and beyond for each digit of the number of inputs looked at, since the more there are
/// the more agree by chance. Beyond: with 4 in all, there were often wrong names in 10,000 inputs, with 9 in one study of 100
/// and with 12 in none; in 1,000 with 9 in none of 100.
pub(super) const JOINT_PROOF: (usize, usize) = (2, 3);
/// What curvature may leave unexplained, as a part of the usual change. With half of that, a tenth of the readings of Ackley's
/// function is not to be had.
pub(super) const JOINT_UNEXPLAINED: f64 = 0.01;
/// Slopes up to so many times that are asked about alone.
pub(super) const JOINT_CERTAIN: f64 = 3.0;
/// Paths that are followed at once. Sixteen save one probe of thirty, and take four times as many solutions.
pub(super) const JOINT_PATHS: usize = 8;
/// Inputs closer to a bound than this, the longest step without noise, do not move as a probe wants; and there may be one such in
/// so many.
pub(super) const JOINT_MARGIN: f64 = 1e-3;
pub(super) const JOINT_NEAR_BOUNDS: usize = 20;

// ---- verify: is all that matters named, and does all that is named matter?

/// The end of a local search asks for a rest check if there were so many results since the last one.
pub(super) const REST_EVERY: usize = 30;
/// Changes up to so many standard deviations mean nothing: of one value, and with much noise of the means.
pub(super) const REST_DEVIATIONS: (f64, f64) = (10.0, 3.7);
/// Changes up to this part of the spread of the values mean nothing.
pub(super) const REST_NOTHING: f64 = 1e-6;
/// Evaluations of a rest check, inputs moved and not: without much noise, and with it.
pub(super) const REST_QUIET: (usize, usize) = (1, 0);
pub(super) const REST_NOISY: (usize, usize) = (2, 2);
/// How far an input named by an earlier search is moved to check that it matters.
pub(super) const CHECK_STEP: f64 = 0.25;

// ---- the line

/// Steps along the line at most.
pub(super) const LINE_STEPS: usize = 16;
/// The first step.
pub(super) const LINE_FIRST_STEP: f64 = 0.05;
/// While the value falls, the next step goes so many times as far; with so many points known it no longer does.
pub(super) const LINE_GROWTH: f64 = 3.0;
pub(super) const LINE_GROWING_UNTIL: usize = 8;
/// Where value, slope and value make no parabola that opens upwards: how far back. And how far at least and at most.
pub(super) const LINE_BACK: f64 = 0.1;
pub(super) const LINE_BACK_WITHIN: (f64, f64) = (1e-6, 0.9);
/// Beyond an end, at most so many gaps, and no step below such a part of one.
pub(super) const LINE_BEYOND: f64 = 2.0;
pub(super) const LINE_BEYOND_FROM: f64 = 1e-6;
/// A bracket this narrow is a point: rounding of coordinates is not far.
pub(super) const LINE_NARROW: f64 = 1e-8;
/// The line is searched when the three lowest values differ by less than this part of the lowest one, which counts as such a
/// part of the spread at least: no value is below a part of zero.
pub(super) const LINE_FLAT: f64 = 1e-7;
pub(super) const LINE_FLAT_AT_ZERO: f64 = 1e-9;
/// A vertex closer to the lowest point than this part of the bracket tells nothing new: the bracket is shrunk instead, by at
/// most such a part of its longer side, by so many times the distance of the vertex and such a part of the bracket.
pub(super) const LINE_CLOSE: f64 = 1e-3;
pub(super) const LINE_SHRINK: f64 = 0.1;
pub(super) const LINE_SHRINK_BY: (f64, f64) = (10.0, 1e-6);

// ---- the search over what was found

/// Results of the search up to which every one is fitted; then after so many times as many. Bins have 16 length scales: fitted
/// for every result up to 200, they took 15 s of a study's time instead of 3, and led to no better point (rotated Hartmann-6
/// after 200 evaluations, 16 seeds: -3.273 and -3.270).
pub(super) const REFIT_ALWAYS_UNTIL: usize = 60;
pub(super) const REFIT_GROWTH: f64 = 1.1;
/// Coordinates up to which there is no trust region, and where nothing is promised, every other point is where the model knows
/// least: from boxes around the first basins, ZDT3's narrow best one stayed unseen in 11 of 40 runs with one, and in none without.
pub(super) const SEARCHED_WHOLE: usize = 2;
/// Evaluations at the end of the budget in which the search of the inputs named looks for no other valley: the best one so
/// far goes on, for its last digits.
pub(super) const LAST_DIGITS: usize = 16;
/// How far uphill the value of a slope is put.
pub(super) const SLOPE_REACH: f64 = 0.02;
/// Results of the search after which slopes are dropped.
pub(super) const SLOPES_UNTIL: usize = 8;
/// A corner or row is nearly as good as the bottom of the line, and a corner as the incumbent, if it is worse by at most this
/// part of what separates the median of corners and rows from it.
pub(super) const NEARLY_AS_GOOD: f64 = 0.1;
/// Standard deviation of a makeshift point around the incumbent, in every coordinate.
pub(super) const MAKESHIFT_SD: f64 = 0.05;
/// Uniform draws for each point of a finite space after which it is taken for exhausted: one that is left is missed by these
/// with a probability of e⁻⁸.
pub(super) const DRAWS_PER_POINT: u64 = 8;

// ---- dense: too many inputs matter

/// Bins of inputs that move together: a process wants some ten results for each coordinate, and there are some hundred.
pub(super) const BINS: usize = 16;
/// First points of the bins, and of bins that have moved on under noise.
pub(super) const BIN_POINTS: usize = 10;
pub(super) const MOVED_BIN_POINTS: usize = 6;
/// How far the first points of a later turn move in their bins, from the incumbent; those of the first go across the cube.
pub(super) const BINS_NEAR: f64 = 0.1;
pub(super) const BINS_ACROSS: f64 = 0.5;
/// Under much noise: results after which bins move on, and evaluations at the end of the budget with which it is too late.
pub(super) const BINS_STAY: usize = 40;
pub(super) const TOO_LATE_FOR_BINS: usize = 30;
/// Inputs up to which all of them are searched first, with a length scale for each; above, it is bins.
pub(super) const ALL_INPUTS_FIRST: usize = 100;
/// Inputs are moved one at a time if that takes at most this part of the budget (one in ...).
pub(super) const SINGLES_IN_BUDGET: usize = 3;
/// How far an input is moved on its own at first. From a corner of 20 walks among discs, the inputs that gain by such a move
/// lead below 2.5 in all of them; with 0.5 in 18, with 1 in 19.
pub(super) const SINGLE_STEP: f64 = 0.75;
/// Where else the inputs that gained most are moved, in parts of the step, and how many of them.
pub(super) const PROFILE: [f64; 3] = [2.0 / 3.0, 4.0 / 3.0, 1.0 / 3.0];
pub(super) const PROFILED: usize = 5;
/// Results without an improvement, other places of inputs among them, after which the search of the inputs that gained is over.
pub(super) const SINGLES_PATIENCE: usize = 32;
/// Runs of pairs of inputs at most: two coordinates each.
pub(super) const MOST_RUNS: usize = 8;
/// Results without an improvement after which runs are halved, or the last of them given up.
pub(super) const PAIRS_PATIENCE: usize = 28;
/// Coordinates up to which all inputs are searched at all: every record has all of them.
pub(super) const WRITTEN: usize = 2_000;
/// Results without an improvement after which an arm gives up: see `dense`.
pub(super) const PATIENCE: usize = 60;
/// Evaluations at the end of the budget in which no search of bins begins, since it would not come far, and the best one goes
/// on: twice what a search may be idle.
pub(super) const LAST_SEARCH: usize = 32;
/// Part of median - lowest that is an improvement.
pub(super) const WORTHWHILE: f64 = 1e-3;
/// Length of a first step of evolution over all coordinates together. Small, so that single points already beat the
/// incumbent, which is how an arm is judged; the law lengthens it where that pays.
pub(super) const EVOLUTION_STEP: f64 = 0.2;
