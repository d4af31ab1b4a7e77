//! The metadata of a group, and what changed.

use super::*;

#[test]
fn metadata_of_a_group() {
    let metadata = |size, keys: &str| {
        let mut bench = Bench::with(fixture::metadata_view(), size);
        bench.state.groups.select_key(&Name::new("orders-enrich"));
        bench.press(keys);
        bench
    };
    for (width, height) in SIZES {
        let size = (width, height);
        insta::assert_snapshot!(format!("metadata_{width}x{height}"), metadata(size, "m").text());
    }
    insta::assert_snapshot!("metadata_feed_80x24", metadata((80, 24), "mm").text());
    insta::assert_snapshot!("metadata_feed_120x40", metadata((120, 40), "mm").text());
    insta::assert_snapshot!("metadata_marks_120x40", metadata((120, 40), "").text());
    let bench = metadata((120, 40), "mmm");
    assert_eq!(bench.state.page, None);
}

#[test]
fn metadata_that_was_looked_at_is_marked_no_more() {
    let mut bench = Bench::with(fixture::metadata_view(), (120, 40));
    let marks = |bench: &Bench| bench.lines().iter().filter(|line| line.contains(" * ")).count();
    let before = marks(&bench);
    assert!(before > 1, "{}", bench.text());
    bench.state.groups.select_key(&Name::new("orders-enrich"));
    bench.press("m");
    bench.key(Key::Esc);
    assert_eq!(marks(&bench), before - 1);
    bench.press("mm");
    bench.key(Key::Esc);
    assert_eq!(marks(&bench), 0);
}

#[test]
fn the_stored_hashes_of_the_fixture_are_those_of_its_topics() {
    let view = fixture::metadata_view();
    let metadata = &view.group(&Name::new("orders-enrich")).unwrap().metadata;
    let hashes: Vec<_> = metadata.changes.iter().rev().filter_map(|outcome| outcome.change.hash).collect();
    let group = |hash: i64| {
        let topic = Name::new("orders");
        crate::metadata::group_hash([(&topic, hash)])
    };
    assert_eq!((group(hashes[0].0), group(hashes[0].1)), (fixture::OLD_HASH, fixture::NEW_HASH));
}
