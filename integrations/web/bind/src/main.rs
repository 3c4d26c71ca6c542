//! Writes a WebAssembly module with its JavaScript: `herringbone-web-bind MODULE FOLDER`.
//!
//! It does what `wasm-bindgen --target web` does. As a program of this workspace, it always has the version of `wasm-bindgen` that
//! built the module.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("herringbone-web-bind MODULE FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen
        .input_path(module)
        .out_name("herringbone")
        .typescript(false)
        .remove_name_section(true)
        // After a trap, the package starts over with a new instance.
        .reset_state_function(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
