//! Loopback ports for brokers that other test binaries do not take, and that stay ours while a broker is down.
//!
//! They lie below the range from which the system gives ports to outgoing connections, and a locked file for each
//! block keeps test binaries of one target directory apart. Others are found by trying to listen.

use std::{
    fs::File,
    net::TcpListener,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// Ports in a block: for three brokers, five listeners each.
const BLOCK: u16 = 15;
const FIRST: u16 = 20_000;
const BLOCKS: u16 = 800;

/// A block of free ports, held until it is dropped.
pub struct Ports {
    first: u16,
    _lock: File,
}

impl Ports {
    /// Takes a block; `dir` is where the lock files are.
    pub fn take(dir: &Path) -> Self {
        std::fs::create_dir_all(dir).expect("the directory for port locks");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
        let start = (now / 1000) ^ std::process::id();
        for i in 0..u32::from(BLOCKS) {
            let block = u16::try_from((start.wrapping_add(i)) % u32::from(BLOCKS)).expect("fits");
            let lock = File::create(dir.join(block.to_string())).expect("a port lock file");
            if lock.try_lock().is_err() {
                continue;
            }
            let first = FIRST + block * BLOCK;
            if (first..first + BLOCK).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
                return Self { first, _lock: lock };
            }
        }
        panic!("no block of {BLOCK} free ports between {FIRST} and {}", FIRST + BLOCK * BLOCKS);
    }

    /// The port of a listener (0 to 4) of a broker (0 to 2).
    pub fn port(&self, broker: usize, listener: usize) -> u16 {
        assert!(broker < 3 && listener < 5, "three brokers with five listeners each");
        self.first + u16::try_from(broker * 5 + listener).expect("fits")
    }
}
