//! The files of the engine's own tests, which the registry keeps.

use std::path::PathBuf;

/// Returns the folder of the crate that has the test files.
pub(crate) fn package() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata = String::from_utf8(metadata.stdout).unwrap();
    let manifests = metadata.split("\"manifest_path\":\"").skip(1);
    let manifest = manifests
        .filter_map(|manifest| manifest.split('"').next())
        .find(|it| it.contains("/datafusion-sqllogictest-"));
    PathBuf::from(manifest.unwrap())
        .parent()
        .unwrap()
        .to_owned()
}
