//! A Ballista scheduler that plans queries over Herringbone's tables, with the flags of
//! `ballista-scheduler`.

use std::process::ExitCode;
use std::sync::Arc;

use ballista_core::error::{BallistaError, Result};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{Config, SchedulerConfig};
use ballista_scheduler::scheduler_process::start_server;
use clap::Parser;
use herringbone_ballista::herringbone_datafusion::HerringboneCodec;
use herringbone_ballista::process::{Log, runtime};
use herringbone_ballista::scheduler_config;

fn main() -> ExitCode {
    match run(Config::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("herringbone-scheduler: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Config) -> Result<()> {
    let (namespace, host, port) = (
        &options.namespace,
        &options.external_host,
        options.bind_port,
    );
    let log = Log {
        levels: options.log_level_setting.clone(),
        prints_threads: options.print_thread_info,
        folder: options.log_dir.clone(),
        file_name: format!("scheduler_{namespace}_{host}_{port}"),
        rotation: options.log_rotation_policy,
    };
    log.start();
    let address = format!("{}:{port}", options.bind_host);
    let address = address.parse().map_err(|error| {
        BallistaError::Configuration(format!("{address:?} is not an address to bind to: {error}"))
    })?;
    let config = scheduler_config(SchedulerConfig::try_from(options)?, HerringboneCodec::new());
    runtime()?.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await?;
        start_server(cluster, address, Arc::new(config)).await
    })
}
