//! Checks and repairs small files, each of whose bytes is damaged in turn.

#[cfg(test)]
mod files;
#[cfg(test)]
mod repaired;
#[cfg(test)]
mod verified;
