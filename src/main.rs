//! Parse, run, exit code: nothing else.

use std::process::ExitCode;

use lagtop::cli::{Args, UsageError, run};

fn main() -> ExitCode {
    match Args::read().map_err(Into::into).and_then(run::run) {
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
