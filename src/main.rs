//! Parse, run, exit code: nothing else.

use std::process::ExitCode;

use clap::Parser;
use lagtop::cli::{Args, UsageError, run};

fn main() -> ExitCode {
    match run::run(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("lagtop: {error:#}");
            }
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}
