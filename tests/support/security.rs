//! Clusters that ask who is there: listeners with SASL and TLS, and access control.

use std::path::{Path, PathBuf};

use super::{
    broker::Properties,
    cluster::{Cluster, ClusterSpec},
    jars::Java,
};

const PASSWORD: &str = "keystore-password";

impl ClusterSpec {
    /// One more listener, `SASL` (not encrypted), with these users and passwords for PLAIN. SCRAM-SHA-256 and
    /// SCRAM-SHA-512 are on as well; their users come with `Tool::add_scram_user`.
    #[must_use]
    pub fn sasl(self, users: &[(&str, &str)]) -> Self {
        let users: Vec<_> = users.iter().map(|(user, password)| format!(" user_{user}=\"{password}\"")).collect();
        let module = "org.apache.kafka.common.security";
        let plain = format!("{module}.plain.PlainLoginModule required{};", users.concat());
        let scram = format!("{module}.scram.ScramLoginModule required;");
        self.listener("SASL", "SASL_PLAINTEXT")
            .property("sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512")
            .property("listener.name.sasl.plain.sasl.jaas.config", &plain)
            .property("listener.name.sasl.scram-sha-256.sasl.jaas.config", &scram)
            .property("listener.name.sasl.scram-sha-512.sasl.jaas.config", &scram)
    }

    /// One more listener, `SSL`; its certificate, signed by itself, is `Cluster::certificate`.
    #[must_use]
    pub fn tls(self) -> Self {
        self.listener("SSL", "SSL")
    }

    /// The certificate of the listener `SSL` is for these names, such as `dns:broker.example`, and for no others.
    #[must_use]
    pub fn certificate_for(mut self, names: &str) -> Self {
        names.clone_into(&mut self.certificate_names);
        self
    }

    /// Access control: nothing is allowed but by `Tool::allow`, except to the tool and the brokers.
    #[must_use]
    pub fn acls(self) -> Self {
        self.property("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
            .property("super.users", "User:ANONYMOUS")
    }
}

impl Cluster {
    /// The PEM file with the certificate of the listener `SSL`, for 127.0.0.1 and localhost unless the spec says
    /// otherwise.
    pub fn certificate(&self) -> PathBuf {
        self.dir().join("certificate.pem")
    }
}

/// The properties of a broker with TLS, whose certificate and key are made here, for these names, if there are none yet.
pub fn tls_properties(dir: &Path, names: &str) -> Properties {
    let store = dir.join("keystore.p12");
    if !store.exists() {
        let keytool = |args: &[&str]| {
            let mut command = Java::get().jdk_tool("keytool");
            command.args(args).args(["-alias", "broker", "-storetype", "PKCS12", "-storepass", PASSWORD]);
            let output = command.arg("-keystore").arg(&store).output().expect("keytool");
            assert!(output.status.success(), "keytool: {}", String::from_utf8_lossy(&output.stdout));
            output.stdout
        };
        let names = format!("san={names}");
        let name = ["-dname", "CN=lagtop-test", "-ext", &names, "-validity", "3650"];
        keytool(&[&["-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1"], &name[..]].concat());
        std::fs::write(dir.join("certificate.pem"), keytool(&["-exportcert", "-rfc"])).expect("certificate.pem");
    }
    let properties = [
        ("ssl.keystore.type", "PKCS12"),
        ("ssl.keystore.location", &store.display().to_string()),
        ("ssl.keystore.password", PASSWORD),
        ("ssl.key.password", PASSWORD),
    ];
    properties.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}
