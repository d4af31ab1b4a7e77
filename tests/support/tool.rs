//! The Java program that does to a cluster what a test asks; see `tests/kafka/src/lagtop/Tool.java`.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::jars::Java;

/// A request takes longer than this only if something is broken.
const CALL: Duration = Duration::from_secs(120);

type Answer = Result<Value, String>;
type Waiting = Arc<Mutex<HashMap<u64, mpsc::Sender<Answer>>>>;

/// The running program, to be cloned freely; its process ends when the last clone is gone.
#[derive(Clone)]
pub struct Tool(Arc<Process>);

struct Process {
    dir: PathBuf,
    child: Mutex<Child>,
    stdin: Mutex<Option<ChildStdin>>,
    waiting: Waiting,
    next: AtomicU64,
}

impl Tool {
    /// Starts the program; an owner of `dir` removes it when the test is gone.
    pub(super) fn spawn(bootstrap: &str, dir: &Path, name: &str, owner: bool) -> Self {
        let log = File::create(dir.join(format!("{name}.log"))).expect("a log");
        let mut child = Java::get()
            .command("Tool", 384, &dir.join(format!("{name}.slf4j.log")))
            .arg(bootstrap)
            .arg(dir)
            .args(owner.then_some("owner"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the tool's process");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let waiting = Waiting::default();
        let answers = Arc::clone(&waiting);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { break };
                let mut answer: Value = serde_json::from_str(&line).expect("an answer is a line of JSON");
                let sender = lock(&answers).remove(&answer["id"].as_u64().expect("an answer has an id"));
                let result = match answer["error"].take() {
                    Value::String(error) => Err(error),
                    _ => Ok(answer["ok"].take()),
                };
                // Nobody waits for the answer of a `post`.
                sender.map(|sender| sender.send(result));
            }
            // Whoever still waits sees its sender dropped.
            lock(&answers).clear();
        });
        let process = Process {
            dir: dir.to_owned(),
            child: Mutex::new(child),
            stdin: Mutex::new(stdin),
            waiting,
            next: AtomicU64::new(0),
        };
        Self(Arc::new(process))
    }

    /// Sends a command and waits for what it gives; panics with its error.
    #[track_caller]
    pub fn call(&self, command: &str, args: Value) -> Value {
        let shown = args.to_string();
        match self.try_call(command, args) {
            Ok(value) => value,
            Err(error) => panic!("{command} {shown}: {error}"),
        }
    }

    /// Sends a command and waits for what it gives, or for its error.
    pub fn try_call(&self, command: &str, args: Value) -> Answer {
        let (sender, receiver) = mpsc::channel();
        self.send(command, &args, Some(sender))?;
        match receiver.recv_timeout(CALL) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("no answer in {} s\n{}", CALL.as_secs(), self.state())),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("the tool's process has ended".to_owned()),
        }
    }

    /// Sends a command whose answer does not matter.
    pub fn post(&self, command: &str, args: &Value) {
        let _ = self.send(command, args, None);
    }

    fn send(&self, command: &str, args: &Value, sender: Option<mpsc::Sender<Answer>>) -> Result<(), String> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        if let Some(sender) = sender {
            lock(&self.0.waiting).insert(id, sender);
        }
        let line = format!("{}\n", json!({"id": id, "do": command, "args": args}));
        let mut stdin = lock(&self.0.stdin);
        let written = stdin.as_mut().map(|stdin| stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()));
        if matches!(written, Some(Ok(()))) {
            return Ok(());
        }
        lock(&self.0.waiting).remove(&id);
        Err("the tool's process has ended".to_owned())
    }

    /// What the program's threads are at, and the ends of all logs of the cluster: why a call got no answer.
    fn state(&self) -> String {
        let stacks = Java::get().jdk_tool("jstack").arg(self.pid().to_string()).output();
        let mut state = stacks.map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stdout).into_owned());
        let entries = fs::read_dir(&self.0.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let logs = entries.filter(|path| path.extension().is_some_and(|e| e == "log"));
        state.extend(logs.map(|log| {
            let text = fs::read(&log).unwrap_or_default();
            let tail = text.get(text.len().saturating_sub(4096)..).unwrap_or_default();
            format!("\n--- {}\n{}", log.display(), String::from_utf8_lossy(tail))
        }));
        state
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        lock(&self.0.child).id()
    }

    /// SIGKILL: its members are gone without a word.
    pub fn kill(&self) {
        let mut child = lock(&self.0.child);
        let _ = child.kill();
        let _ = child.wait();
    }

    /// SIGSTOP: its members stand still.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).expect("a pid")).expect("a pid");
        kill_process(pid, signal).expect("a signal to the tool");
    }

    /// Ends its standard input, and waits until it has cleaned up and ended.
    pub(super) fn finish(&self) {
        lock(&self.0.stdin).take();
        let _ = lock(&self.0.child).wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A test that panics while it holds a lock does not hurt the others.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
