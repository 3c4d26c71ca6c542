//! Tests the stores, and the folder of temporary files.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use ballista_core::object_store::S3Options;
use ballista_executor::executor_process::ExecutorProcessConfig;
use datafusion::prelude::{SessionConfig, SessionContext};
use herringbone_ballista::{enable_url_tables, executor_config, runtime_env};
use herringbone_datafusion::HerringboneCodec;
use object_store::local::LocalFileSystem;
use url::Url;

use crate::command::sql;
use crate::support::{Folder, rows, run};

fn config() -> SessionConfig {
    SessionConfig::new_with_ballista().with_option_extension(S3Options::default())
}

#[test]
fn tasks_of_an_executor_spill_to_its_work_folder() {
    let folder = Folder::new();
    let work = folder.path("work");
    std::fs::create_dir(&work).unwrap();
    let executor = ExecutorProcessConfig {
        work_dir: Some(work.clone()),
        ..ExecutorProcessConfig::default()
    };
    let executor = executor_config(executor, HerringboneCodec::new());
    let runtime = executor.override_runtime_producer.unwrap()(&config()).unwrap();
    let spilled = runtime.disk_manager.create_tmp_file("a sort").unwrap();
    let path = spilled.path().unwrap().to_str().unwrap().to_owned();
    assert!(path.starts_with(&work), "{path}");
}

#[tokio::test]
async fn a_program_registers_stores() {
    let folder = Folder::new();
    let runtime = runtime_env(&config(), None).unwrap();
    let session = SessionContext::new_with_config_rt(config(), runtime);
    herringbone_datafusion::register(&session).unwrap();
    let session = enable_url_tables(session);
    let path = folder.path("five.parquet");
    run(&session, &format!("copy (select 5 as five) to '{path}'"))
        .await
        .unwrap();
    let query = format!("select five from 'own://store{path}'");
    let error = run(&session, &query).await.unwrap_err().to_string();
    assert!(
        error.contains("there is no store for own:// URLs"),
        "{error}"
    );
    let store = Arc::new(LocalFileSystem::new());
    session.register_object_store(&Url::parse("own://store").unwrap(), store);
    assert_eq!(
        rows(&session, &query).await,
        rows(&session, "select 5 as five").await
    );
}

#[test]
fn a_url_without_a_table_is_explained() {
    let message = sql(&[]).fail("select * from 'gs://bucket/a.parquet'");
    let known = "there is no store for gs:// URLs: file, http, https and s3 are known";
    assert!(message.contains(known), "{message}");

    // This server knows no users. It takes the place of the store, and of the service with the
    // machine's own credentials.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            drop(stream.read(&mut request));
            let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_herringbone-sql"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    let output = command
        .env("AWS_ENDPOINT", &address)
        .env("AWS_METADATA_ENDPOINT", &address)
        .env("AWS_ALLOW_HTTP", "true")
        .arg("select * from 's3://bucket/a.parquet'")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    for part in [
        "s3://bucket/a.parquet",
        "AWS_ACCESS_KEY_ID",
        "s3.access_key_id",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
