//! Bad input and bad surroundings: one clear error that names the cause, the exit code, and no secret.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
};

use support::{Cluster, ClusterSpec, Ran, lagtop as command, run, shared};

const SECRET: &str = "hunter2-7Gq";

/// Runs `lagtop snapshot` with these arguments; what it says is one line on stderr, and nothing of it is secret.
#[track_caller]
fn fails(args: &[&str], code: i32, named: &[&str]) -> Ran {
    let ran = run(command(&["snapshot"]).args(args));
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for text in named {
        assert!(ran.err.contains(text), "{text:?} is not in {ran:?}");
    }
    assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET), "{ran:?}");
    assert!(!ran.err.contains("panicked") && !ran.err.contains('\u{1b}'), "{ran:?}");
    ran
}

/// Usage and configuration: exit code 2, nothing on stdout.
#[track_caller]
fn usage(args: &[&str], named: &[&str]) {
    let ran = fails(args, 2, named);
    assert_eq!(ran.out, "", "{ran:?}");
}

/// At run time: exit code 1 and one line.
#[track_caller]
fn runtime(args: &[&str], named: &[&str]) -> Ran {
    let ran = fails(args, 1, named);
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert!(ran.err.starts_with("lagtop: "), "{ran:?}");
    ran
}

#[test]
fn what_was_typed_is_named() {
    let there = ["-b", "127.0.0.1:1"];
    let with = |more: &[&'static str]| [&there[..], more].concat();
    usage(&with(&["--no-such-flag"]), &["--no-such-flag"]);
    usage(&with(&["--interval", "soon"]), &["--interval", "soon", "write 2s"]);
    usage(&with(&["--interval", "1ms"]), &["--interval", "500ms"]);
    usage(&with(&["--storm", "5"]), &["--storm", "5/5m", "a count, a slash, a duration"]);
    usage(&with(&["--storm", "5/2h"]), &["--storm", "within an hour"]);
    usage(&with(&["--timeout", "never"]), &["--timeout", "never"]);
    usage(&with(&["--timeout", "10000000000000000000s"]), &["--timeout", "at most 24h"]);
    usage(&with(&["--observe", "25h"]), &["--observe", "at most 24h"]);
    usage(&with(&["--keep", "5s"]), &["--keep", "at least 1m, at most 24h"]);
    usage(&with(&["--lag", "-1"]), &["'-1' for '--lag <N>'", "write a number of records such as 10000"]);
    usage(&with(&["--time-lag", "0s"]), &["--time-lag", "at least 1s"]);
    usage(&with(&["--format", "xml"]), &["xml", "json"]);
    usage(&with(&["-X", "nonsense"]), &["bad property \"nonsense\"", "KEY=VALUE"]);
    usage(&with(&["-X", "sasl.password=@/no/such/file"]), &["/no/such/file", "sasl.password"]);
    usage(&with(&["-X", "sasl.password=env:LAGTOP_NO_SUCH"]), &["LAGTOP_NO_SUCH is not set"]);
    usage(&with(&["--group", "a["]), &["bad pattern \"a[\""]);
    usage(&with(&["--topic", "{a"]), &["bad pattern \"{a\""]);
    usage(&["-b", "host:port"], &["bad bootstrap server \"host:port\"", "HOST:PORT"]);
    usage(&[], &["no cluster given", "--bootstrap-server"]);
    usage(&with(&["--collector", "ssh 'jump"]), &["--collector", "quote"]);
}

/// Runs `lagtop snapshot` with this configuration file: usage, one line that names the file, the line and what else is said.
#[track_caller]
fn misconfigured(text: &str, line: usize, named: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.toml");
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let place = format!("lagtop: {file}, line {line}: ");
    let ran = fails(&["--config", &file], 2, &[&[&*place], named].concat());
    assert_eq!((&*ran.out, ran.err.lines().count()), ("", 1), "{ran:?}");
}

#[test]
fn what_a_configuration_file_says_is_named() {
    // The syntax.
    misconfigured("interval = 2s", 1, &["interval", "put text in quotes"]);
    misconfigured("\n\nmouse", 3, &["expected `=`"]);
    misconfigured("keep = \"1h\"\nkeep = \"2h\"", 2, &["keep: duplicate key"]);
    // Keys.
    misconfigured("colour = \"red\"", 1, &["unknown key `colour`", "`bootstrap-server`", "`theme`", "`thresholds`"]);
    misconfigured("\"\\u001b[2J\" = 1", 1, &["unknown key"]);
    misconfigured(
        "[thresholds]\nlags = 1",
        2,
        &["thresholds", "`lags`", "`lag`, `time-lag`, `abandoned-after`, `group`"],
    );
    misconfigured("[[thresholds.group]]\nlag = 1", 1, &["missing key `match`"]);
    // Types.
    misconfigured("interval = 2", 1, &["interval", "a time such as \"2s\""]);
    misconfigured("groups = \"a\"", 1, &["groups", "a list of globs such as"]);
    misconfigured("mouse = \"yes\"", 1, &["mouse", "true or false"]);
    misconfigured("[thresholds]\nlag = -1", 2, &["thresholds.lag", "a number of records such as 10000"]);
    misconfigured("[thresholds.group]\nmatch = \"a\"", 1, &["[[thresholds.group]]"]);
    // Values.
    misconfigured("interval = \"1ms\"", 1, &["interval", "shortest interval is 500ms"]);
    misconfigured("keep = \"5s\"", 1, &["keep", "at least 1m, at most 24h"]);
    misconfigured("storm = \"5\"", 1, &["storm", "5/5m"]);
    misconfigured("log-history = \"long\"", 1, &["log-history", "write 6h, 30m or all"]);
    misconfigured("coordinator-log = \"on\"", 1, &["coordinator-log", "\"auto\" or \"off\" or \"require\""]);
    misconfigured("plan-assignor = \"best\"", 1, &["plan-assignor", "lag-balanced, lag-based"]);
    misconfigured("theme = \"solar\"", 1, &["theme", "default, mono"]);
    misconfigured("bootstrap-server = \"host:port\"", 1, &["bootstrap-server", "write HOST:PORT"]);
    misconfigured("groups = [\n\"a\",\n\"b[\"]", 3, &["groups", "bad pattern \"b[\""]);
    misconfigured("[thresholds]\ntime-lag = \"0s\"", 2, &["thresholds.time-lag", "at least 1s"]);
    misconfigured(
        "[[thresholds.group]]\nmatch = \"a[\"\nlag = 1",
        2,
        &["thresholds.group.match", "bad pattern \"a[\""],
    );
    misconfigured("[[thresholds.group]]\nmatch = \"a\"", 1, &["\"a\" names no threshold", "lag, time-lag"]);
}

#[test]
fn secrets_of_a_configuration_file_are_not_repeated() {
    let servers = "bootstrap-server = \"127.0.0.1:1\"\n[properties]\n";
    for (value, named) in [
        ("hunter2-7Gq", "put text in quotes"),
        ("\"hunter2-7Gq", "sasl.password"),
        ("[\"hunter2-7Gq\"]", "\"@FILE\" or \"env:NAME\""),
        ("\"@/no/such/file\"", "the file /no/such/file cannot be read"),
        ("\"env:LAGTOP_NO_SUCH\"", "LAGTOP_NO_SUCH is not set"),
    ] {
        misconfigured(&format!("{servers}sasl.password = {value}"), 3, &["sasl.password", named]);
    }
    misconfigured("properties = \"sasl.password=hunter2-7Gq\"", 1, &["properties", "write a table: [properties]"]);
}

#[test]
fn a_configuration_file_that_cannot_be_read() {
    let (missing, folder) = ("/no/such/config.toml", std::env::temp_dir().display().to_string());
    usage(&["--config", missing], &[missing, "cannot be read", "No such file", "/dev/null stands for none"]);
    usage(&["--config", &folder], &[&folder, "Is a directory"]);
    usage(&["--config", "/dev/zero"], &["/dev/zero", "is it the right file?"]);
    let ran = run(command(&["snapshot"]).env("LAGTOP_CONFIG", missing));
    assert!(ran.code == Some(2) && ran.err.contains(missing), "{ran:?}");
    let ran = run(command(&["snapshot"]).env("LAGTOP_BOOTSTRAP_SERVER", "host:port"));
    assert!(ran.code == Some(2) && ran.err.contains("LAGTOP_BOOTSTRAP_SERVER: bad bootstrap server"), "{ran:?}");
    // Nothing in the usual place is no error.
    usage(&["--config", "/dev/null"], &["no cluster given"]);
    usage(&[], &["no cluster given"]);
}

/// A variable says what nobody typed; it contradicts no flag, and the collector, which takes orders alone, does not mind.
#[test]
fn a_server_in_the_environment() {
    let with = |args: &[&str]| run(command(args).env("LAGTOP_BOOTSTRAP_SERVER", "127.0.0.1:1"));
    let ran = with(&["snapshot", "--timeout", "2s"]);
    assert!(ran.code == Some(1) && ran.err.contains("127.0.0.1:1"), "{ran:?}");
    let ran = with(&["snapshot", "--demo", "--timeout", "2s"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = with(&["hash", "--input", "/no/such.json"]);
    assert!(ran.code == Some(2) && ran.err.contains("/no/such.json"), "{ran:?}");
}

#[test]
fn what_the_client_refuses_is_named() {
    let with = |property: &'static str| ["-b", "127.0.0.1:1", "--timeout", "10m", "-X", property];
    usage(&with("no.such.property=hunter2-7Gq"), &["no.such.property"]);
    usage(&with("socket.timeout.ms=hunter2-7Gq"), &["socket.timeout.ms"]);
    usage(&with("security.protocol=hunter2-7Gq"), &["security.protocol"]);
    usage(&with("group.id=mine"), &["group.id", "read-only"]);
    let tls = ["-X", "security.protocol=ssl"];
    usage(&[&with("ssl.ca.location=/no/such/ca.pem")[..], &tls].concat(), &["ssl.ca.location"]);
    usage(&["-b", "127.0.0.1:1", "--collector", "/no/such/program"], &["/no/such/program", "cannot be started"]);
}

#[test]
fn a_closed_port() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let ran = runtime(&["-b", &address, "--timeout", "2s"], &[&address, "Connection refused", "check host and port"]);
    assert_eq!(ran.out, "");
    let ran = runtime(&["-b", &address, "--timeout", "1s", "--format", "json"], &["Connection refused"]);
    assert_eq!((&ran.json()["complete"], &ran.json()["problems"][0]["missing"]), (&false.into(), &"connection".into()));
}

/// A listener on loopback that answers whatever comes with `answer` and closes.
fn stranger(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
        }
    });
    address
}

