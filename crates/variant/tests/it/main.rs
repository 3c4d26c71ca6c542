//! Compares values with the specification, the official files and another implementation.

#[cfg(test)]
mod encoding;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod official;
#[cfg(test)]
mod builder;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod equality;
#[cfg(test)]
mod json;
#[cfg(test)]
mod path;
#[cfg(test)]
#[cfg(feature = "arrow-60")]
mod shredding;
#[cfg(test)]
#[cfg(feature = "arrow-60")]
mod shredded_cases;
#[cfg(test)]
#[cfg(feature = "arrow-60")]
mod peer_arrays;
