//! The metadata of a group (KIP-1101): its hash beside the stored one, the topics that make it, and what changed; or the
//! changes under all groups.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::model::{Name, Presence, Wall, print_id};
use crate::monitor::view::{
    Consequence, Effect, Explanation, GroupMetadata, GroupView, HashState, MetadataChange, Noticed, TopicMetadata,
};
use crate::tui::canvas::Canvas;
use crate::tui::figures::{duration, plural};
use crate::tui::state::State;
use crate::tui::text;
use crate::tui::theme::Role;

/// From here on ids and hashes are shown in full.
const WIDE: usize = 110;
/// Widths of time, effect and the longest subject.
const TIME: usize = 8;
const EFFECT: usize = 11;
const SUBJECT: usize = 24;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: Option<&Name>) {
    let lines = lines(state, group, usize::from(area.width));
    for (row, line) in lines.iter().skip(state.page_top).take(usize::from(area.height)).enumerate() {
        canvas.line(area.x, area.y + row as u16, area.width, line);
    }
}

/// All lines at a width; the person scrolls through them.
pub fn lines(state: &State, group: Option<&Name>, width: usize) -> Vec<Line<'static>> {
    let mut out = Lines { state, width, rows: Vec::new() };
    match group.map(|id| (id, state.view.group(id))) {
        Some((id, None)) => out.wrapped(&format!("The group {id} is no longer listed."), Style::new(), 0),
        Some((_, Some(group))) => out.group(group),
        None => out.all(),
    }
    out.rows
}

struct Lines<'a> {
    state: &'a State,
    width: usize,
    rows: Vec<Line<'static>>,
}