#[test]
fn a_port_that_is_not_kafka() {
    let http = stranger(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    runtime(&[&["-b", &http][..], &LONG].concat(), &[&http, "does not speak Kafka", "check host, port"]);
    let closing = stranger(b"");
    runtime(&[&["-b", &closing][..], &LONG].concat(), &[&closing, "closed the connection", "no Kafka port"]);
    // Accepts and stays silent.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    runtime(&["-b", &address, "--timeout", "2s"], &[&address]);
}

fn secured() -> &'static Cluster {
    static CLUSTER: std::sync::OnceLock<Cluster> = std::sync::OnceLock::new();
    CLUSTER.get_or_init(|| {
        let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", "right")]).tls());
        kafka.add_scram_user("SCRAM-SHA-256", "sam", "right");
        kafka
    })
}

/// What will not pass is not waited for: the time-out is longer than the test waits.
const LONG: [&str; 2] = ["--timeout", "10m"];

#[test]
fn a_wrong_password() {
    let bootstrap = secured().bootstrap_of("SASL");
    for (mechanism, user) in [("PLAIN", "ann"), ("SCRAM-SHA-256", "sam"), ("SCRAM-SHA-512", "nobody")] {
        let (mechanism, user) = (format!("sasl.mechanism={mechanism}"), format!("sasl.username={user}"));
        let args = ["-b", &bootstrap, "-X", "security.protocol=sasl_plaintext", "-X", &mechanism, "-X", &user];
        let password = ["-X", "sasl.password=hunter2-7Gq"];
        let ran =
            runtime(&[&args[..], &password, &LONG].concat(), &[&bootstrap, "authentication failed", "sasl.password"]);
        assert!(!ran.err.contains("timed out") && !ran.err.contains("within the deadline"), "{ran:?}");
    }
}

