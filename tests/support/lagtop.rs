//! The program under test, run as a person or a parent runs it.

use std::{
    io::Read,
    ops::{Deref, DerefMut},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::wait::{DEADLINE, wait_until};

/// What the program said.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None`: ended by a signal.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Ran {
    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }
}

/// A process that ends with the test, however that ends.
pub struct Running(Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}")))
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `lagtop` with these arguments, and with none of our environment's variables that it reads.
pub fn lagtop(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lagtop"));
    for variable in ["LAGTOP_BOOTSTRAP_SERVER", "LAGTOP_CONFIG", "LAGTOP_LOG", "NO_COLOR"] {
        command.env_remove(variable);
    }
    // Nobody's own configuration is read.
    command.env("XDG_CONFIG_HOME", "/nowhere").stdin(Stdio::null()).args(args);
    command
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: &mut Command) -> Ran {
    let begun = Instant::now();
    let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let out = text(running.stdout.take().expect("piped"));
    let err = text(running.stderr.take().expect("piped"));
    let status = wait_until(&format!("{command:?} to end"), DEADLINE, || {
        running.try_wait().expect("its status").ok_or("still running")
    });
    let took = begun.elapsed();
    let read = |text: std::thread::JoinHandle<String>| text.join().expect("its output");
    Ran { code: status.code(), out: read(out), err: read(err), took }
}

fn text(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("its output");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// `lagtop snapshot --format json` with more arguments; it must succeed.
#[track_caller]
pub fn snapshot(bootstrap: &str, args: &[&str]) -> Value {
    let mut command = lagtop(&["snapshot", "-b", bootstrap, "--format", "json"]);
    if !args.contains(&"--timeout") {
        command.args(["--timeout", "30s"]);
    }
    let ran = run(command.args(args));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()
}

/// Waits until a snapshot knows the lag of so many partitions of a group.
#[track_caller]
pub fn wait_committed(bootstrap: &str, id: &str, partitions: usize) {
    wait_until("the commits", DEADLINE, || {
        let row = group(&snapshot(bootstrap, &["-g", id]), id).clone();
        if row["states"]["known"] == partitions { Ok(()) } else { Err(row.to_string()) }
    });
}

/// The group's row of a snapshot.
#[track_caller]
pub fn group<'a>(snapshot: &'a Value, group: &str) -> &'a Value {
    let groups = snapshot["groups"].as_array().expect("groups");
    let found = groups.iter().find(|row| row["group"] == group);
    found.unwrap_or_else(|| panic!("no group {group} in {snapshot:#}"))
}

/// The partition's row of a group.
#[track_caller]
pub fn partition<'a>(group: &'a Value, topic: &str, partition: i64) -> &'a Value {
    let rows = group["partitions"].as_array().expect("partitions");
    let found = rows.iter().find(|row| row["topic"] == topic && row["partition"] == partition);
    found.unwrap_or_else(|| panic!("no {topic}-{partition} in {group:#}"))
}

/// The group's member with this client id.
#[track_caller]
pub fn member<'a>(group: &'a Value, client_id: &str) -> &'a Value {
    let rows = group["members"].as_array().expect("members");
    let found = rows.iter().find(|row| row["client_id"] == client_id);
    found.unwrap_or_else(|| panic!("no member {client_id} in {group:#}"))
}
