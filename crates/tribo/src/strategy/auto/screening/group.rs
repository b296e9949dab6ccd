//! A group of inputs under test: ranges of places in a round's random order.
//!
//! Groups are only ever cut, so a few ranges describe each of them, whatever the number of inputs.

/// Ranges of places, ends excluded, in increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Group(pub(super) Vec<(usize, usize)>);

impl Group {
    /// Places from `start` to before `end`.
    pub(super) fn range(start: usize, end: usize) -> Group {
        Group(if start < end { vec![(start, end)] } else { vec![] })
    }

    /// Number of inputs.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// The place of its first input.
    pub(super) fn first(&self) -> Option<usize> {
        self.0.first().map(|&(start, _)| start)
    }

    /// Whether a place is in it.
    pub(super) fn holds(&self, place: usize) -> bool {
        self.0.iter().any(|&(start, end)| (start..end).contains(&place))
    }

    /// Its inputs number `from` to before `to`, and the others.
    pub(super) fn cut(&self, from: usize, to: usize) -> (Group, Group) {
        let (mut inner, mut outer) = (vec![], vec![]);
        let mut rank = 0;
        for &(start, end) in &self.0 {
            let clamp = |r: usize| start + r.saturating_sub(rank).min(end - start);
            let (a, b) = (clamp(from), clamp(to));
            let pieces = [(start, a, false), (a, b, true), (b, end, false)];
            for (start, end, is_inner) in pieces {
                if start < end {
                    if is_inner { inner.push((start, end)) } else { outer.push((start, end)) }
                }
            }
            rank += end - start;
        }
        (Group(inner), Group(outer))
    }

    /// `count` parts of nearly equal size, none empty.
    pub(super) fn split(&self, count: usize) -> Vec<Group> {
        let m = self.len();
        let count = count.clamp(1, m.max(1));
        (0..count).map(|k| self.cut(k * m / count, (k + 1) * m / count).0).collect()
    }

    /// Its places that are not in a part of it.
    pub(super) fn without(&self, part: &Group) -> Group {
        let mut out: Vec<(usize, usize)> = vec![];
        for place in self.0.iter().flat_map(|&(start, end)| start..end).filter(|&place| !part.holds(place)) {
            match out.last_mut() {
                Some(last) if last.1 == place => last.1 += 1,
                _ => out.push((place, place + 1)),
            }
        }
        Group(out)
    }

    /// Its places and those of another group, which has none of them.
    pub(super) fn with(&self, other: &Group) -> Group {
        let mut parts = [&self.0[..], &other.0].concat();
        parts.sort_unstable();
        let mut out: Vec<(usize, usize)> = vec![];
        for (start, end) in parts {
            match out.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => out.push((start, end)),
            }
        }
        Group(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_keep_every_place_once() {
        let group = Group(vec![(3, 7), (10, 11), (20, 26)]);
        assert_eq!(group.len(), 11);
        let places = |group: &Group| group.0.iter().flat_map(|&(a, b)| a..b).collect::<Vec<usize>>();
        for from in 0..=11 {
            for to in from..=11 {
                let (inner, outer) = group.cut(from, to);
                assert_eq!(places(&inner), places(&group)[from..to]);
                let mut all = [places(&inner), places(&outer)].concat();
                all.sort_unstable();
                assert_eq!(all, places(&group));
            }
        }
        let parts = group.split(4);
        assert_eq!(parts.iter().map(Group::len).collect::<Vec<_>>(), [2, 3, 3, 3]);
        assert_eq!(parts.iter().flat_map(places).collect::<Vec<_>>(), places(&group));
        assert_eq!(Group::range(2, 4).split(9).len(), 2);
        assert_eq!(parts[1].with(&parts[0]).with(&parts[2]).with(&parts[3]), group);
        assert_eq!(group.without(&parts[0]).with(&parts[0]), group);
    }
}
