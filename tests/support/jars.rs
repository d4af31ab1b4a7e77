//! Java: found, the jars of Kafka fetched with Maven, our program compiled, and an archive of loaded classes made.
//!
//! All of it is in `target/kafka-harness`, made once and again only when `tests/kafka` or the JDK changes.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use xxhash_rust::xxh3::Xxh3;

use super::{broker, ports::Ports};

const MISSING: &str = "the tests with a real Kafka need JDK 17 or later and Maven \
    (Debian: apt-get install openjdk-17-jdk-headless maven); tests/run installs them";

/// How to run a class of ours.
pub struct Java {
    program: PathBuf,
    classpath: String,
    archive: PathBuf,
}

impl Java {
    /// The one of this test binary; made ready by the first who asks.
    pub fn get() -> &'static Self {
        static JAVA: OnceLock<Java> = OnceLock::new();
        JAVA.get_or_init(Self::ready)
    }

    /// A command for a class of ours; it logs to `log`.
    pub fn command(&self, class: &str, heap_mb: u32, log: &Path) -> Command {
        let mut command = self.bare(heap_mb, log);
        if self.archive.exists() {
            command.arg(format!("-XX:SharedArchiveFile={}", self.archive.display()));
        }
        command.arg("-cp").arg(&self.classpath).arg(format!("lagtop.{class}"));
        command
    }

    /// Another program of the JDK.
    pub fn jdk_tool(&self, name: &str) -> Command {
        Command::new(self.program.with_file_name(name))
    }

    fn bare(&self, heap_mb: u32, log: &Path) -> Command {
        let mut command = Command::new(&self.program);
        // Ctrl-C is for the test; this ends because the test does, and not before it has cleaned up.
        command.process_group(0);
        command
            .arg(format!("-Xmx{heap_mb}m"))
            .args(["-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"])
            .arg("-Xlog:disable")
            .arg("-Xlog:all=error:stderr")
            .arg("-Djava.net.preferIPv4Stack=true")
            .arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
            .arg("-Dorg.slf4j.simpleLogger.showDateTime=true")
            .arg("-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS")
            .arg(format!("-Dorg.slf4j.simpleLogger.logFile={}", log.display()));
        // What the JVM would print at start, or take options from.
        command.env_remove("JAVA_TOOL_OPTIONS").env_remove("_JAVA_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
        command
    }

    fn ready() -> Self {
        let (java, version) = find_java();
        let home = harness_dir();
        fs::create_dir_all(&home).expect("target/kafka-harness");
        let lock = File::create(home.join("lock")).expect("the lock of target/kafka-harness");
        lock.lock().expect("the lock of target/kafka-harness");

        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kafka");
        let pom = project.join("pom.xml");
        let lib = home.join("lib");
        let jars_wanted = hash(std::slice::from_ref(&pom), "");
        make(&lib.join("stamp"), &jars_wanted, || {
            let _ = fs::remove_dir_all(&lib);
            let mut maven = Command::new("mvn");
            maven
                .args(["-q", "-B", "-Dmaven.wagon.http.retryHandler.count=3", "-f"])
                .arg(&pom)
                .arg("dependency:copy-dependencies");
            maven.args(["-DincludeScope=runtime", &format!("-DoutputDirectory={}", lib.display())]);
            run(&mut maven, MISSING);
        });

        let mut jars = files(&lib);
        jars.retain(|jar| jar.extension().is_some_and(|e| e == "jar"));
        let sources = files(&project.join("src/lagtop"));
        let jar = home.join("harness.jar");
        let classes_wanted = hash(&sources, &jars_wanted);
        make(&home.join("classes.stamp"), &classes_wanted, || {
            let classes = home.join("classes");
            let _ = fs::remove_dir_all(&classes);
            fs::create_dir_all(&classes).expect("target/kafka-harness/classes");
            let mut javac = Command::new(java.with_file_name("javac"));
            javac.args(["--release", "17", "-encoding", "UTF-8", "-cp"]).arg(lib.join("*")).arg("-d").arg(&classes);
            run(javac.args(&sources), MISSING);
            let mut archiver = Command::new(java.with_file_name("jar"));
            run(archiver.arg("cf").arg(&jar).arg("-C").arg(&classes).arg("."), MISSING);
        });

        let classpath: Vec<_> = std::iter::once(&jar).chain(&jars).map(|path| path.display().to_string()).collect();
        let java = Self { program: java, classpath: classpath.join(":"), archive: home.join("classes.jsa") };
        make(&home.join("archive.stamp"), &format!("{classes_wanted} {version}"), || java.train(&home));
        java
    }

    /// Makes the class archive. It only saves time: without it everything works.
    fn train(&self, home: &Path) {
        let _ = fs::remove_file(&self.archive);
        let dir = tempfile::tempdir().expect("a temporary directory");
        let ports = Ports::take(&home.join("ports"));
        let listeners = [("PLAINTEXT".to_owned(), "PLAINTEXT".to_owned())];
        let properties = broker::properties(dir.path(), 1, &[1], &ports, &listeners, 1);
        let file = broker::write_properties(dir.path(), 1, &properties);
        let mut command = self.bare(512, &dir.path().join("log"));
        command
            .arg(format!("-XX:ArchiveClassesAtExit={}", self.archive.display()))
            .arg("-cp")
            .arg(&self.classpath)
            .arg("lagtop.Train")
            .args([&file.display().to_string(), "lagtop-class-archive-0", &format!("127.0.0.1:{}", ports.port(0, 0))])
            .arg(dir.path())
            .stdin(Stdio::piped());
        // Its standard input stays open while it runs: the child is not waited for through `output`, which closes it.
        let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { return };
        let stdin = child.stdin.take();
        let _ = child.wait();
        drop(stdin);
    }
}

