//! A path that must not touch: the shortest line through way points between two discs.
//!
//! From (0, 0) to (10, 0) between discs of radius r = 3/2 around (3, -1) and (7, 1), above the first and below the second. The
//! inputs are the way points, the objective is the length, and the distance of the line to each centre must not be below r.
//!
//! The optimum in closed form: a line through way points that goes around a disc is made of tangents. From the start to the
//! first disc one has the length √(|c|² - r²) and rises by α = arg c + asin(r/|c|), with c its centre; the one between the
//! discs has the length √(D² - 4r²), D the distance of the centres, and rises by β = ψ - asin(2r/D), with ψ the direction of
//! the second centre from the first. In between the line turns by θ = α - β; with k corners, which turn by θ/k each, that
//! takes 2 r k tan(θ/2k), and no other corners take less, since the tangent is convex. The other disc is the same by symmetry.
//! Lines that leave a disc on its other side are more than a tenth longer.

use std::f64::consts::FRAC_PI_2;

const RADIUS: f64 = 1.5;
const CENTRES: [[f64; 2]; 2] = [[3.0, -1.0], [7.0, 1.0]];
const ENDS: [[f64; 2]; 2] = [[0.0, 0.0], [10.0, 0.0]];

/// The length of the line, and how near it comes to each centre.
pub(super) fn path(x: &[f64]) -> (f64, Vec<f64>) {
    let mut points = vec![ENDS[0]];
    points.extend(x.chunks_exact(2).map(|point| [point[0], point[1]]));
    points.push(ENDS[1]);
    let segments = || points.windows(2).map(|pair| (pair[0], pair[1]));
    let length = segments().map(|(a, b)| apart(a, b)).sum();
    let nearest =
        |centre: [f64; 2]| segments().map(|(a, b)| to_segment(centre, a, b)).fold(f64::INFINITY, f64::min);
    (length, CENTRES.map(nearest).to_vec())
}

fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The distance of a point to a segment.
fn to_segment(point: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (along, to) = ([b[0] - a[0], b[1] - a[1]], [point[0] - a[0], point[1] - a[1]]);
    let squared = along[0] * along[0] + along[1] * along[1];
    let part =
        if squared > 0.0 { ((along[0] * to[0] + along[1] * to[1]) / squared).clamp(0.0, 1.0) } else { 0.0 };
    apart(point, [a[0] + part * along[0], a[1] + part * along[1]])
}

/// The smallest length with so many way points for each disc, and the way points.
pub(super) fn optimum(corners: usize) -> (f64, Vec<f64>) {
    let centre = CENTRES[0];
    let away = centre[0].hypot(centre[1]);
    let between = apart(CENTRES[0], CENTRES[1]);
    let rises = centre[1].atan2(centre[0]) + (RADIUS / away).asin();
    let direction = (CENTRES[1][1] - centre[1]).atan2(CENTRES[1][0] - centre[0]);
    let falls = direction - (2.0 * RADIUS / between).asin();
    let turn = (rises - falls) / corners as f64;
    let straight =
        2.0 * (away * away - RADIUS * RADIUS).sqrt() + (between * between - 4.0 * RADIUS * RADIUS).sqrt();
    let length = straight + 4.0 * RADIUS * corners as f64 * (0.5 * turn).tan();
    let corner = |k: usize| {
        // Between two tangents, over the middle of the arc that they cut off.
        let normal = rises - (k as f64 + 0.5) * turn + FRAC_PI_2;
        let far = RADIUS / (0.5 * turn).cos();
        [centre[0] + far * normal.cos(), centre[1] + far * normal.sin()]
    };
    let first: Vec<[f64; 2]> = (0..corners).map(corner).collect();
    let second = first.iter().rev().map(|point| [ENDS[1][0] - point[0], -point[1]]);
    (length, first.iter().copied().chain(second).flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_to_segments_by_hand() {
        for (point, a, b, expected) in [
            ([0.0, 1.0], [-1.0, 0.0], [1.0, 0.0], 1.0),
            ([4.0, 4.0], [-1.0, 0.0], [1.0, 0.0], 5.0),
            ([3.0, 4.0], [0.0, 0.0], [0.0, 0.0], 5.0),
        ] {
            assert!((to_segment(point, a, b) - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn the_optimum_touches_both_discs_and_corners_tend_to_arcs() {
        for corners in [1, 2, 5] {
            let (length, x) = optimum(corners);
            let (found, clearances) = path(&x);
            assert!((found - length).abs() < 1e-12, "{found} {length}");
            assert!(clearances.iter().all(|clearance| (clearance - RADIUS).abs() < 1e-12), "{clearances:?}");
        }
        // 2 √7.75 + 2 √2.75 + 6 tan(θ/2), and with arcs 3 θ; θ = 0.4441, by hand.
        let theta = 0.444_132_333_882;
        let straight = 2.0 * 7.75_f64.sqrt() + 2.0 * 2.75_f64.sqrt();
        assert!((optimum(1).0 - straight - 6.0 * (theta / 2.0_f64).tan()).abs() < 1e-5);
        assert!((optimum(1_000).0 - straight - 3.0 * theta).abs() < 1e-5);
    }
}
