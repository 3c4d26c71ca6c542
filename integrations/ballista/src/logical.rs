//! The codec for logical plans, which a client sends to a scheduler.

use std::sync::Arc;

use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{
    AggregateUDF, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF,
};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use herringbone_datafusion::{HerringboneCodec, HerringboneFormatFactory, HerringboneTable};

use crate::table;

/// The first byte of everything that this codec encodes itself. No Protocol Buffers message begins
/// with it, which is how we recognise our own messages.
const OURS: u8 = 0xff;

/// A codec that encodes Herringbone's tables and formats, and everything else as Ballista does.
#[derive(Debug)]
pub struct HerringboneLogicalCodec {
    codec: HerringboneCodec,
    engine_codec: Arc<dyn LogicalExtensionCodec>,
}

impl HerringboneLogicalCodec {
    /// Creates the codec from the codec for physical plans, because that one has the key factories.
    #[must_use]
    pub fn new(codec: HerringboneCodec) -> Self {
        Self {
            codec,
            engine_codec: Arc::new(BallistaLogicalExtensionCodec::default()),
        }
    }

    /// Sets the codec for all other tables, formats and functions.
    #[must_use]
    pub fn with_others(self, engine_codec: Arc<dyn LogicalExtensionCodec>) -> Self {
        Self {
            engine_codec,
            ..self
        }
    }
}

impl LogicalExtensionCodec for HerringboneLogicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.engine_codec.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.engine_codec.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match buf.split_first() {
            Some((&OURS, table)) => {
                let table = table::decode(table, &self.codec, self.engine_codec.as_ref(), ctx)?;
                Ok(Arc::new(table))
            }
            _ => self
                .engine_codec
                .try_decode_table_provider(buf, table_ref, schema, ctx),
        }
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(table) = node.downcast_ref::<HerringboneTable>() else {
            return self
                .engine_codec
                .try_encode_table_provider(table_ref, node, buf);
        };
        buf.push(OURS);
        buf.extend(table::encode(
            table,
            &self.codec,
            self.engine_codec.as_ref(),
        )?);
        Ok(())
    }

    fn try_decode_file_format(
        &self,
        buf: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        match buf.split_first() {
            Some((&OURS, factory)) => Ok(Arc::new(self.codec.decode_factory(factory)?)),
            _ => self.engine_codec.try_decode_file_format(buf, ctx),
        }
    }

    fn try_encode_file_format(
        &self,
        buf: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        let Some(factory) = node.downcast_ref::<HerringboneFormatFactory>() else {
            return self.engine_codec.try_encode_file_format(buf, node);
        };
        buf.push(OURS);
        buf.extend(self.codec.encode_factory(factory)?);
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.engine_codec.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.engine_codec.try_encode_udf(node, buf)
    }

    fn try_decode_higher_order_function(
        &self,
        name: &str,
        buf: &[u8],
    ) -> Result<Arc<HigherOrderUDF>> {
        self.engine_codec
            .try_decode_higher_order_function(name, buf)
    }

    fn try_encode_higher_order_function(
        &self,
        node: &HigherOrderUDF,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        self.engine_codec
            .try_encode_higher_order_function(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.engine_codec.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.engine_codec.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.engine_codec.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.engine_codec.try_encode_udwf(node, buf)
    }
}
