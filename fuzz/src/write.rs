//! The generators of rows to write, which are shared with the ordinary tests.

#[path = "../../tests/write/it/write/arrays.rs"]
pub(crate) mod arrays;
#[path = "../../tests/write/it/write/choices.rs"]
pub(crate) mod choices;
#[path = "../../tests/write/it/write/compare.rs"]
pub(crate) mod compare;
#[path = "../../tests/write/it/write/leaves.rs"]
mod leaves;
#[path = "../../tests/write/it/write/schemas.rs"]
pub(crate) mod schemas;
