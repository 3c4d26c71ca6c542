//! Values against the specification, the official files and another implementation.

mod encoding;
mod hostile;
mod official;
mod builder;
mod peer;
