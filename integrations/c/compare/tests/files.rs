//! All files of `testdata/` and the official ones give the same batches through C as in Rust, or the same error.
//!
//! `HERRINGBONE_LIBRARY` is the path of `libherringbone.so`.

#![allow(
    clippy::unwrap_used,
    reason = "the functions of this test may fail as the test does"
)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use herringbone::arrow::array::RecordBatch;
use herringbone::geospatial::Geospatial;
use herringbone::variant::extension::VariantExtension;
use herringbone::{ParquetFile, ReadOptions};
use libloading::{Library, Symbol};

type Options = *const *const c_char;
type Open = unsafe extern "C" fn(*const c_char, Options, *mut *mut c_void) -> *mut c_void;
type Read = unsafe extern "C" fn(
    *const c_void,
    Options,
    *const c_void,
    *mut c_void,
    *mut FFI_ArrowArrayStream,
) -> *mut c_void;

struct C<'a> {
    open: Symbol<'a, Open>,
    read: Symbol<'a, Read>,
    message: Symbol<'a, unsafe extern "C" fn(*const c_void) -> *const c_char>,
    free_error: Symbol<'a, unsafe extern "C" fn(*mut c_void)>,
    free_file: Symbol<'a, unsafe extern "C" fn(*mut c_void)>,
}

impl C<'_> {
    fn check(&self, error: *mut c_void) -> Result<(), String> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: it is an error of the library, which is freed once.
        unsafe {
            let text = CStr::from_ptr((self.message)(error))
                .to_string_lossy()
                .into_owned();
            (self.free_error)(error);
            Err(text)
        }
    }

    fn batches(&self, path: &Path) -> Result<Vec<RecordBatch>, String> {
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let mut file = null_mut();
        let mut stream = FFI_ArrowArrayStream::empty();
        // SAFETY: the arguments are those that the header describes.
        unsafe {
            self.check((self.open)(path.as_ptr(), null(), &raw mut file))?;
            let read = (self.read)(file, null(), null(), null_mut(), &raw mut stream);
            (self.free_file)(file);
            self.check(read)?;
        }
        let reader = RecordBatchStreamReader::try_new(stream).map_err(|it| it.to_string())?;
        reader
            .map(|batch| batch.map_err(|error| error.to_string()))
            .collect()
    }
}

fn batches_of_rust(path: &Path) -> herringbone::Result<Vec<RecordBatch>> {
    let options = ReadOptions::new()
        .extension(Geospatial::new())
        .extension(VariantExtension::new());
    ParquetFile::open(path)?.read(options)?.collect()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|it| it == "parquet") {
            files.push(path);
        }
    }
}

#[test]
fn files_have_the_same_batches() {
    let library = std::env::var("HERRINGBONE_LIBRARY").unwrap();
    // SAFETY: the library has no code that runs when it is loaded, and functions of these types.
    let library = unsafe { Library::new(library).unwrap() };
    // SAFETY: as above.
    let c = unsafe {
        C {
            open: library.get(b"hb_open").unwrap(),
            read: library.get(b"hb_read").unwrap(),
            message: library.get(b"hb_error_message").unwrap(),
            free_error: library.get(b"hb_error_free").unwrap(),
            free_file: library.get(b"hb_file_free").unwrap(),
        }
    };
    let mut files = Vec::new();
    files_below(Path::new("../../../testdata"), &mut files);
    assert!(files.len() > 100);
    match std::env::var("PARQUET_TEST_DATA") {
        Ok(folder) => files_below(&Path::new(&folder).join(".."), &mut files),
        Err(_) => println!("skipped: the official files; PARQUET_TEST_DATA names their folder"),
    }
    let (mut same, mut failed) = (0, 0);
    for path in &files {
        match (batches_of_rust(path), c.batches(path)) {
            (Ok(rust), Ok(c)) => {
                same += 1;
                // A stream has fields that Rust's batches may have as shared ones: the text has the values, types and metadata.
                assert!(
                    rust == c || format!("{rust:?}") == format!("{c:?}"),
                    "{}",
                    path.display()
                );
            }
            (Err(rust), Err(c)) => {
                failed += 1;
                let message = rust.message().replace('\0', "\u{fffd}");
                assert!(
                    c.contains(&message),
                    "{}: {c}, in Rust {rust}",
                    path.display()
                );
            }
            (rust, c) => panic!(
                "{}: {:?}, in Rust {:?}",
                path.display(),
                c.err(),
                rust.err()
            ),
        }
    }
    println!("{same} files have the same batches, and {failed} the same errors");
    assert!(same > 50 && failed > 50);
}