#[test]
fn a_wrong_protocol() {
    let kafka = secured();
    let (tls, plain, sasl) = (kafka.bootstrap_of("SSL"), kafka.bootstrap(), kafka.bootstrap_of("SASL"));
    runtime(&[&["-b", &tls][..], &LONG].concat(), &[&tls, "check security.protocol"]);
    let args = ["-b", &plain, "-X", "security.protocol=ssl"];
    runtime(&[&args[..], &LONG].concat(), &[&plain, "TLS failed", "check security.protocol"]);
    runtime(&[&["-b", &sasl][..], &LONG].concat(), &[&sasl, "closed the connection", "SASL"]);
}

/// A certificate that did not sign the broker's.
fn other_certificate(dir: &std::path::Path) -> String {
    let file = dir.join("other.pem");
    let store = dir.join("other.p12").display().to_string();
    let keytool = |args: &[&str]| {
        let mut keytool = Command::new("keytool");
        keytool.args(args).args([
            "-alias",
            "other",
            "-storetype",
            "PKCS12",
            "-storepass",
            "password",
            "-keystore",
            &store,
        ]);
        let output = keytool.output().expect("keytool");
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    keytool(&["-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=other", "-validity", "3650"]);
    std::fs::write(&file, keytool(&["-exportcert", "-rfc"])).expect("a file");
    file.display().to_string()
}

#[test]
fn a_wrong_authority() {
    let kafka = secured();
    let address = kafka.bootstrap_of("SSL");
    let right = format!("ssl.ca.location={}", kafka.certificate().display());
    let args = ["-b", &address, "-X", "security.protocol=ssl", "-X"];
    let ran = run(command(&["snapshot"]).args([&args[..], &[&right]].concat()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let wrong = format!("ssl.ca.location={}", other_certificate(kafka.dir()));
    runtime(&[&args[..], &[&wrong], &LONG].concat(), &[&address, "certificate", "ssl.ca.location"]);
}

#[test]
fn a_certificate_for_another_name() {
    let kafka = Cluster::start(&ClusterSpec::one().tls().certificate_for("dns:broker.example"));
    let address = kafka.bootstrap_of("SSL");
    let authority = format!("ssl.ca.location={}", kafka.certificate().display());
    let args = ["-b", &address, "-X", "security.protocol=ssl", "-X", &authority];
    runtime(&[&args[..], &LONG].concat(), &[&address, "another name", "connect by a name"]);
    let unchecked = ["-X", "ssl.endpoint.identification.algorithm=none"];
    let ran = run(command(&["snapshot"]).args([&args[..], &unchecked].concat()));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn a_selection_that_matches_nothing() {
    let kafka = shared();
    kafka.create_topic("b.t", 1);
    kafka.commit_standalone("b.g", &[("b.t", 0, 0)]);
    let bootstrap = kafka.bootstrap();
    runtime(&["-b", &bootstrap, "-g", "nobody-*"], &["none of the", "matches the selection"]);
}
