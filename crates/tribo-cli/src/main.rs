//! The program `tribo`.

fn main() {}
