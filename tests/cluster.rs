//! The test cluster itself: what the other tests rely on.

mod support;

use support::{Cluster, ClusterSpec, GroupSpec, shared};

#[test]
fn classic_group_owns_everything() {
    let kafka = shared();
    kafka.create_topic("classic", 6);
    let spec = GroupSpec::classic("classic", "range").topics(&["classic"]);
    let members = kafka.start_group(&spec, 2);
    let group = kafka.describe("classic");
    assert_eq!((group.kind.as_str(), group.state.as_str()), ("Classic", "Stable"));
    assert_eq!(group.assignor.as_deref(), Some("range"));
    assert_eq!(group.member("classic-1").assignment.len(), 3);
    for member in members {
        member.close();
    }
    kafka.wait_stable(&spec, 0);
}

#[test]
fn three() {
    let t = std::time::Instant::now();
    let kafka = Cluster::start(&ClusterSpec::three());
    println!("three: {:?}", t.elapsed());
    drop(kafka);
}
