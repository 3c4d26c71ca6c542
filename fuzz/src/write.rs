//! The generators of written rows, shared with the ordinary tests.

#[path = "../../tests/it/write/arrays.rs"]
pub(crate) mod arrays;
#[path = "../../tests/it/write/choices.rs"]
pub(crate) mod choices;
#[path = "../../tests/it/write/compare.rs"]
pub(crate) mod compare;
#[path = "../../tests/it/write/leaves.rs"]
mod leaves;
#[path = "../../tests/it/write/schemas.rs"]
pub(crate) mod schemas;
