//! Checks and repairs of small files, damaged at each of their bytes.

#[cfg(test)]
mod files;
#[cfg(test)]
mod repaired;
#[cfg(test)]
mod verified;
