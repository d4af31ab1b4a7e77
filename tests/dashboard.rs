//! The dashboard in a terminal: on a real cluster, on the simulated one, and how it leaves the terminal.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use support::terminal::Terminal;
use support::{DEADLINE, GroupSpec, shared, wait_until};

/// The line of the screen that has `word`.
fn line<'a>(text: &'a str, word: &str) -> &'a str {
    text.lines().find(|line| line.contains(word)).unwrap_or_default()
}

#[test]
fn a_group_now_beside_then_on_a_real_cluster() {
    let kafka = shared();
    kafka.create_topic("d.pay", 6);
    for partition in 0..6 {
        kafka.produce("d.pay", partition, if partition == 0 { 500 } else { 10 });
    }
    let spec = GroupSpec::classic("d.billing", "range").topics(&["d.pay"]);
    let mut members = kafka.start_group(&spec, 8);
    for partition in 0..6 {
        members[0].commit_offsets(&[("d.pay", partition, 0)]);
    }
    let mut terminal = Terminal::start(&["-b", &kafka.bootstrap(), "-g", "d.b*", "-i", "500ms"], (120, 40), &[]);
    let text = terminal.wait("the group and its idle members", |text| {
        let row = line(text, "d.billing");
        row.contains("8, 2 idle") && row.contains("Stable") && row.contains("550")
    });
    assert!(text.contains("READ-ONLY") && text.contains("1 of "), "{text}");

    terminal.press("\r");
    let text = terminal.wait("now beside then", |text| text.contains("NOW") && text.contains("THEN"));
    assert!(text.contains("8 members > 6 partitions") || text.contains("8 members > 6"), "{text}");
    assert!(line(&text, "d.pay-0").contains("500"), "{text}");

    members.pop().unwrap().close();
    terminal.wait("the member to leave", |text| line(text, "d.billing").contains("7 members, 1 idle"));

    terminal.press("q");
    terminal.wait("the list of groups", |text| line(text, "d.billing").contains("7, 1 idle"));
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}

#[test]
fn a_cluster_that_is_not_there_is_a_banner_and_retried() {
    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut terminal = Terminal::start(&["-b", &format!("127.0.0.1:{port}")], (100, 30), &[]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = terminal.wait("a banner with the cause", |text| words(text).contains("Connection refused"));
    assert!(text.contains(&port.to_string()), "{text}");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn the_collector_may_die_and_the_screen_goes_on() {
    let kafka = shared();
    kafka.create_topic("d.keep", 1);
    kafka.produce("d.keep", 0, 30);
    kafka.alter_offsets("d.keeper", &[("d.keep", 0, 7)]);
    let mut terminal = Terminal::start(&["-b", &kafka.bootstrap(), "-g", "d.keeper", "-i", "500ms"], (100, 30), &[]);
    terminal.wait("the lag", |text| line(text, "d.keeper").contains("23"));
    let collector = || -> Option<u32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", terminal.pid())).ok()?;
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
        children.flat_map(|pids| pids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next()?.parse().ok()
    };
    for fatal in [Signal::KILL, Signal::ABORT] {
        let before = wait_until("a collector", DEADLINE, || collector().ok_or("none"));
        kill_process(Pid::from_raw(i32::try_from(before).unwrap()).unwrap(), fatal).unwrap();
        let after = wait_until("another collector", DEADLINE, || match collector() {
            Some(after) if after != before => Ok(after),
            other => Err(format!("{other:?}")),
        });
        assert_ne!(before, after);
        terminal
            .wait("the lag, still or again", |text| line(text, "d.keeper").contains("23") && !text.contains("STALE"));
    }
    kafka.produce("d.keep", 0, 5);
    terminal.wait("news from the new collector", |text| line(text, "d.keeper").contains("28"));
    terminal.press("\x03");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}

#[test]
fn a_recording_plays_from_a_file_and_from_a_pipe() {
    let kafka = shared();
    kafka.create_topic("d.rec", 1);
    kafka.produce("d.rec", 0, 12);
    kafka.alter_offsets("d.recorded", &[("d.rec", 0, 5)]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.lagtop");
    let mut collector = support::lagtop(&["collect", "-b", &kafka.bootstrap(), "-g", "d.recorded", "-i", "500ms"])
        .stdout(std::fs::File::create(&file).unwrap())
        .spawn()
        .unwrap();
    let recorded = || {
        let mut decoder = lagtop::frame::Decoder::default();
        decoder.push(&std::fs::read(&file).unwrap());
        let mut monitor = lagtop::monitor::Monitor::default();
        while let Ok(Some(frame)) = decoder.next_frame() {
            monitor.fold(frame);
        }
        monitor.view().groups.first().map(|group| group.totals.lag)
    };
    wait_until("a recording with the lag", DEADLINE, || match recorded() {
        Some(7) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    collector.kill().unwrap();
    collector.wait().unwrap();

    let mut terminal = Terminal::start(&["replay", file.to_str().unwrap()], (100, 30), &[]);
    terminal.wait("the recorded lag", |text| line(text, "d.recorded").contains('7'));
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
}

/// The collector runs behind another command, as it does behind ssh; its stream can also come through a pipe.
#[test]
fn a_collector_elsewhere() {
    let kafka = shared();
    kafka.create_topic("d.far", 1);
    kafka.produce("d.far", 0, 9);
    kafka.alter_offsets("d.far", &[("d.far", 0, 4)]);
    let (bootstrap, lagtop) = (kafka.bootstrap(), env!("CARGO_BIN_EXE_lagtop"));
    let through = format!("env -u HOME '{lagtop}'");
    let args = ["snapshot", "-b", &bootstrap, "-g", "d.far", "--format", "json", "--collector", &through];
    let out = support::lagtop(&args).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&told["complete"], &told["groups"][0]["lag"]), (&true.into(), &5.into()), "{told:#}");
    let nowhere = support::lagtop(&["snapshot", "-b", &bootstrap, "--collector", "/no/such/command"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/no/such/command"), "{nowhere:?}");

    let mut pipe = CommandBuilder::new("/bin/sh");
    pipe.args(["-c", &format!("'{lagtop}' collect -b {bootstrap} -g d.far -i 500ms | '{lagtop}' replay -")]);
    let mut terminal = Terminal::run(pipe, (100, 30), &[]);
    terminal.wait("the lag through a pipe", |text| line(text, "d.far").contains(" 5"));
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}
