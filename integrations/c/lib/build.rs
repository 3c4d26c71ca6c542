//! Gives the shared library its name on Linux, which has the number of the ABI.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libherringbone.so.1");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
