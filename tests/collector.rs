//! `lagtop collect` as a process: its stream, its orders, its end, and where its secrets are.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::{fs::File, net::TcpListener, path::Path, process::Stdio};

use lagtop::frame::{Decoder, Frame, Settings};
use lagtop::model::{At, Name};
use lagtop::monitor::{Monitor, Preferences, view::View};
use rustix::process::{Pid, Signal, kill_process};
use support::{
    Cluster, ClusterSpec, Collector, DEADLINE, Running, group, lagtop as command, run, shared, snapshot, wait_until,
};

fn signal(process: &Running, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("a signal");
}

fn time_of(frame: &Frame) -> Option<At> {
    match frame {
        Frame::Full(snapshot) | Frame::Partial(snapshot) => Some(snapshot.at),
        Frame::Note(note) => Some(note.at),
        _ => None,
    }
}

/// Every whole frame in the bytes, folded; the times must ascend.
fn view_of(bytes: &[u8]) -> View {
    let (mut decoder, mut monitor, mut last) = (Decoder::default(), Monitor::new(Preferences::default()), At(0));
    decoder.push(bytes);
    while let Some(frame) = decoder.next_frame().expect("a frame of ours") {
        if let Some(at) = time_of(&frame) {
            assert!(at >= last, "{at:?} after {last:?}");
            last = at;
        }
        monitor.fold(frame);
    }
    monitor.view()
}

#[test]
fn a_recording_is_read_back() {
    let kafka = shared();
    kafka.create_topic("c.recorded", 2);
    kafka.produce("c.recorded", 1, 30);
    kafka.commit_standalone("c.recorded", &[("c.recorded", 0, 0), ("c.recorded", 1, 10)]);
    let file = kafka.dir().join("c.recording");
    let bootstrap = kafka.bootstrap();
    let mut collect = command(&["collect", "-b", &bootstrap, "-g", "c.recorded", "-i", "500ms"]);
    let mut collect = Running::start(collect.stdout(File::create(&file).expect("a file")));
    let lag = |view: &View| view.group(&Name::new("c.recorded")).map(|group| group.totals.lag);
    let recorded = |wanted: u64| {
        wait_until("the recording to tell the lag", DEADLINE, || {
            let view = view_of(&std::fs::read(&file).expect("the recording"));
            if lag(&view) == Some(wanted) { Ok(view.progress.polls) } else { Err(format!("{view:?}")) }
        })
    };
    let before = recorded(20);
    kafka.produce("c.recorded", 0, 5);
    assert!(recorded(25) > before);
    // Not INT: whoever runs the tests in the background may have had it ignored, which a child inherits.
    signal(&collect, Signal::TERM);
    ends(&mut collect);
}

fn ends(process: &mut Running) -> Option<i32> {
    let ended = || process.try_wait().expect("a status").ok_or("still running");
    wait_until("the collector to end", DEADLINE, ended).code()
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let bootstrap = shared().bootstrap();
    let mut collect = Collector::start(&mut command(&["collect", "-b", &bootstrap, "-i", "500ms"]));
    collect.until("a poll", |view| view.progress.polls > 0);
    assert_eq!(ends(&mut collect.let_go()), Some(0));
}

#[test]
fn orders_decide_and_signals_do_not() {
    let kafka = shared();
    kafka.create_topic("c.orders", 1);
    kafka.commit_standalone("c.orders", &[("c.orders", 0, 0)]);
    let settings = Settings { groups: vec!["c.orders".into()], ..Settings::default() };
    let mut collect = Collector::with_orders(&kafka.bootstrap(), settings);
    let polls = collect.view().progress.polls;
    for ignored in [Signal::INT, Signal::TSTP] {
        signal(&collect, ignored);
    }
    kafka.produce("c.orders", 0, 7);
    // The timer is off: only an order polls.
    let view = collect.poll();
    assert_eq!(view.progress.polls, polls + 1);
    assert_eq!(view.group(&Name::new("c.orders")).expect("the group").totals.lag, 7);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", collect.id())).expect("limits");
    let core: Vec<_> = limits.lines().find(|l| l.starts_with("Max core")).expect("a line").split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "{limits}");

    drop(collect.stdin.take());
    assert_eq!(ends(&mut collect), Some(0));
}

