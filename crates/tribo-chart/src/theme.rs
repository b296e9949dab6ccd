//! Colours, as classes: a picture says what a thing is, the style sheet which colour that has.
//!
//! | class | what |
//! |---|---|
//! | `bg` | the ground |
//! | `i`, `m` | ink and muted ink of texts |
//! | `g`, `gf`, `fr` | grid, faint grid, frame |
//! | `s0` … `s7`, `f0` … `f7` | stroke and fill of series: Okabe and Ito's colours, told apart by colour-blind readers |
//! | `h0` … `h11` | fill by value, 0 the best: what stands out most from the ground |
//! | `d0` … `d11`, `t0` … `t11` | fill and stroke by value of dots and threads, whose worst still can be seen |
//! | `b`, `fb` | stroke and fill of the best of all |
//! | `e` | the edge that parts a mark from what is below it |
//!
//! The classes live inside `.tribo-chart`, so that a page can have its own.

use std::fmt::Write;

/// Steps of colours that mean a value.
pub const LEVELS: usize = 12;

/// Which colours a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Those that its reader prefers.
    Reader,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// None of its own: the page that it is put into has [`style_sheet`].
    Page,
}

/// The step of a value between the best, 0, and the worst, 1.
pub fn level(part: f64) -> usize {
    // NaN becomes 0 in the cast; callers leave it out.
    ((part.clamp(0.0, 1.0) * LEVELS as f64) as usize).min(LEVELS - 1)
}

type Colour = (u8, u8, u8);

struct Palette {
    ground: &'static str,
    ink: &'static str,
    muted: &'static str,
    grid: &'static str,
    faint: &'static str,
    series: [&'static str; 8],
    /// From the best to the worst, lightness in one direction only.
    ramp: [Colour; 6],
    /// The best of all, on top of the ramp.
    best: &'static str,
}

/// Okabe and Ito's colours without the yellow, which is too faint on white, and with a grey.
const LIGHT: Palette = Palette {
    ground: "#ffffff",
    ink: "#222222",
    muted: "#5c6370",
    grid: "#e4e4e4",
    faint: "#f3f3f3",
    series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"],
    ramp: [(8, 36, 84), (24, 82, 142), (54, 138, 176), (124, 184, 194), (194, 219, 209), (241, 239, 228)],
    best: "#d55e00",
};

/// The same hues, lighter.
const DARK: Palette = Palette {
    ground: "#15181d",
    ink: "#e3e6ea",
    muted: "#9aa2ad",
    grid: "#333942",
    faint: "#23282f",
    series: ["#4ba9e3", "#ff8b4d", "#35c596", "#e59cc6", "#f2bb45", "#93d4f7", "#ffffff", "#a3a8af"],
    ramp: [(255, 246, 186), (246, 204, 108), (222, 148, 82), (160, 99, 88), (94, 71, 92), (40, 44, 60)],
    best: "#4fd8ff",
};

/// How much of the ramp dots and threads use.
const MARKED: f64 = 0.8;

impl Palette {
    /// The colour at a part of the ramp.
    fn at(&self, part: f64) -> String {
        let place = part.clamp(0.0, 1.0) * (self.ramp.len() - 1) as f64;
        let i = (place as usize).min(self.ramp.len() - 2);
        let mix =
            |a: u8, b: u8| (f64::from(a) + (place - i as f64) * (f64::from(b) - f64::from(a))).round() as u8;
        let (a, b) = (self.ramp[i], self.ramp[i + 1]);
        format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }

    fn rules(&self) -> String {
        let Palette { ground, ink, muted, grid, faint, best, .. } = self;
        let mut rules = format!(
            ".tribo-chart{{fill:{ink}}}.tribo-chart .bg{{fill:{ground}}}.tribo-chart .m{{fill:{muted}}}\
             .tribo-chart .g{{stroke:{grid}}}.tribo-chart .gf{{stroke:{faint}}}.tribo-chart .fr{{stroke:{ink}}}\
             .tribo-chart .e{{stroke:{ground}}}.tribo-chart .n{{fill:none}}\
             .tribo-chart .b{{stroke:{best}}}.tribo-chart .fb{{fill:{best}}}"
        );
        for (i, colour) in self.series.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = write!(rules, ".tribo-chart .s{i}{{stroke:{colour}}}.tribo-chart .f{i}{{fill:{colour}}}");
        }
        for i in 0..LEVELS {
            let part = i as f64 / (LEVELS - 1) as f64;
            let (cell, marked) = (self.at(part), self.at(MARKED * part));
            let _ = write!(
                rules,
                ".tribo-chart .h{i}{{fill:{cell}}}.tribo-chart .d{i}{{fill:{marked}}}.tribo-chart .t{i}{{stroke:{marked}}}"
            );
        }
        rules
    }
}

/// The style sheet of pictures drawn for a page: light, and dark for readers who prefer that.
pub fn style_sheet() -> String {
    format!("{}@media (prefers-color-scheme:dark){{{}}}", LIGHT.rules(), DARK.rules())
}

impl Scheme {
    /// The style element of a file.
    pub(crate) fn style(self) -> String {
        match self {
            Scheme::Reader => format!("<style>{}</style>\n", style_sheet()),
            Scheme::Light => format!("<style>{}</style>\n", LIGHT.rules()),
            Scheme::Dark => format!("<style>{}</style>\n", DARK.rules()),
            Scheme::Page => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance((r, g, b): Colour) -> f64 {
        let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn parsed(colour: &str) -> Colour {
        let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        (part(1), part(3), part(5))
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn values_can_be_read_in_grey() {
        for palette in [&LIGHT, &DARK] {
            let ground = luminance(parsed(palette.ground));
            let steps: Vec<f64> = (0..LEVELS)
                .map(|i| contrast(luminance(parsed(&palette.at(i as f64 / (LEVELS - 1) as f64))), ground))
                .collect();
            assert!(steps.windows(2).all(|pair| pair[0] > pair[1] * 1.03), "{steps:?}");
        }
    }

    #[test]
    fn texts_have_the_contrast_that_accessibility_asks_for() {
        for palette in [&LIGHT, &DARK] {
            let ground = luminance(parsed(palette.ground));
            for text in [palette.ink, palette.muted] {
                assert!(contrast(luminance(parsed(text)), ground) > 4.5, "{text}");
            }
        }
    }

    #[test]
    fn levels_go_from_the_best_to_the_worst() {
        assert_eq!([0.0, 0.5, 1.0, -3.0, 7.0].map(level), [0, 6, 11, 0, 11]);
        assert_eq!(level(f64::NAN), 0);
    }
}
