//! The key tools shared by parquet-java and pyarrow. Master keys stay in a key management service (KMS) and wrap the
//! data keys. The material for unwrapping is stored as JSON, in the file or next to it ("PKMT1").
//!
//! ```text
//! single wrapping   data key (DEK) wrapped by the KMS with a master key
//! double wrapping   DEK wrapped here with a key encryption key (KEK), which the KMS wrapped with a master key
//! ```
//!
//! [`KeyTools`] writes and reads with a [`KmsClient`], which may block. If you must not block when writing, take the
//! steps of a [`KeyWrapping`] first. If you must not block when reading, answer [`KeyAnswer::Wait`] in your own key
//! retriever, then take the steps of a [`KeyUnwrapping`].
//!
//! [`KeyAnswer::Wait`]: crate::properties::KeyAnswer::Wait

mod cache;
mod configuration;
mod external;
mod file_store;
mod kms;
mod local_wrap;
mod material;
mod new_keys;
mod reading;
mod rotation;
mod test_kms;
mod tools;
mod unwrapping;
mod wrapping;

#[cfg(test)]
mod tests;

pub use configuration::{EncryptionConfiguration, parse_column_keys};
pub use external::KeyMaterialStore;
pub use file_store::FileKeyMaterialStore;
pub use kms::{AccessToken, DEFAULT_KMS, KmsClient, KmsClientFactory, KmsConnection};
pub use local_wrap::{LocalWrapKms, MasterKeys};
pub use material::is_external;
pub use new_keys::{KeyWrapping, WrapRequest, WrapStep};
pub use reading::KmsUrlPolicy;
pub use test_kms::InMemoryKms;
pub use tools::KeyTools;
pub use unwrapping::{KeyUnwrapping, UnwrapRequest, UnwrapStep};
