//! Sends plans over the wire.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use herringbone_ballista::physical_codec;
use herringbone_datafusion::HerringboneCodec;
use herringbone_datafusion::herringbone::RowSelection;

use crate::support::{Folder, decode, encode, execute, plan, rows, run, session, sorted};
use crate::tpch;

fn codec() -> Arc<dyn PhysicalExtensionCodec> {
    physical_codec(HerringboneCodec::new())
}

/// Sends a plan over the wire and checks that its text stays the same.
fn sent(plan: &Arc<dyn ExecutionPlan>, session: &SessionContext) -> Arc<dyn ExecutionPlan> {
    let bytes = encode(plan, codec().as_ref()).unwrap();
    let decoded = decode(&bytes, session, codec().as_ref()).unwrap();
    let text = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(true).to_string();
    assert_eq!(text(&decoded), text(plan));
    decoded
}

/// Returns the scan below a plan.
fn scan(plan: &Arc<dyn ExecutionPlan>) -> FileScanConfig {
    if let Some(exec) = plan.downcast_ref::<DataSourceExec>() {
        return exec
            .data_source()
            .downcast_ref::<FileScanConfig>()
            .unwrap()
            .clone();
    }
    scan(plan.children()[0])
}

/// Changes the scan below a plan.
fn with_scan(
    plan: Arc<dyn ExecutionPlan>,
    change: impl Fn(FileScanConfigBuilder) -> FileScanConfigBuilder,
) -> Arc<dyn ExecutionPlan> {
    let change = |node: Arc<dyn ExecutionPlan>| {
        Ok(match node.downcast_ref::<DataSourceExec>() {
            Some(exec) => {
                let config = exec.data_source().downcast_ref::<FileScanConfig>().unwrap();
                let config = change(FileScanConfigBuilder::from(config.clone())).build();
                Transformed::yes(DataSourceExec::from_data_source(config) as _)
            }
            None => Transformed::no(node),
        })
    };
    plan.transform_up(change).unwrap().data
}