impl Lines<'_> {
    fn style(&self, role: Role) -> Style {
        self.state.look.style(role)
    }

    fn title(&mut self, title: &str) {
        let style = self.style(Role::Accent).add_modifier(Modifier::BOLD);
        self.wrapped(title, style, 0);
    }

    fn wrapped(&mut self, words: &str, style: Style, indent: usize) {
        let words = self.state.look.text(words).into_owned();
        for line in text::wrap(&words, self.width.saturating_sub(indent)) {
            self.rows.push(Line::styled(format!("{:indent$}{line}", ""), style));
        }
    }

    fn group(&mut self, group: &GroupView) {
        let metadata = &*group.metadata;
        let look = &self.state.look;
        let (words, role) = verdict(self.state, group);
        let name = look.name(&group.id, self.width.saturating_sub(12).max(20));
        self.title(&format!("{name}  {}  (m: changes under all groups)", group.kind));
        self.wrapped(&words, self.style(role), 0);
        if !metadata.topics.is_empty() {
            self.topics(metadata);
        }
        for topic in &metadata.topics {
            self.racks(topic);
        }
        for far in &metadata.far {
            let words = format!(
                "{} is in rack {}, and {} of its {} have no replica there",
                self.state.look.name(&far.member, 40),
                self.state.look.name(&far.rack, 20),
                far.far,
                plural(far.held, "partition"),
            );
            self.wrapped(&words, self.style(Role::Warn), 1);
        }
        self.title("Changes (UTC)");
        if metadata.changes.is_empty() {
            self.wrapped("none since lagtop looks", self.style(Role::Muted), 1);
        }
        let subject = self.subject_width(metadata.changes.iter().map(|outcome| &*outcome.change));
        for outcome in &metadata.changes {
            let became = became(self.state, outcome.consequence, &outcome.change);
            self.change(&outcome.change, subject, &became);
        }
    }

    /// A row for each topic.
    fn topics(&mut self, metadata: &GroupMetadata) {
        let look = &self.state.look;
        let wide = self.width >= WIDE;
        let longest = metadata.topics.iter().map(|topic| text::width(&topic.name.safe())).max().unwrap_or(0);
        let name = longest.clamp(5, if wide { 40 } else { 22 });
        // What the fixed columns leave.
        let fixed = name + 1 + 5 + 1 + if wide { 23 + 17 } else { 11 + 10 } + 8;
        let racks = self.width.saturating_sub(fixed + 2).max(8);
        let (id, hash) = if wide { (22, 16) } else { (10, 9) };
        let head = format!(
            " {:name$} {:>5} {:racks$} {:id$} {:hash$} {:>7}",
            "TOPIC", "PART", "RACKS", "ID", "HASH", "CHANGED"
        );
        let muted = self.style(Role::Muted);
        let ellipsis = look.glyphs().ellipsis;
        let mut rows = vec![Line::styled(head, muted)];
        for topic in &metadata.topics {
            let changed = topic.changed.as_ref().map(|change| duration(self.state.since(change.at)));
            let (shown_id, shown_hash) = (
                topic.id.map_or_else(|| "-".to_owned(), print_id),
                topic.hash.map_or_else(|| "-".to_owned(), |hash| if wide { full(hash) } else { short(hash) }),
            );
            let row = format!(
                " {} {:>5} {} {} {shown_hash:hash$} {:>7}",
                padded(&look.name(&topic.name, name), name),
                topic.partitions,
                padded(&text::head(&where_it_is(self.state, topic), racks, ellipsis), racks),
                padded(&text::head(&shown_id, id, ellipsis), id),
                changed.as_deref().unwrap_or("-"),
            );
            let style = if topic.hash.is_none() { muted } else { Style::new() };
            rows.push(Line::styled(row, style));
        }
        self.rows.extend(rows);
    }

    /// What is worth knowing of a topic's racks.
    fn racks(&mut self, topic: &TopicMetadata) {
        let name = self.state.look.name(&topic.name, 30);
        let list = |numbers: &mut dyn Iterator<Item = i32>| {
            let mut named: Vec<String> = numbers.take(9).map(|number| number.to_string()).collect();
            if named.len() == 9 {
                "...".clone_into(&mut named[8]);
            }
            named.join(", ")
        };
        if !topic.one_rack.is_empty() {
            let which = list(&mut topic.one_rack.iter().copied());
            let all = plural(topic.one_rack.len(), "partition");
            self.wrapped(&format!("{name}: all replicas of {all} share one rack: {which}"), self.style(Role::Warn), 1);
        }
        for (brokers, words) in [
            (&topic.last_seen, "is not seen now: its rack is as last seen"),
            (&topic.unknown, "was never seen: its rack is unknown and the hash unconfirmed"),
            (&topic.inferred, "was never seen: its rack follows from the stored hash"),
        ] {
            if !brokers.is_empty() {
                let which = list(&mut brokers.iter().copied());
                self.wrapped(&format!("{name}: broker {which} {words}"), self.style(Role::Accent), 1);
            }
        }
    }

    /// Changes under all groups.
    fn all(&mut self) {
        self.title("Changes of topics, racks and subscriptions under all groups (m: back)");
        let feed = &self.state.view.metadata_feed;
        if feed.is_empty() {
            self.wrapped("none since lagtop looks", self.style(Role::Muted), 1);
        }
        let subject = self.subject_width(feed.iter().map(|line| &*line.change));
        for line in feed.iter() {
            let mut parts: Vec<String> = Vec::new();
            for (group, _, consequence) in line.groups.iter().take(6) {
                let name = self.state.look.name(group, 30);
                match consequence {
                    Consequence::None => parts.push(name),
                    // The subject is the group.
                    _ if matches!(line.change.what, Noticed::Subscription { .. } | Noticed::Passing { .. }) => {
                        parts.push(became(self.state, *consequence, &line.change));
                    }
                    _ => parts.push(format!("{name} {}", became(self.state, *consequence, &line.change))),
                }
            }
            let more = line.groups.len().saturating_sub(6) + line.more;
            if more > 0 {
                parts.push(format!("{more} more"));
            }
            let readers = if parts.is_empty() { "nobody subscribes".to_owned() } else { parts.join("; ") };
            self.change(&line.change, subject, &readers);
        }
    }

    fn subject_width<'a>(&self, changes: impl Iterator<Item = &'a MetadataChange>) -> usize {
        let longest = changes.map(|change| text::width(&change.what.subject().safe())).max().unwrap_or(0);
        longest.min(SUBJECT).min(self.width / 3).max(6)
    }

    /// A change: when, what, how, what it does to the hash; then the hash before and after, and what became of it.
    fn change(&mut self, change: &MetadataChange, subject: usize, became: &str) {
        let look = &self.state.look;
        let time = change.wall.map_or_else(|| duration(self.state.since(change.at)), clock);
        let role = match change.effect {
            Effect::ChangesHash => Role::Warn,
            Effect::Unconfirmed => Role::Accent,
            Effect::KeepsHash | Effect::ByTopic => Role::Muted,
        };
        let hash = change.hash.map(|(before, after)| match (before, after) {
            (0, after) => format!("hash none > {}", short(after)),
            (before, 0) => format!("hash {} > none", short(before)),
            (before, after) => format!("hash {} > {}", short(before), short(after)),
        });
        let more: Vec<String> = hash.into_iter().chain((!became.is_empty()).then(|| became.to_owned())).collect();
        let more = more.join("  ");
        let start = 1 + TIME + 1 + subject + 1 + EFFECT + 1;
        let room = self.width.saturating_sub(start).max(16);
        // Where there is no room beside the first columns, the words go below them.
        let start = start.min(self.width.saturating_sub(room));
        let mut words = text::wrap(&look.text(&change.what.to_string()), room);
        let last = words.last().map_or(0, |last| text::width(last));
        let more = look.text(&more).into_owned();
        if !more.is_empty() {
            match words.last_mut() {
                Some(line) if last + 2 + text::width(&more) <= room => *line = format!("{line}  {more}"),
                _ => words.extend(text::wrap(&more, room)),
            }
        }
        let kept = matches!(change.effect, Effect::KeepsHash | Effect::ByTopic);
        let plain = if kept { look.style(Role::Muted) } else { Style::new() };
        let name = look.name(&change.what.subject(), subject);
        let mut spans = vec![
            Span::styled(format!(" {time:>TIME$} "), look.style(Role::Muted)),
            Span::styled(format!("{} ", padded(&name, subject)), plain),
            Span::styled(format!("{:EFFECT$} ", change.effect.word()), look.style(role)),
        ];
        let mut rows = Vec::new();
        for (row, words) in words.into_iter().enumerate() {
            if row == 0 && 1 + TIME + 1 + subject + 1 + EFFECT < start {
                spans.push(Span::styled(words, plain));
            } else {
                if !spans.is_empty() {
                    rows.push(Line::from(std::mem::take(&mut spans)));
                }
                spans.push(Span::styled(format!("{:start$}{words}", ""), plain));
            }
        }
        rows.push(Line::from(spans));
        self.rows.extend(rows);
    }
}

