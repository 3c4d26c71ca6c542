//! Formats on the wire, which are a table's options and the name of its key factory.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion_common::config::{
    ParquetColumnOptions, ParquetEncryptionOptions, ParquetOptions, TableParquetOptions,
};
use datafusion_common::{Result, config_err};
use datafusion_proto_common::protobuf_common::ParquetColumnSpecificOptions;

use super::HerringboneCodec;
use super::message::{FactoryMessage, FormatMessage, KeyValueMessage, missing};
use crate::encryption::{KeyFactory, TableKeys, name_of};
use crate::format::{HerringboneFormat, HerringboneFormatFactory};
use crate::options;

/// The end of the error for options that contain keys.
const KEYS_STAY: &str = "contains keys, which are never sent to other machines: give every machine a named `KeyFactory`";

/// Encodes the options and the name of the key factory.
///
/// # Errors
/// Fails with Configuration if the options contain keys, or if the keys have no name. Also returns
/// the errors of the conversion.
pub(super) fn encode(options: &TableParquetOptions, keys: &TableKeys) -> Result<FormatMessage> {
    if options.crypto != ParquetEncryptionOptions::default() {
        return config_err!("an option `crypto.…` of the table {KEYS_STAY}");
    }
    let mut columns = Vec::new();
    for (name, column) in &options.column_specific_options {
        columns.push(ParquetColumnSpecificOptions {
            column_name: name.clone(),
            options: Some(column.try_into()?),
        });
    }
    let key_values = options.key_value_metadata.iter();
    let message = FormatMessage {
        global: Some((&options.global).try_into()?),
        columns,
        key_values: key_values
            .map(|(key, value)| KeyValueMessage {
                key: key.clone(),
                value: value.clone(),
            })
            .collect(),
        key_factory: keys.name()?,
    };
    // We check that the options survive, because an option that the engine's message lacks would be
    // lost in silence.
    if decode_options(&message)? != *options {
        return config_err!("an option of the table cannot be sent to other machines: {options:?}");
    }
    Ok(message)
}

/// Decodes the options.
///
/// # Errors
/// Fails with Execution if a part is missing, and returns the errors of the conversion.
fn decode_options(message: &FormatMessage) -> Result<TableParquetOptions> {
    let global = message.global.as_ref().ok_or_else(|| missing("options"))?;
    let mut columns = HashMap::new();
    for column in &message.columns {
        let options = column.options.as_ref();
        let options = options.ok_or_else(|| missing("options of a column"))?;
        let options = ParquetColumnOptions::try_from(options)?;
        columns.insert(column.column_name.clone(), options);
    }
    let key_values = message.key_values.iter();
    Ok(TableParquetOptions {
        global: ParquetOptions::try_from(global)?,
        column_specific_options: columns,
        key_value_metadata: key_values
            .map(|key_values| (key_values.key.clone(), key_values.value.clone()))
            .collect(),
        crypto: ParquetEncryptionOptions::default(),
    })
}

impl HerringboneCodec {
    /// Decodes a table's options and keys.
    ///
    /// # Errors
    /// Fails with Configuration if no key factory has the name, or if an option is not supported.
    /// Also returns the errors of the conversion.
    pub(super) fn decode_format_message(
        &self,
        message: Option<&FormatMessage>,
    ) -> Result<(Arc<TableParquetOptions>, TableKeys)> {
        let message = message.ok_or_else(|| missing("format"))?;
        let options = decode_options(message)?;
        options::check(&options)?;
        let keys = TableKeys::new(&options, self.key_factory(message.key_factory.as_ref())?)?;
        Ok((Arc::new(options), keys))
    }

    /// Returns the key factory that has a name.
    ///
    /// # Errors
    /// Fails with Configuration if this codec has no key factory of this name.
    fn key_factory(&self, name: Option<&String>) -> Result<Option<Arc<dyn KeyFactory>>> {
        let Some(name) = name else {
            return Ok(None);
        };
        match self.key_factories.get(name) {
            Some(factory) => Ok(Some(factory.clone())),
            None => config_err!(
                "the keys of the table come from the key factory {name:?}, which this machine does not have: pass it to \
                 `HerringboneCodec::with_key_factory`"
            ),
        }
    }

    /// Encodes a format, as its options and the name of its [`KeyFactory`](crate::KeyFactory).
    ///
    /// # Errors
    /// Fails with Configuration if the options contain keys, or if the keys have no name.
    pub fn encode_format(&self, format: &HerringboneFormat) -> Result<Vec<u8>> {
        let (options, keys) = format.parts();
        let mut bytes = Vec::new();
        super::message::encode(&encode(options, keys)?, &mut bytes);
        Ok(bytes)
    }

    /// Decodes a format.
    ///
    /// # Errors
    /// Fails with Execution if the bytes are damaged, and with Configuration if this codec has no
    /// [`KeyFactory`](crate::KeyFactory) of the name.
    pub fn decode_format(&self, bytes: &[u8]) -> Result<HerringboneFormat> {
        let message: FormatMessage = super::message::decode(bytes)?;
        let (options, keys) = self.decode_format_message(Some(&message))?;
        Ok(HerringboneFormat::of_parts(options, keys))
    }

    /// Encodes a factory, as its options and the name of its [`KeyFactory`](crate::KeyFactory).
    ///
    /// # Errors
    /// Fails with Configuration if the options contain keys, or if the keys have no name.
    pub fn encode_factory(&self, factory: &HerringboneFormatFactory) -> Result<Vec<u8>> {
        let (options, keys) = factory.parts();
        let is_key = |key: &&String| key.trim_start_matches("format.").starts_with("crypto.");
        if let Some(key) = options.keys().find(is_key) {
            return config_err!("the option `{key}` {KEYS_STAY}");
        }
        let options = options.iter().map(|(key, value)| KeyValueMessage {
            key: key.clone(),
            value: Some(value.clone()),
        });
        let message = FactoryMessage {
            options: options.collect(),
            key_factory: keys.map(name_of).transpose()?,
        };
        let mut bytes = Vec::new();
        super::message::encode(&message, &mut bytes);
        Ok(bytes)
    }

    /// Decodes a factory.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::decode_format`].
    pub fn decode_factory(&self, bytes: &[u8]) -> Result<HerringboneFormatFactory> {
        let message: FactoryMessage = super::message::decode(bytes)?;
        let options = message.options.into_iter();
        let options = options.map(|option| (option.key, option.value.unwrap_or_default()));
        let factory = HerringboneFormatFactory::new().with_options(options.collect());
        Ok(match self.key_factory(message.key_factory.as_ref())? {
            Some(keys) => factory.with_key_factory(keys),
            None => factory,
        })
    }
}
