//! How a member is called, and which of its figures stands on which side of the screen.

use crate::health::rebalances::Who;
use crate::model::Name;
use crate::monitor::view::{GroupView, MemberView};

/// What tells a member apart from its like: the instance id of a static member, else the member id, which for classic
/// groups starts with the client id and for KIP-848 is a bare UUID, put behind the client id then.
pub fn label(member: &MemberView) -> Name {
    called(&member.id, member.instance_id.as_ref(), &member.client_id)
}

/// The same for a member of the past.
pub fn label_of(who: &Who) -> Name {
    called(&who.id, who.instance_id.as_ref(), &who.client_id)
}

fn called(id: &Name, instance: Option<&Name>, client: &Name) -> Name {
    if let Some(instance) = instance {
        return instance.clone();
    }
    if client.is_empty() || id.raw().starts_with(client.raw()) {
        return id.clone();
    }
    Name::new(format!("{}/{}", client.raw(), id.raw()))
}

/// Its host, without the slash that Java writes before an address.
pub fn host(member: &MemberView) -> Name {
    member.host.raw().strip_prefix('/').map_or_else(|| member.host.clone(), Name::new)
}

/// The label of the member at that place.
pub fn label_at(group: &GroupView, place: Option<usize>) -> Option<Name> {
    place.and_then(|place| group.members.get(place)).map(label)
}

/// Why a member holds nothing, and what that takes for granted.
pub fn idle(member: &MemberView) -> Option<String> {
    let assumed = if member.idle_assumed { " (subscriptions assumed)" } else { "" };
    member.idle.map(|reason| format!("{reason}{assumed}"))
}

/// What a member lags now: the figure that is compared with a plan's, where there is one.
pub fn lag_now(group: &GroupView, member: &MemberView, place: usize) -> u64 {
    let load = group.metrics.as_ref().and_then(|metrics| metrics.loads.get(place));
    load.map_or(member.totals.lag, |load| load.lag)
}

/// The longest bar on the screen: the most that any member lags, now or then.
pub fn largest(group: &GroupView) -> u64 {
    let now = group.metrics.as_ref().map_or(0, |metrics| metrics.largest_lag);
    now.max(group.plan.as_ref().map_or(0, |plan| plan.metrics.largest_lag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_members_apart() {
        let member = |id: &str, client: &str, instance: Option<&str>| MemberView {
            id: Name::new(id),
            client_id: Name::new(client),
            instance_id: instance.map(Name::new),
            ..MemberView::default()
        };
        assert_eq!(label(&member("pay-1-3f", "pay-1", None)).raw(), "pay-1-3f");
        assert_eq!(label(&member("Zk9-uuid", "pay-1", None)).raw(), "pay-1/Zk9-uuid");
        assert_eq!(label(&member("Zk9-uuid", "", None)).raw(), "Zk9-uuid");
        assert_eq!(label(&member("i-1-3f", "pay", Some("i-1"))).raw(), "i-1");
    }
}