/// Writes a sorted table with two partitions of 1,000 rows in row groups of 100.
async fn create_numbers(session: &SessionContext, folder: &Folder) {
    let values = "select value as id, value % 10 as digit, value / 1000 as part from generate_series(0, 1999) order by id";
    let path = folder.path("numbers/");
    let copy = format!(
        "copy ({values}) to '{path}' stored as parquet partitioned by (part) options ('format.max_row_group_size' '100')"
    );
    run(session, &copy).await.unwrap();
    let table = "create external table numbers (id bigint, digit bigint, part bigint) stored as parquet partitioned by (part)";
    run(session, &format!("{table} location '{path}'"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_of_tpch_answer_as_before() {
    let folder = Folder::new();
    tpch::generate(&folder, tpch::SMALL);
    // We turn this off, because the results of such subqueries have no form on the wire outside of
    // the plan that computes them.
    let config = SessionConfig::new().with_target_partitions(2).set_bool(
        "datafusion.optimizer.enable_physical_uncorrelated_scalar_subquery",
        false,
    );
    let session = session(config);
    tpch::create_tables(&session, &folder).await;
    for (number, query) in (1..).zip(tpch::queries()) {
        let before = plan(&session, query).await;
        let bytes = encode(&before, codec().as_ref()).unwrap();
        let after = decode(&bytes, &session, codec().as_ref()).unwrap();
        let expected = sorted(&execute(before, &session).await);
        assert_eq!(
            sorted(&execute(after, &session).await),
            expected,
            "query {number}"
        );
    }
}

#[tokio::test]
async fn pushed_parts_of_a_query_are_sent() {
    let folder = Folder::new();
    let session = session(SessionConfig::new().with_target_partitions(2));
    create_numbers(&session, &folder).await;
    let long_chain = (0..150)
        .map(|i| format!("id <> {}", i * 3))
        .collect::<Vec<_>>();
    let queries = [
        // This has a filter with two conjuncts, an expression and a partition column.
        "select id + 1 as next, part from numbers where id > 500 and digit in (1, 2, 3, 4, 7)".to_owned(),
        // This has a virtual column, alone and in an expression whose type follows from the
        // column's.
        "select id, file_row_index() as row, abs(file_row_index() - 500) as away from numbers where id % 2 = 0".to_owned(),
        // These have a read order, a limit and a dynamic filter.
        "select id, digit from numbers order by digit desc, id limit 7".to_owned(),
        "select id from numbers where part = 1 limit 1000".to_owned(),
        // Messages may only be nested to some depth.
        format!("select count(*) from numbers where {}", long_chain.join(" and ")),
    ];
    for query in queries {
        let before = plan(&session, &query).await;
        let after = sent(&before, &session);
        let expected = sorted(&execute(before, &session).await);
        assert!(expected.len() >= 3, "{query}: {expected:?}");
        assert_eq!(sorted(&execute(after, &session).await), expected, "{query}");
    }
    run(&session, "set herringbone.pushdown = false")
        .await
        .unwrap();
    let pruning = plan(&session, "select id from numbers where id > 1500").await;
    let after = sent(&pruning, &session);
    assert!(
        displayable(after.as_ref())
            .indent(true)
            .to_string()
            .contains("pruning_predicate=")
    );
    assert_eq!(
        sorted(&execute(after, &session).await),
        sorted(&execute(pruning, &session).await)
    );
}

#[tokio::test]
async fn parts_that_the_message_of_the_engine_lacks_are_sent() {
    let folder = Folder::new();
    let session = session(SessionConfig::new().with_target_partitions(1));
    create_numbers(&session, &folder).await;
    let limit = usize::try_from(u64::from(u32::MAX) + 5).unwrap();
    let before = with_scan(
        plan(&session, "select id, part from numbers").await,
        |scan| {
            let mut groups = scan.clone().build().file_groups;
            let mut files = groups.remove(0).into_inner();
            files[0].metadata_size_hint = Some(77);
            files[0] = files[0]
                .clone()
                .with_extension(RowSelection::delete([10..990]));
            files[1] = files[1]
                .clone()
                .with_extension(RowSelection::keep([5..10]).of_row_group(3));
            scan.with_file_groups(vec![files.into()])
                .with_limit(Some(limit))
                .with_preserve_order(true)
                // We remove the output's order, because it would imply that the scan keeps the
                // order.
                .with_output_ordering(Vec::new())
        },
    );
    let after = sent(&before, &session);
    let (sent_scan, batches) = (scan(&after), execute(after.clone(), &session).await);
    assert_eq!(sent_scan.limit, Some(limit));
    assert!(sent_scan.preserve_order);
    let file: &PartitionedFile = &sent_scan.file_groups[0].files()[0];
    assert!(file.object_meta.e_tag.is_some());
    assert_eq!(file.metadata_size_hint, Some(77));
    assert!(file.ordering.is_some(), "the files are sorted by id");
    assert_eq!(
        sorted(&batches),
        sorted(&execute(before.clone(), &session).await)
    );
    assert_eq!(
        batches.iter().map(|batch| batch.num_rows()).sum::<usize>(),
        // These are 20 rows of the first file, 5 of a row group, and the 900 of the others.
        925
    );

    // The file is another object than the one that was planned.
    let replaced = with_scan(before, |scan| {
        let mut files = scan.clone().build().file_groups.remove(0).into_inner();
        files[0].object_meta.e_tag = Some("tag".to_owned());
        files[0].object_meta.version = Some("version".to_owned());
        scan.with_file_groups(vec![files.into()])
    });
    let after = sent(&replaced, &session);
    let meta = scan(&after).file_groups[0].files()[0].object_meta.clone();
    assert_eq!(meta.version.as_deref(), Some("version"));
    let error = collect(after, session.task_ctx()).await.unwrap_err();
    assert!(error.to_string().contains("file replaced"), "{error}");
}

#[tokio::test]
async fn what_has_no_form_on_the_wire_is_an_error() {
    let folder = Folder::new();
    let session = session(SessionConfig::new().with_target_partitions(1));
    create_numbers(&session, &folder).await;
    let scan = plan(&session, "select id from numbers").await;
    let extended = with_scan(scan.clone(), |scan| {
        let file = scan
            .clone()
            .build()
            .file_groups
            .remove(0)
            .into_inner()
            .remove(0);
        scan.with_file_groups(vec![vec![file.with_extension(7_u8)].into()])
    });
    let compressed = with_scan(scan, |scan| {
        scan.with_file_compression_type(FileCompressionType::GZIP)
    });
    for (plan, expected) in [(extended, "extension"), (compressed, "compressed")] {
        let error = HerringboneCodec::new().try_encode(
            plan,
            &mut Vec::new(),
            &DefaultPhysicalProtoConverter {},
        );
        assert!(error.unwrap_err().to_string().contains(expected));
    }
    // Our codec leaves the plans of others to other codecs.
    let other = plan(&session, "select 1").await;
    HerringboneCodec::new()
        .try_encode(other, &mut Vec::new(), &DefaultPhysicalProtoConverter {})
        .unwrap_err();
}

#[tokio::test]
async fn sinks_are_sent() {
    let folder = Folder::new();
    let session = session(SessionConfig::new().with_target_partitions(2));
    create_numbers(&session, &folder).await;
    let path = folder.path("copy/");
    let copy = format!(
        "copy (select id, digit, part from numbers order by id desc) to '{path}' stored as parquet partitioned by (part)
         options ('format.compression' 'zstd(5)', 'format.compression::digit' 'uncompressed',
                  'format.metadata::who' 'us', 'format.max_row_group_size' '300')"
    );
    let after = sent(&plan(&session, &copy).await, &session);
    assert_eq!(
        rows(&session, "select cast(2000 as bigint unsigned) as count").await,
        sorted(&execute(after, &session).await)
    );
    let table = "create external table copied (id bigint, digit bigint, part bigint) stored as parquet partitioned by (part)";
    run(&session, &format!("{table} location '{path}'"))
        .await
        .unwrap();
    assert_eq!(
        rows(&session, "select * from copied").await,
        rows(&session, "select * from numbers").await
    );

    // Another library reads the file metadata.
    let mut files = std::fs::read_dir(folder.path("copy/part=1")).unwrap();
    let file = std::fs::File::open(files.next().unwrap().unwrap().path()).unwrap();
    let reader = parquet::file::serialized_reader::SerializedFileReader::new(file).unwrap();
    let metadata = parquet::file::reader::FileReader::metadata(&reader);
    let key_values = metadata.file_metadata().key_value_metadata().unwrap();
    assert!(
        key_values
            .iter()
            .any(|key_value| key_value.key == "who" && key_value.value.as_deref() == Some("us"))
    );
    let row_group = metadata.row_group(0);
    assert_eq!(row_group.num_rows(), 300);
    let sorting = &row_group.sorting_columns().unwrap()[0];
    assert_eq!((sorting.column_idx, sorting.descending), (0, true));
    assert!(matches!(
        row_group.column(0).compression(),
        parquet::basic::Compression::ZSTD(_)
    ));
    assert_eq!(
        row_group.column(1).compression(),
        parquet::basic::Compression::UNCOMPRESSED
    );
}

#[tokio::test]
async fn damaged_bytes_are_errors() {
    let folder = Folder::new();
    let session = session(SessionConfig::new().with_target_partitions(1));
    create_numbers(&session, &folder).await;
    let scan = plan(&session, "select id from numbers where digit = 3").await;
    let (ours, converter) = (HerringboneCodec::new(), DefaultPhysicalProtoConverter {});
    let mut bytes = Vec::new();
    ours.try_encode(scan, &mut bytes, &converter).unwrap();
    let context = session.state().task_ctx();
    let decode = |bytes: &[u8]| ours.try_decode(bytes, &[], &context, &converter);
    decode(&bytes).unwrap();
    for length in 0..bytes.len() {
        decode(&bytes[..length]).unwrap_err();
    }
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            decode(&damaged).unwrap_err();
        }
    }
    let input = plan(&session, "select 1").await;
    ours.try_decode(&bytes, &[input], &context, &converter)
        .unwrap_err();
    bytes[0] = 9;
    let error = decode(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("has version 9, and this program reads version 1"),
        "{error}"
    );
}
