//! The `herringbone` command.
fn main() {}