/// How the computed hash stands to the stored one, in words.
fn verdict(state: &State, group: &GroupView) -> (String, Role) {
    let metadata = &*group.metadata;
    let computed = metadata.computed.map_or_else(|| "-".to_owned(), full);
    let stored = metadata.stored.map_or_else(|| "-".to_owned(), full);
    let epoch = metadata.epoch.map_or_else(String::new, |epoch| format!("epoch {epoch}  "));
    match &metadata.state {
        HashState::NotUsed => (
            "no hash in this protocol: its clients rejoin when they see a partition count change".to_owned(),
            Role::Muted,
        ),
        HashState::Equal => (format!("{epoch}stored hash {stored} = computed"), Role::Ok),
        HashState::Pending { since } => (
            format!(
                "{epoch}PENDING for {}: stored hash {stored}, computed {computed}; the epoch is not bumped yet",
                duration(state.since(*since))
            ),
            Role::Warn,
        ),
        HashState::Behind { since } => (
            format!(
                "{epoch}stored hash {stored}, computed {computed}: it came {} ago, topics and racks are being read again",
                duration(state.since(*since))
            ),
            Role::Accent,
        ),
        HashState::Different { since, reason } => {
            let why = match reason {
                Explanation::None => "no input that clients can see explains it".to_owned(),
                Explanation::Without(topic) => format!("the stored one is without topic {topic}"),
                Explanation::Before(topic) => format!("the stored one is of {topic} before its last change"),
            };
            let since = duration(state.since(*since));
            (format!("{epoch}DIFFERENT for {since}: stored hash {stored}, computed {computed}; {why}"), Role::Warn)
        }
        HashState::Unconfirmed { brokers } => {
            let brokers: Vec<String> = brokers.iter().map(i32::to_string).collect();
            let brokers = brokers.join(", ");
            (
                format!(
                    "{epoch}UNCONFIRMED: computed {computed}, stored {stored}; the rack of broker {brokers} was never seen"
                ),
                Role::Accent,
            )
        }
        HashState::NotStored => {
            (format!("{epoch}computed {computed}; none is stored: a broker before 4.1, or no topic then"), Role::Muted)
        }
        HashState::NoLog => {
            (format!("computed {computed}; no coordinator log tells the stored hash: would, never did"), Role::Muted)
        }
        HashState::NotKnown(why) => (format!("{epoch}hash not known: {why}"), Role::Unknown),
    }
}

