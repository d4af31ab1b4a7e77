//! A proxy between a client and a broker that writes down the API key and version of every request.
//!
//! The broker has to name the proxy as its own address: start the proxy first, then the cluster with
//! `ClusterSpec::advertise(listener, proxy.port())`, then `Proxy::forward` to the listener's real address.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use super::tool::lock;

/// Counts by API key.
pub type Requests = BTreeMap<i16, usize>;

/// The proxy; its threads end with the connections, the listener's with the process.
pub struct Proxy {
    listener: TcpListener,
    requests: Arc<Mutex<Requests>>,
}

impl Proxy {
    pub fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self { listener, requests: Arc::default() }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().expect("an address").port()
    }

    /// Where clients connect to.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// Passes everything on to a broker from now on.
    pub fn forward(&self, to: String) {
        let (listener, requests) = (self.listener.try_clone().expect("a second handle"), Arc::clone(&self.requests));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(broker) = TcpStream::connect(&to) else { continue };
                let (Ok(from_broker), Ok(to_client)) = (broker.try_clone(), client.try_clone()) else { continue };
                let requests = Arc::clone(&requests);
                std::thread::spawn(move || {
                    let _ = requests_of(&client, &broker, &requests);
                    let _ = broker.shutdown(Shutdown::Both);
                });
                std::thread::spawn(move || {
                    let _ = io::copy(&mut &from_broker, &mut &to_client);
                    let _ = to_client.shutdown(Shutdown::Both);
                });
            }
        });
    }

    /// Every request so far.
    pub fn requests(&self) -> Requests {
        lock(&self.requests).clone()
    }
}

/// Copies requests, each a length and a body that begins with its key and version, until somebody hangs up.
fn requests_of(mut from: &TcpStream, mut to: &TcpStream, requests: &Mutex<Requests>) -> io::Result<()> {
    loop {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        from.read_exact(&mut body)?;
        let key = body.first_chunk::<2>().map(|key| i16::from_be_bytes(*key)).ok_or(io::ErrorKind::InvalidData)?;
        *lock(requests).entry(key).or_default() += 1;
        to.write_all(&length)?;
        to.write_all(&body)?;
    }
}
