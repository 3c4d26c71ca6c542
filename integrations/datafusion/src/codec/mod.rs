//! The codec that carries scans and sinks to other processes.
//!
//! ```text
//! mod.rs: which plans ─┬─ scan.rs ─┐
//!                      └─ sink.rs ─┴─ format.rs: options, names of keys ── message.rs: bytes
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion_common::{Result, config_err, exec_err, not_impl_err};
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::sink::DataSinkExec;
use datafusion_datasource::source::DataSourceExec;
use datafusion_execution::TaskContext;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use datafusion_physical_expr_common::sort_expr::PhysicalSortExpr;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::from_proto::parse_physical_sort_exprs;
use datafusion_proto::physical_plan::to_proto::serialize_physical_sort_exprs;
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalPlanDecodeContext,
    PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{PhysicalExprNode, PhysicalSortExprNode};

use crate::encryption::KeyFactory;
use crate::sink::HerringboneSink;
use crate::source::HerringboneSource;
use message::{Plan, PlanMessage, missing};

mod format;
mod message;
mod scan;
mod sink;

/// A codec that encodes Herringbone's scans and sinks, for engines that run plans on several
/// machines.
///
/// Other plans are errors, so you can compose it with other codecs:
///
/// ```
/// use std::sync::Arc;
/// use datafusion_proto::physical_plan::{ComposedPhysicalExtensionCodec, PhysicalExtensionCodec};
/// use herringbone_datafusion::HerringboneCodec;
///
/// fn with_herringbone(engine_codec: Arc<dyn PhysicalExtensionCodec>) -> ComposedPhysicalExtensionCodec {
///     let ours = HerringboneCodec::new().with_functions(engine_codec.clone());
///     ComposedPhysicalExtensionCodec::new(vec![engine_codec, Arc::new(ours)])
/// }
/// ```
///
/// Keys of encrypted files are never encoded, but the name of their [`KeyFactory`] is. The codec
/// that decodes the plan must have a factory of this name.
#[derive(Clone)]
pub struct HerringboneCodec {
    functions: Arc<dyn PhysicalExtensionCodec>,
    key_factories: HashMap<String, Arc<dyn KeyFactory>>,
}

impl HerringboneCodec {
    /// Creates a codec that finds the functions in filters and projections by their names.
    #[must_use]
    pub fn new() -> Self {
        Self {
            functions: Arc::new(DefaultPhysicalExtensionCodec {}),
            key_factories: HashMap::new(),
        }
    }

    /// Sets the codec for the functions and expressions in filters and projections.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { functions, ..self }
    }

    /// Adds a source of keys for encrypted files, which decoded tables find by its name.
    ///
    /// # Errors
    /// Fails with Configuration if the source has no name, or if the codec already has a source of
    /// this name.
    pub fn with_key_factory(mut self, keys: Arc<dyn KeyFactory>) -> Result<Self> {
        let Some(name) = keys.name().map(str::to_owned) else {
            return config_err!(
                "the key factory {keys:?} has no name: return one from `KeyFactory::name`"
            );
        };
        if self.key_factories.insert(name.clone(), keys).is_some() {
            return config_err!("the codec has two key factories with the name {name:?}");
        }
        Ok(self)
    }
}

impl Default for HerringboneCodec {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HerringboneCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.key_factories.keys().collect();
        names.sort_unstable();
        f.debug_struct("HerringboneCodec")
            .field("key_factories", &names)
            .finish_non_exhaustive()
    }
}

impl PhysicalExtensionCodec for HerringboneCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message: PlanMessage = message::decode(buf)?;
        let decoder = Decoder {
            codec: self,
            context: PhysicalPlanDecodeContext::new(ctx, self.functions.as_ref()),
            converter: proto_converter,
        };
        match (message.plan.ok_or_else(|| missing("scan or sink"))?, inputs) {
            (Plan::Scan(scan), []) => decoder.scan(*scan),
            (Plan::Sink(sink), [input]) => decoder.sink(&sink, input),
            (Plan::Scan(_), _) => exec_err!("the encoded scan has {} inputs", inputs.len()),
            (Plan::Sink(_), _) => exec_err!("the encoded sink has {} inputs", inputs.len()),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let encoder = Encoder {
            codec: self.functions.as_ref(),
            converter: proto_converter,
        };
        let plan = if let Some((config, source)) = scan_of(node.as_ref()) {
            Plan::Scan(Box::new(encoder.scan(config, source)?))
        } else if let Some((exec, sink)) = sink_of(node.as_ref()) {
            Plan::Sink(Box::new(encoder.sink(exec, sink)?))
        } else {
            return not_impl_err!("`{}` is not a scan or a sink of Herringbone", node.name());
        };
        message::encode(&PlanMessage { plan: Some(plan) }, buf);
        Ok(())
    }
}

/// Returns a plan's scan, if it is one of ours.
fn scan_of(plan: &dyn ExecutionPlan) -> Option<(&FileScanConfig, &HerringboneSource)> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let config = source.downcast_ref::<FileScanConfig>()?;
    let source = config.file_source().downcast_ref::<HerringboneSource>()?;
    Some((config, source))
}

/// Returns a plan's sink, if it is one of ours.
fn sink_of(plan: &dyn ExecutionPlan) -> Option<(&DataSinkExec, &HerringboneSink)> {
    let exec = plan.downcast_ref::<DataSinkExec>()?;
    Some((exec, exec.sink().downcast_ref::<HerringboneSink>()?))
}

/// An encoder that encodes expressions by the codec for functions.
struct Encoder<'a> {
    codec: &'a dyn PhysicalExtensionCodec,
    converter: &'a dyn PhysicalProtoConverterExtension,
}

impl Encoder<'_> {
    fn expr(&self, expr: &Arc<dyn PhysicalExpr>) -> Result<PhysicalExprNode> {
        self.converter.physical_expr_to_proto(expr, self.codec)
    }

    fn sort_exprs(
        &self,
        exprs: impl IntoIterator<Item = PhysicalSortExpr>,
    ) -> Result<Vec<PhysicalSortExprNode>> {
        serialize_physical_sort_exprs(exprs, self.codec, self.converter)
    }
}

/// A decoder that decodes expressions by the codec for functions, and formats by our codec.
struct Decoder<'a> {
    codec: &'a HerringboneCodec,
    context: PhysicalPlanDecodeContext<'a>,
    converter: &'a dyn PhysicalProtoConverterExtension,
}

impl Decoder<'_> {
    fn expr(
        &self,
        expr: &PhysicalExprNode,
        schema: &arrow::datatypes::Schema,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.converter
            .proto_to_physical_expr(expr, schema, &self.context)
    }

    fn sort_exprs(
        &self,
        exprs: &[PhysicalSortExprNode],
        schema: &arrow::datatypes::Schema,
    ) -> Result<Vec<PhysicalSortExpr>> {
        parse_physical_sort_exprs(exprs, &self.context, schema, self.converter)
    }
}
