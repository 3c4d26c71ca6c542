//! Sinks on the wire.

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_datasource::file_sink_config::{FileSink, FileSinkConfig};
use datafusion_datasource::sink::DataSinkExec;
use datafusion_physical_expr::LexRequirement;
use datafusion_physical_plan::ExecutionPlan;

use super::message::{SinkMessage, missing};
use super::{Decoder, Encoder, format};
use crate::sink::{HerringboneSink, check};

impl Encoder<'_> {
    /// Encodes a sink without its input.
    ///
    /// # Errors
    /// Returns the errors of formats and expressions.
    pub(super) fn sink(&self, exec: &DataSinkExec, sink: &HerringboneSink) -> Result<SinkMessage> {
        let (options, keys) = sink.format();
        let order = exec.sort_order().iter();
        let order = order.flat_map(|order| order.iter().cloned().map(Into::into));
        Ok(SinkMessage {
            config: Some(sink.config().try_into()?),
            format: Some(format::encode(options, keys)?),
            original_url: sink.config().original_url.clone(),
            order: self.sort_exprs(order)?,
        })
    }
}

impl Decoder<'_> {
    /// Decodes a sink for a plan's rows.
    ///
    /// # Errors
    /// Fails with Execution if parts are missing, and returns the errors of formats and
    /// expressions.
    pub(super) fn sink(
        &self,
        message: &SinkMessage,
        input: &Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let config = message.config.as_ref();
        let config = config.ok_or_else(|| missing("configuration of a sink"))?;
        let config = FileSinkConfig {
            original_url: message.original_url.clone(),
            ..config.try_into()?
        };
        let (options, keys) = self.codec.decode_format_message(message.format.as_ref())?;
        check(&options)?;
        let order = self.sort_exprs(&message.order, &input.schema())?;
        let order = LexRequirement::new(order.into_iter().map(Into::into));
        let sink = HerringboneSink::new(config, options, keys).with_order(order.as_ref());
        Ok(Arc::new(DataSinkExec::new(
            input.clone(),
            Arc::new(sink),
            order,
        )))
    }
}
