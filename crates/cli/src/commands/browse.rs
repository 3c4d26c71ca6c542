//! `browse` shows a file in the terminal, if this build has the viewer.

#[cfg(feature = "browse")]
pub(super) use crate::browse::run;

/// Explains how to get the viewer, since this build doesn't have it.
///
/// # Errors
/// Always fails with [`Failure::Usage`](crate::base::failure::Failure::Usage).
#[cfg(not(feature = "browse"))]
pub(super) fn run(
    _: &crate::input::context::Context,
    browse: &crate::args::Browse,
) -> crate::base::failure::Result<()> {
    let path = crate::base::url::name_of(&browse.file);
    Err(crate::base::failure::Failure::Usage(format!(
        "this build of herringbone has no viewer; install one with `cargo install --path crates/command`, or print rows \
         with `herringbone show {path}`"
    )))
}
