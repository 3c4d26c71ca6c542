use std::sync::Arc;

use delta_kernel::object_store::memory::InMemory;
use delta_kernel::object_store::{ObjectStoreExt, path::Path};
use delta_kernel::schema::SchemaRef;
use delta_kernel::{FileMeta, KernelError, ParquetHandler};
use futures::executor::block_on;
use url::Url;

use crate::support::{Handlers, batches, data, nullable, schema};

struct Files {
    store: Arc<InMemory>,
    handlers: Handlers,
}

impl Files {
    fn new() -> Self {
        let store = Arc::new(InMemory::new());
        let handlers = Handlers::over(store.clone());
        Self { store, handlers }
    }

    fn put(&self, bytes: &[u8]) -> FileMeta {
        let payload = bytes.to_vec().into();
        block_on(self.store.put(&Path::from("a.parquet"), payload)).unwrap();
        FileMeta::new(
            Url::parse("memory:///a.parquet").unwrap(),
            0,
            bytes.len() as u64,
        )
    }

    /// Reads all columns and the footer, and returns the error, which must name the file.
    fn read(&self, file: &FileMeta, wanted: &SchemaRef) -> Option<String> {
        let file_slice = std::slice::from_ref(file);
        let read = self
            .handlers
            .ours
            .read_parquet_files(file_slice, wanted.clone(), None);
        let error = batches(read.unwrap()).err()?.to_string();
        assert!(error.contains("memory:///a.parquet"), "{error}");
        if let Err(error) = self.handlers.ours.read_parquet_footer(file) {
            assert!(error.to_string().contains("memory:///a.parquet"), "{error}");
        }
        Some(error)
    }
}

fn bytes_of(name: &str) -> (Vec<u8>, SchemaRef) {
    let file = data(name);
    let bytes = std::fs::read(file.location.to_file_path().unwrap()).unwrap();
    let schema = Handlers::new()
        .default
        .read_parquet_footer(&file)
        .unwrap()
        .schema;
    (bytes, schema)
}

#[test]
fn damaged_files_are_errors_that_name_the_file() {
    let files = Files::new();
    let mut state = 88_172_645_463_325_252u64;
    let mut random = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % most
    };
    for name in ["nested.parquet", "types.parquet"] {
        let (bytes, wanted) = bytes_of(name);
        let mut errors = 0;
        for round in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..=round % 3 {
                let at = random(damaged.len());
                damaged[at] = random(256) as u8;
            }
            errors += usize::from(files.read(&files.put(&damaged), &wanted).is_some());
        }
        assert!(errors > 50, "{errors}");
        for _ in 0..100 {
            let length = random(bytes.len());
            assert!(files.read(&files.put(&bytes[..length]), &wanted).is_some());
        }
    }
}

#[test]
fn an_error_has_its_place_in_the_file() {
    let files = Files::new();
    let (mut bytes, _) = bytes_of("sorted.parquet");
    // This is the header of the first column's first page.
    bytes[4..20].fill(0xFF);
    let wanted = schema([nullable("n", delta_kernel::schema::DataType::LONG)]);
    let error = files.read(&files.put(&bytes), &wanted).unwrap();
    assert!(
        error.contains("row group 0") && error.contains("column n"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_not_found() {
    let files = Files::new();
    for size in [0, 100] {
        let file = FileMeta::new(Url::parse("memory:///none.parquet").unwrap(), 0, size);
        let wanted = schema([nullable("n", delta_kernel::schema::DataType::LONG)]);
        let read =
            files
                .handlers
                .ours
                .read_parquet_files(std::slice::from_ref(&file), wanted, None);
        let error = batches(read.unwrap()).unwrap_err();
        assert!(matches!(error, KernelError::FileNotFound(_)), "{error:?}");
        let error = files.handlers.ours.read_parquet_footer(&file).unwrap_err();
        assert!(matches!(error, KernelError::FileNotFound(_)), "{error:?}");
    }
}

#[test]
fn the_batches_before_a_damaged_file_are_returned() {
    let files = Files::new();
    let (bytes, _) = bytes_of("sorted.parquet");
    let good = files.put(&bytes);
    let bad = FileMeta::new(Url::parse("memory:///b.parquet").unwrap(), 0, 0);
    block_on(
        files
            .store
            .put(&Path::from("b.parquet"), vec![1u8; 100].into()),
    )
    .unwrap();
    let wanted = schema([nullable("n", delta_kernel::schema::DataType::LONG)]);
    let all = [good.clone(), bad, good];
    let mut rows = 0;
    let mut read = files
        .handlers
        .ours
        .read_parquet_files(&all, wanted, None)
        .unwrap();
    let error = loop {
        match read.next().unwrap() {
            Ok(batch) => rows += batch.len(),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(rows, 2000);
    assert!(error.contains("memory:///b.parquet"), "{error}");
    assert!(read.next().is_none());
}

#[test]
fn a_presigned_url_is_refused_without_its_signature() {
    let files = Files::new();
    let url = Url::parse("https://a.example/b.parquet?X-Amz-Signature=secret").unwrap();
    let error = files
        .handlers
        .ours
        .read_parquet_footer(&FileMeta::new(url, 0, 0))
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("a.example/b.parquet") && !text.contains("secret"),
        "{text}"
    );
}

#[test]
fn another_size_than_that_of_the_file_is_an_error() {
    let files = Files::new();
    let (bytes, wanted) = bytes_of("nested.parquet");
    let mut file = files.put(&bytes);
    assert!(files.read(&file, &wanted).is_none());
    for size in [file.size - 1, file.size + 1] {
        file.size = size;
        let error = files.read(&file, &wanted).unwrap();
        assert!(error.contains(&bytes.len().to_string()), "{error}");
    }
}