/// Command line and environment of every process that we may read.
fn processes() -> Vec<(u32, Vec<u8>)> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.map(|pid: u32| {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        (pid, [read("cmdline"), b"\0".to_vec(), read("environ")].concat())
    })
    .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn secrets_are_in_no_command_line_and_no_childs_environment() {
    // Nobody answers here, so the report waits, and its collector has the settings once it connects.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("password");
    std::fs::write(&file, "in-a-file-7Gq\n").expect("a file");
    let password = format!("sasl.password=@{}", file.display());
    let mut report =
        command(&["snapshot", "-b", &address, "--timeout", "5m", "-X", "security.protocol=sasl_plaintext"]);
    report.args(["-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=ann", "-X", &password]);
    report.args(["-X", "ssl.key.password=env:LAGTOP_TEST_SECRET"]).env("LAGTOP_TEST_SECRET", "in-the-environment-7Gq");
    let report = Running::start(report.stdout(Stdio::null()).stderr(Stdio::null()));
    let _connection = listener.accept().expect("a connection");

    let all = processes();
    let child = all.iter().find(|(pid, _)| parent_of(*pid) == Some(report.id())).expect("a collector");
    assert!(holds(&child.1, "collect\0--orders\0"), "{:?}", String::from_utf8_lossy(&child.1));
    for (pid, bytes) in &all {
        assert!(!holds(bytes, "in-a-file-7Gq"), "process {pid} shows the secret");
        // Who set the variable has it: its parent is this test.
        assert!(*pid == report.id() || !holds(bytes, "in-the-environment-7Gq"), "process {pid} shows the secret");
    }
}

#[test]
fn passwords_work_and_stay_out_of_recordings() {
    // A semicolon would end the broker's own list of users.
    let password = "a,b=d|e 7Gq";
    let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", password)]));
    kafka.add_scram_user("SCRAM-SHA-512", "sam", "a,b\"c;d=e\\7Gq");
    kafka.create_topic("t", 1);
    kafka.commit_standalone("g", &[("t", 0, 0)]);
    let file = kafka.dir().join("password");
    std::fs::write(&file, password).expect("a file");
    let (bootstrap, from_file) = (kafka.bootstrap_of("SASL"), format!("sasl.password=@{}", file.display()));
    let plain = ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=ann"];
    let told = snapshot(&bootstrap, &[&plain[..], &["-X", &from_file]].concat());
    assert_eq!(group(&told, "g")["lag"], 0);

    let scram =
        ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=SCRAM-SHA-512", "-X", "sasl.username=sam"];
    let mut report = command(&["snapshot", "-b", &bootstrap, "--format", "json"]);
    report.args(scram).args(["-X", "sasl.password=env:LAGTOP_TEST_SECRET"]);
    let ran = run(report.env("LAGTOP_TEST_SECRET", "a,b\"c;d=e\\7Gq"));
    assert_eq!(group(&ran.json(), "g")["lag"], 0, "{ran:?}");

    let recording = kafka.dir().join("recording");
    let (out, log) = (File::create(&recording).expect("a file"), kafka.dir().join("collect.log"));
    let mut collect = command(&["collect", "-b", &bootstrap, "-i", "500ms", "-X", &from_file]);
    // The client's own debug log, too.
    collect.args(plain).args(["-X", "debug=all"]).env("LAGTOP_LOG", "trace");
    let collect = Running::start(collect.stdout(out).stderr(File::create(&log).expect("a file")));
    let read = |path: &Path| std::fs::read(path).expect("a file");
    wait_until("two polls", DEADLINE, || match view_of(&read(&recording)).progress.polls {
        0 | 1 => Err("too few"),
        _ => Ok(()),
    });
    drop(collect);
    assert!(!holds(&read(&recording), password), "the recording holds the password");
    assert!(!holds(&read(&log), password), "the log holds the password");
    assert!(holds(&read(&log), "librdkafka"), "the log is there");
}
