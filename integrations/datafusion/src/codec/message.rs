//! The messages of scans, sinks and formats, and their frame on the wire.

use datafusion_common::{Result, exec_datafusion_err, exec_err};
use datafusion_proto::protobuf;
use datafusion_proto_common::protobuf_common;
use prost::Message;

/// The version of the messages, which we change if an older program would read them wrongly.
const VERSION: u8 = 1;

/// The number of bytes before a message, which are the version and the checksum.
const FRAME: usize = 9;

#[derive(Clone, PartialEq, Message)]
pub(super) struct PlanMessage {
    #[prost(oneof = "Plan", tags = "1, 2")]
    pub(super) plan: Option<Plan>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Plan {
    #[prost(message, tag = "1")]
    Scan(Box<ScanMessage>),
    #[prost(message, tag = "2")]
    Sink(Box<SinkMessage>),
}

/// A scan. Its configuration has no limit, and its schema has all of the table columns: the columns
/// of files, then the partition columns, then the virtual columns.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ScanMessage {
    #[prost(message, optional, tag = "1")]
    pub(super) config: Option<protobuf::FileScanExecConf>,
    #[prost(message, optional, tag = "2")]
    pub(super) format: Option<FormatMessage>,
    #[prost(uint64, tag = "3")]
    pub(super) partition_columns: u64,
    #[prost(uint64, tag = "4")]
    pub(super) virtual_columns: u64,
    #[prost(uint64, optional, tag = "5")]
    pub(super) limit: Option<u64>,
    #[prost(bool, tag = "6")]
    pub(super) preserve_order: bool,
    /// The pushed filters, which must all hold. They are not one expression, because messages may
    /// only be nested 100 levels deep.
    #[prost(message, repeated, tag = "7")]
    pub(super) predicate: Vec<protobuf::PhysicalExprNode>,
    #[prost(bool, tag = "8")]
    pub(super) evaluates: bool,
    #[prost(message, optional, tag = "9")]
    pub(super) order: Option<OrderMessage>,
    #[prost(uint64, optional, tag = "10")]
    pub(super) batch_size: Option<u64>,
    /// The parts of each file that the configuration lacks, in the order of the files.
    #[prost(message, repeated, tag = "11")]
    pub(super) files: Vec<FileMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OrderMessage {
    /// The column whose bounds order the row groups, or `None` if each file's row groups are read
    /// from the end.
    #[prost(string, optional, tag = "1")]
    pub(super) column: Option<String>,
    #[prost(bool, tag = "2")]
    pub(super) descending: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FileMessage {
    #[prost(string, optional, tag = "1")]
    pub(super) e_tag: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) version: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) metadata_size_hint: Option<u64>,
    #[prost(message, repeated, tag = "4")]
    pub(super) ordering: Vec<protobuf::PhysicalSortExprNode>,
    #[prost(message, optional, tag = "5")]
    pub(super) selection: Option<SelectionMessage>,
}

/// The rows to read, as the starts and ends of ranges in turn.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SelectionMessage {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) borders: Vec<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) row_group: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SinkMessage {
    #[prost(message, optional, tag = "1")]
    pub(super) config: Option<protobuf::FileSinkConfig>,
    #[prost(message, optional, tag = "2")]
    pub(super) format: Option<FormatMessage>,
    #[prost(string, tag = "3")]
    pub(super) original_url: String,
    #[prost(message, repeated, tag = "4")]
    pub(super) order: Vec<protobuf::PhysicalSortExprNode>,
}

/// A table's options and the name of its key factory.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FormatMessage {
    #[prost(message, optional, tag = "1")]
    pub(super) global: Option<protobuf_common::ParquetOptions>,
    #[prost(message, repeated, tag = "2")]
    pub(super) columns: Vec<protobuf_common::ParquetColumnSpecificOptions>,
    #[prost(message, repeated, tag = "3")]
    pub(super) key_values: Vec<KeyValueMessage>,
    #[prost(string, optional, tag = "4")]
    pub(super) key_factory: Option<String>,
}

/// The options of the tables that a factory creates, and the name of their key factory.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FactoryMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) options: Vec<KeyValueMessage>,
    #[prost(string, optional, tag = "2")]
    pub(super) key_factory: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValueMessage {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, optional, tag = "2")]
    pub(super) value: Option<String>,
}

/// Appends the version, the checksum and the message's bytes.
pub(super) fn encode(message: &impl Message, out: &mut Vec<u8>) {
    let bytes = message.encode_to_vec();
    out.push(VERSION);
    out.extend_from_slice(&checksum(&bytes).to_le_bytes());
    out.extend_from_slice(&bytes);
}

/// Decodes a message.
///
/// # Errors
/// Fails with Execution if the bytes have another version, or are damaged.
pub(super) fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M> {
    let (Some((&[version], _)), Some((frame, message))) = (
        bytes.split_first_chunk(),
        bytes.split_first_chunk::<FRAME>(),
    ) else {
        return exec_err!(
            "the encoded plan has {} bytes, and at least {FRAME} are needed",
            bytes.len()
        );
    };
    if version != VERSION {
        return exec_err!(
            "the encoded plan has version {version}, and this program reads version {VERSION}: run the same version of \
             Herringbone on all machines"
        );
    }
    let [_, stored @ ..] = *frame;
    // We check before decoding, because the engine's decoders panic at some bytes, so damaged ones
    // must not reach them.
    if u64::from_le_bytes(stored) != checksum(message) {
        return exec_err!("the encoded plan is damaged: its checksum is wrong");
    }
    M::decode(message)
        .map_err(|error| exec_datafusion_err!("the encoded plan is not a message: {error}"))
}

/// Returns the 64-bit FNV-1a hash.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the error for a message that lacks one of its parts.
pub(super) fn missing(name: &str) -> datafusion_common::DataFusionError {
    exec_datafusion_err!("the encoded plan has no {name}")
}

#[cfg(test)]
mod tests {
    /// The hash's authors published these values: <http://www.isthe.com/chongo/src/fnv/test_fnv.c>.
    #[test]
    fn the_checksum_is_fnv_1a() {
        assert_eq!(super::checksum(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(super::checksum(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
