//! Writes one picture of each kind in light and dark, to be looked at: `cargo run -p tribo-chart --example gallery -- FOLDER`.
//! Pictures found right are the golden files of the tests.

#[path = "../tests/gallery.rs"]
mod gallery;

use std::path::PathBuf;
use tribo_chart::Scheme;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    for (name, chart) in gallery::pictures() {
        let picture = chart.picture();
        for (scheme, word) in [(Scheme::Page, "page"), (Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            std::fs::write(folder.join(format!("{name}-{word}.svg")), picture.svg(scheme))?;
        }
    }
    Ok(())
}
