use std::future::Future;
use std::sync::Arc;
use std::thread;

use delta_kernel::object_store::local::LocalFileSystem;
use delta_kernel::schema::DataType;
use delta_kernel::{KernelResult, ParquetHandler};
use delta_kernel_default_engine::executor::TaskExecutor;
use delta_kernel_default_engine::executor::tokio::TokioMultiThreadExecutor;
use futures::future::BoxFuture;
use herringbone_delta::HerringboneParquetHandler;
use url::Url;

use crate::support::{Handlers, data, file, nullable, read, schema};

/// An executor that starts a thread for each task, without tokio.
struct Threads;

impl TaskExecutor for Threads {
    type Guard<'a> = ();

    fn block_on<T>(&self, task: T) -> T::Output
    where
        T: Future + Send + 'static,
        T::Output: Send + 'static,
    {
        let task = thread::spawn(|| futures::executor::block_on(task));
        task.join().unwrap()
    }

    fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(thread::spawn(|| futures::executor::block_on(task)));
    }

    fn spawn_blocking<T, R>(&self, task: T) -> BoxFuture<'_, KernelResult<R>>
    where
        T: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Box::pin(async { Ok(task()) })
    }

    fn enter(&self) {}
}

fn check<E: TaskExecutor>(executor: E) {
    let store = Arc::new(LocalFileSystem::new());
    let handler = HerringboneParquetHandler::new(store, Arc::new(executor));
    let wanted = schema([
        nullable("n", DataType::LONG),
        nullable("s", DataType::STRING),
    ]);
    let files = vec![data("sorted.parquet"); 7];
    let rows = read(&handler, &files, &wanted, None).unwrap();
    let expected = read(&Handlers::new().default, &files, &wanted, None).unwrap();
    assert_eq!(rows, expected);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.parquet");
    let source = handler
        .read_parquet_files(&files, wanted.clone(), None)
        .unwrap();
    let url = Url::from_file_path(&path).unwrap();
    let bytes = handler.write_parquet_file(url, source).unwrap();
    assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    assert_eq!(
        read(&handler, &[file(&path)], &wanted, None).unwrap(),
        expected
    );
}

#[test]
fn an_executor_need_not_be_tokio() {
    check(Threads);
}

#[test]
fn an_executor_may_have_many_threads_and_a_caller_in_a_task() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    check(TokioMultiThreadExecutor::new(runtime.handle().clone()));
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async { check(TokioMultiThreadExecutor::new(handle)) });
    runtime.block_on(task).unwrap();
}
