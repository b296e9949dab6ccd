//! "Did you mean": the candidate a word was probably meant to be.

/// The best candidate: the same but for case, or a beginning of just one candidate (`min`), or within one edit for
/// every three characters. An edit inserts, removes or replaces a character or swaps two neighbours. Of equals, the first.
pub fn suggest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase().replace('-', "_");
    let begun = |candidate: &&&str| lower.len() >= 3 && candidate.starts_with(&lower);
    let mut beginnings = candidates.iter().filter(begun);
    if let (Some(only), None) = (beginnings.next(), beginnings.next()) {
        return Some(only);
    }
    // Longer words than any key are not worth the table.
    let allowed = (lower.chars().count() / 3).max(1);
    let close = candidates
        .iter()
        .filter(|candidate| candidate.len().abs_diff(lower.len()) <= 2 * allowed && lower.len() <= 64)
        .map(|candidate| (edits(&lower, candidate), *candidate))
        .filter(|(edits, _)| *edits <= allowed);
    close.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Edits between two words (optimal string alignment): row i of the table is the cost of the first i characters of `a`.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut cost = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            cost[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = cost[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(cost[i - 1][j] + 1).min(cost[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { best.min(cost[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    cost[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_by_hand() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("seed", "sede", 1),
            ("x", "x", 0),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
            assert_eq!(edits(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn what_was_meant() {
        let directions = ["minimize", "maximize"];
        for (word, meant) in [
            ("min", Some("minimize")),
            ("MAXIMIZE", Some("maximize")),
            ("minimise", Some("minimize")),
            ("mi", None),
            ("up", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, &directions), meant, "{word}");
        }
        assert_eq!(suggest("wall-time", &["target", "wall_time"]), Some("wall_time"));
        assert_eq!(suggest(&"x".repeat(100_000), &directions), None);
    }
}
