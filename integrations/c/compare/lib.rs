//! The test of this crate loads the library for C as a program in another language does.
