//! Whether the user wants the smallest or the largest value. Nothing outside `space` knows: everything else
//! minimises.

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smaller is better.
    Minimize,
    /// Larger is better.
    Maximize,
}

impl Direction {
    /// The user's value as the optimiser sees it: smaller is better.
    pub fn to_internal(self, value: f64) -> f64 {
        match self {
            Direction::Minimize => value,
            Direction::Maximize => -value,
        }
    }

    /// The optimiser's value as the user sees it. Undoes [`Direction::to_internal`] exactly.
    pub fn to_user(self, value: f64) -> f64 {
        // A change of sign is its own inverse.
        self.to_internal(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_smaller_inside_and_the_way_back_is_exact() {
        for value in [0.0, -0.0, 1.5, -2e300, 5e-324] {
            for direction in [Direction::Minimize, Direction::Maximize] {
                assert_eq!(direction.to_user(direction.to_internal(value)).to_bits(), value.to_bits());
            }
        }
        assert!(Direction::Maximize.to_internal(2.0) < Direction::Maximize.to_internal(1.0));
        assert!(Direction::Minimize.to_internal(1.0) < Direction::Minimize.to_internal(2.0));
    }
}
