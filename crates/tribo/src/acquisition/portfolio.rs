//! A mixture of acquisition functions, GP-Hedge `[@hoffman2011]`: the function that has proposed the better points so far is
//! followed more often.
//!
//! In every round each of K functions nominates the point that it would have evaluated, and one of those is. With μ the posterior
//! mean at the nominee of function i in round s and [lowest, highest] the range of all those means, its reward and weight are
//!   r = (highest - μ)/(highest - lowest)        p_i ∝ exp(η Σ_s r_si),  η = √(8 ln K/t) after t rounds,
//! the rate for rewards in [0, 1] `[@cesabianchi2006, theorem 2.3]`.
//!
//! A round counts once its evaluation has come back, whenever that is, so workers need not wait for each other. Rewards are by
//! the present posterior and not by that of their round: they follow from the nominees and the results, so that a
//! study that is restored has the same weights to the last bit, and what was learned since is used.

/// Functions of the mixture, in this order.
pub const FUNCTIONS: [&str; 3] = ["log_ei", "ucb", "pi"];

/// The probability of each function to be followed, from the posterior means at what they nominated: a row for each round, a
/// column for each function. Equal ones without a round.
pub fn weights(means: &[Vec<f64>], n_functions: usize) -> Vec<f64> {
    let all = || means.iter().flatten().copied().filter(|mean| mean.is_finite());
    let (lowest, highest) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let range = highest - lowest;
    let mut gains = vec![0.0; n_functions];
    if range > 0.0 {
        for row in means {
            for (gain, mean) in gains.iter_mut().zip(row) {
                // What has no mean has no reward.
                *gain += if mean.is_finite() { (highest - mean) / range } else { 0.0 };
            }
        }
    }
    let rate = (8.0 * (n_functions as f64).ln() / means.len().max(1) as f64).sqrt();
    let best = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raw: Vec<f64> = gains.iter().map(|gain| (rate * (gain - best)).exp()).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|weight| weight / sum).collect()
}

/// The function that a uniform draw from [0, 1) falls to.
pub fn choose(weights: &[f64], draw: f64) -> usize {
    let mut sum = 0.0;
    for (function, weight) in weights.iter().enumerate() {
        sum += weight;
        if draw < sum {
            return function;
        }
    }
    // Rounding left the sum below the draw.
    weights.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn weights_by_hand() {
        assert_eq!(weights(&[], 3), [1.0 / 3.0; 3]);
        assert_eq!(weights(&vec![vec![2.0; 3]; 5], 3), [1.0 / 3.0; 3]);
        // Two rounds, two functions: gains 2 and 0, rate √(4 ln 2), so odds of e^(2 √(4 ln 2)).
        let found = weights(&[vec![-1.0, 3.0], vec![-1.0, 3.0]], 2);
        let odds = (2.0 * (4.0 * 2.0_f64.ln()).sqrt()).exp();
        assert!((found[0] / found[1] - odds).abs() < 1e-12 * odds);
        // Half-way between the best and the worst is half a reward: 1.5, 0.5 and 1 of 2 rounds.
        let found = weights(&[vec![0.0, 2.0, 1.0], vec![1.0, 1.0, 1.0]], 3);
        let rate = (4.0 * 3.0_f64.ln()).sqrt();
        assert!(((found[0] / found[2]).ln() - 0.5 * rate).abs() < 1e-12);
        assert!(((found[2] / found[1]).ln() - 0.5 * rate).abs() < 1e-12);
    }

    #[test]
    fn weights_do_not_depend_on_units_or_order() {
        let seed = 8;
        let mut stream = Stream::new(seed, "rounds", 0);
        let rounds: Vec<Vec<f64>> = (0..40).map(|_| (0..3).map(|_| stream.normal()).collect()).collect();
        let found = weights(&rounds, 3);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-15, "seed {seed}");
        let others: Vec<Vec<f64>> =
            rounds.iter().rev().map(|row| row.iter().map(|mean| 1e6 * mean - 3.0).collect()).collect();
        for (a, b) in found.iter().zip(weights(&others, 3)) {
            assert!((a - b).abs() < 1e-9, "seed {seed}");
        }
        // A function that nominates better points is followed more, and almost always in the end.
        let better: Vec<Vec<f64>> = rounds.iter().map(|row| vec![row[0] - 5.0, row[1], row[2]]).collect();
        assert!(weights(&better, 3)[0] > 0.99, "seed {seed}");
    }

    #[test]
    fn draws_have_the_frequencies_of_the_weights() {
        let weights = [0.5, 0.2, 0.3];
        assert_eq!(
            [0.0, 0.49, 0.5, 0.69, 0.71, 0.999].map(|draw| choose(&weights, draw)),
            [0, 0, 1, 1, 2, 2]
        );
        assert_eq!(choose(&[0.3, 0.3, 0.3], 0.95), 2, "what rounding leaves over");
    }

    #[test]
    fn what_has_no_mean_has_no_reward() {
        let found = weights(&[vec![0.0, f64::NAN], vec![0.0, 1.0]], 2);
        assert!(found.iter().all(|weight| weight.is_finite()) && found[0] > found[1]);
    }
}