/// `target/kafka-harness`, also when `CARGO_TARGET_DIR` is set.
pub fn harness_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("kafka-harness")
}

/// The JDK and its version: that of `JAVA_HOME`, else the one on the path.
fn find_java() -> (PathBuf, String) {
    let java = std::env::var_os("JAVA_HOME")
        .map(|home| Path::new(&home).join("bin/java"))
        .filter(|java| java.exists())
        .or_else(|| {
            let path = std::env::var_os("PATH")?;
            let java = std::env::split_paths(&path).map(|dir| dir.join("java")).find(|java| java.exists())?;
            java.canonicalize().ok()
        })
        .unwrap_or_else(|| panic!("no java found: {MISSING}"));
    assert!(java.with_file_name("javac").exists(), "{} is no JDK: {MISSING}", java.display());
    let output = Command::new(&java).arg("-version").output().expect("java -version");
    let version = String::from_utf8_lossy(&output.stderr).into_owned();
    let major: u32 = version
        .split('"')
        .nth(1)
        .and_then(|v| v.split(['.', '-', '+']).next())
        .and_then(|v| v.parse().ok())
        .unwrap_or_else(|| panic!("{} -version says {version:?}: {MISSING}", java.display()));
    assert!(major >= 17, "{} is version {major}: {MISSING}", java.display());
    (java, version)
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
    files.sort();
    files
}

fn hash(files: &[PathBuf], more: &str) -> String {
    let mut hash = Xxh3::new();
    hash.update(more.as_bytes());
    for file in files {
        hash.update(&fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    }
    format!("{:016x}", hash.digest())
}

/// Does `work` unless the stamp says that it was done for `wanted`.
fn make(stamp: &Path, wanted: &str, work: impl FnOnce()) {
    if fs::read_to_string(stamp).is_ok_and(|have| have == wanted) {
        return;
    }
    let _ = fs::remove_file(stamp);
    work();
    fs::write(stamp, wanted).expect("a stamp");
}

fn run(command: &mut Command, missing: &str) {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(e) => panic!("{program}: {e}: {missing}"),
    };
    assert!(
        output.status.success(),
        "{program} failed ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
