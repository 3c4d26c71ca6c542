//! Runs inputs that once did harm, and the seeds of the corpora, as ordinary tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{TARGETS, run, seeds};

/// Returns a folder of the repository.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|_| panic!("no {}", folder.display()));
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Runs each file `fuzz/regressions/TARGET/INPUT` through its target.
#[test]
fn inputs_that_did_harm_do_none() {
    let regressions = folder("fuzz/regressions");
    let mut inputs = 0;
    for target in names(&regressions) {
        for name in names(&regressions.join(&target)) {
            println!("{target}/{name}");
            let input = fs::read(regressions.join(&target).join(name)).unwrap();
            run(&target, &input);
            inputs += 1;
        }
    }
    assert!(inputs > 0);
}

/// Every target must have seeds. If `HERRINGBONE_FUZZ_SEEDS` names a folder, the seeds are written
/// there and kept.
#[test]
fn files_become_seeds() {
    let kept = std::env::var_os("HERRINGBONE_FUZZ_SEEDS").map(PathBuf::from);
    let corpus = kept.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("herringbone-seeds-{}", std::process::id()))
    });
    let testdata = folder("testdata");
    let mut folders = vec![testdata.clone()];
    folders.extend(["built", "hostile", "pyarrow", "duckdb"].map(|name| testdata.join(name)));
    if let Some(official) = std::env::var_os("PARQUET_TEST_DATA").map(PathBuf::from) {
        folders.extend([official.clone(), official.join("../bad_data")]);
    }
    assert!(seeds::write(&corpus, &folders) > 100);
    let found = names(&corpus);
    for (target, _) in TARGETS {
        assert!(found.iter().any(|name| name == target), "{target}");
    }
    if kept.is_none() {
        fs::remove_dir_all(corpus).unwrap();
    }
}
