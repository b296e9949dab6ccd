//! How long a run will still take, from its pace, so that the number neither jumps nor grows between two results.
//!
//! With n results so far, the last of them at time t, m to come and w workers, there are at time s
//!
//!   m t/n - (s - t)         seconds left while the next w results are not late, s - t <= w t/n
//!   (m - w) s/(n + w)       afterwards: as if they came just now
//!
//! where both are the same at the border. Results of several workers come in bursts, after the first of which the rest of it
//! is still to come: so what is said counts down with the clock, and goes from there towards that number by the part of it
//! that the time since the last word is of a tenth of the whole time. Before every worker has given a result nothing is said.

/// What is said follows the pace over this part of the time so far.
const MEMORY: f64 = 0.1;

/// What was said last.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Remaining {
    /// Results so far, and when the last of them came.
    done: usize,
    last_s: f64,
    /// When something was said last, and what.
    said: Option<(f64, f64)>,
}

impl Remaining {
    /// The seconds left at `now_s`, with `done` results of this driver and `left` to come.
    pub(super) fn at(&mut self, now_s: f64, done: usize, left: usize, workers: usize) -> Option<f64> {
        if done != self.done {
            (self.done, self.last_s) = (done, now_s);
        }
        let workers = workers.clamp(1, (done + left).max(1));
        if done < workers {
            self.said = None;
            return None;
        }
        let (n, m, w) = (done as f64, left as f64, workers as f64);
        let pace = self.last_s / n;
        let since = now_s - self.last_s;
        let guess = match since <= w * pace {
            true => m * pace - since,
            false => (m - w).max(0.0) * now_s / (n + w),
        };
        let said = match self.said {
            Some((then, said)) => {
                let passed = (now_s - then).max(0.0);
                let counted = (said - passed).max(0.0);
                let weight = 1.0 - (-passed / (MEMORY * now_s).max(f64::MIN_POSITIVE)).exp();
                counted + weight * (guess - counted)
            }
            None => guess,
        }
        .max(0.0);
        self.said = Some((now_s, said));
        Some(if left == 0 { 0.0 } else { said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said each second of a run: `ends` are the times of results.
    fn said(ends: &[f64], workers: usize) -> Vec<(f64, Option<f64>)> {
        let mut remaining = Remaining::default();
        let last = ends.last().copied().unwrap_or(0.0);
        let seconds = (0..).map(f64::from).take_while(|now| *now <= last);
        let mut times: Vec<f64> = seconds.chain(ends.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        let at = |now: f64| {
            let done = ends.iter().filter(|end| **end <= now).count();
            (now, remaining.at(now, done, ends.len() - done, workers))
        };
        times.into_iter().map(at).collect()
    }

    #[test]
    fn equal_evaluations_are_counted_down_exactly() {
        let ends: Vec<f64> = (1..=10).map(|n| 60.0 * f64::from(n)).collect();
        for (now, left) in said(&ends, 1) {
            match left {
                None => assert!(now < 60.0),
                Some(left) => assert!((left - (600.0 - now)).abs() < 1e-6, "{left} at {now}"),
            }
        }
    }

    #[test]
    fn bursts_of_several_workers_do_not_make_it_jump() {
        // Four workers, 60 to 66 seconds an evaluation, the others of a burst within seconds of the first.
        let ends: Vec<f64> =
            (0..40).map(|n| 63.0 * f64::from(n / 4 + 1) - 3.0 + 2.0 * f64::from(n % 4)).collect();
        let all = said(&ends, 4);
        let end = ends[39];
        for pair in all.windows(2) {
            let [(before, Some(from)), (now, Some(to))] = pair else { continue };
            if *now == end {
                assert_eq!(*to, 0.0, "nothing is left");
                continue;
            }
            // It counts down, and moves from that by a second or a twentieth of what is left at most.
            let jump = (to - (from - (now - before))).abs();
            assert!(jump <= (0.05 * from).max(1.0), "from {from} at {before} to {to} at {now}");
        }
        for (now, left) in all.into_iter().filter(|(now, _)| *now > 200.0) {
            let error = (left.unwrap() - (end - now)).abs();
            assert!(error < 0.15 * end, "{left:?} at {now}, {error} off");
        }
    }

    #[test]
    fn an_evaluation_that_takes_longer_raises_it_slowly() {
        // Ten seconds each, then one of 200.
        let mut ends: Vec<f64> = (1..=10).map(|n| 10.0 * f64::from(n)).collect();
        ends.extend((0..10).map(|n| 300.0 + 10.0 * f64::from(n)));
        let all = said(&ends, 1);
        let at = |time: f64| all.iter().find(|(now, _)| *now == time).unwrap().1.unwrap();
        assert!((at(100.0) - 100.0).abs() < 1e-6);
        // Not nothing while it goes on, and no leap when it ends.
        assert!((85.0..200.0).contains(&at(280.0)), "{}", at(280.0));
        assert!((at(301.0) - at(299.0)).abs() < 10.0, "{} and {}", at(299.0), at(301.0));
    }

    #[test]
    fn nothing_is_said_before_every_worker_has_a_result() {
        let mut remaining = Remaining::default();
        assert_eq!(remaining.at(10.0, 3, 37, 4), None);
        assert!(remaining.at(11.0, 4, 36, 4).is_some());
        // Fewer evaluations than workers.
        assert!(Remaining::default().at(11.0, 1, 1, 9).is_none());
        assert_eq!(Remaining::default().at(11.0, 2, 0, 9), Some(0.0));
        assert_eq!(Remaining::default().at(0.0, 0, 0, 1), None);
    }
}
