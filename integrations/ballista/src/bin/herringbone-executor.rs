//! A Ballista executor that reads and writes Herringbone's tables, with the flags of
//! `ballista-executor`.

use std::process::ExitCode;
use std::sync::Arc;

use ballista_core::error::{BallistaError, Result};
use ballista_executor::config::Config;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::spawn_health_server;
use clap::Parser;
use herringbone_ballista::executor_config;
use herringbone_ballista::herringbone_datafusion::HerringboneCodec;
use herringbone_ballista::process::{Log, enlarge_stacks, runtime};

fn main() -> ExitCode {
    let options = Config::parse();
    // Ballista runs the tasks on a runtime of its own, so we cannot set the stack size of its
    // threads there.
    match enlarge_stacks() {
        Ok(None) => {}
        Ok(Some(code)) => return code,
        Err(error) => eprintln!("herringbone-executor: stacks of threads stay small: {error}"),
    }
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("herringbone-executor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Config) -> Result<()> {
    let address = format!("{}:{}", options.bind_host, options.bind_health_port);
    let address = address.parse().map_err(|error| {
        BallistaError::Configuration(format!("{address:?} is not an address to bind to: {error}"))
    })?;
    let config = ExecutorProcessConfig::try_from(options)?;
    let log = Log {
        levels: config.special_mod_log_level.clone(),
        prints_threads: config.print_thread_info,
        folder: config.log_dir.clone(),
        file_name: config.log_file_name_prefix(),
        rotation: config.log_rotation_policy,
    };
    log.start();
    let config = executor_config(config, HerringboneCodec::new());
    runtime()?.block_on(async {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let health = spawn_health_server(address, config.health.clone(), stopped);
        let result = start_executor_process(Arc::new(config)).await;
        // This may fail, because the health server may have ended by itself.
        stop.send(()).ok();
        health.await.ok();
        result
    })
}