/// What became of a change for a group.
pub fn became(state: &State, consequence: Consequence, change: &MetadataChange) -> String {
    match consequence {
        Consequence::None => String::new(),
        Consequence::WouldBump => "would get a new epoch".to_owned(),
        Consequence::Pending => format!("epoch not bumped for {}", duration(state.since(change.at))),
        Consequence::Bumped { from, to, after: Some(after) } => {
            format!("epoch {from} > {to} after {}", duration(after))
        }
        Consequence::Bumped { from, to, after: None } => format!("epoch {from} > {to}, seen first"),
        Consequence::Undone => "undone before an epoch".to_owned(),
        Consequence::Rejoins => "rejoins when a client sees it".to_owned(),
        Consequence::Unconfirmed => "depends on a rack never seen".to_owned(),
    }
}

/// The newest change under a group that was not looked at yet, in words.
pub fn news(state: &State, group: &GroupView) -> Option<String> {
    if !state.has_metadata_news(group) {
        return None;
    }
    let outcome = group.metadata.changes.iter().find(|outcome| outcome.consequence != Consequence::None)?;
    let change = &outcome.change;
    let became = became(state, outcome.consequence, change);
    let subject = state.look.name(&change.what.subject(), 40);
    Some(format!("CHANGED {subject}: {}, {became} (m).", change.what))
}

/// Replicas by rack, or why there are none.
fn where_it_is(state: &State, topic: &TopicMetadata) -> String {
    match topic.presence {
        Presence::Gone => return "no such topic".to_owned(),
        Presence::Unknown | Presence::Denied => return "not read".to_owned(),
        Presence::Present => {}
    }
    let rack = |(rack, replicas): &(Option<Name>, usize)| match rack {
        Some(rack) => format!("{}:{replicas}", state.look.name(rack, 16)),
        None => format!("no rack:{replicas}"),
    };
    topic.racks.iter().map(rack).collect::<Vec<_>>().join(" ")
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text::width(text))))
}

/// The bits of a hash as hexadecimal digits.
fn full(hash: i64) -> String {
    format!("{hash:016x}")
}

fn short(hash: i64) -> String {
    format!("{:.7}..", full(hash))
}

/// Time of day, UTC.
fn clock(wall: Wall) -> String {
    let seconds = wall.0.div_euclid(1000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
