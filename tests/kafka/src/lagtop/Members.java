package lagtop;

import static lagtop.Clients.list;
import static lagtop.Clients.offsets;
import static lagtop.Clients.partitions;
import static lagtop.Clients.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Members of groups of every kind, by number. A member's thread does its polling and what it is told to do. */
final class Members {
    private final Clients clients;
    private final Path dir;
    private final AtomicInteger next = new AtomicInteger();
    private final Map<Integer, Member> members = new ConcurrentHashMap<>();

    Members(Clients clients, Path dir) {
        this.clients = clients;
        this.dir = dir;
    }

    void addTo(Map<String, Tool.Command> commands) {
        commands.put("join", this::join);
        commands.put("member_close", a -> {
            Member member = members.remove(a.get("member").asInt());
            member.end(a.path("remain").asBoolean(false));
            return true;
        });
        commands.put("member_commit", a -> {
            Member member = member(a);
            return member.call(() -> {
                member.commit(a.hasNonNull("offsets") ? offsets(a.get("offsets")) : null);
                return true;
            });
        });
        commands.put("member_subscribe", a -> {
            Member member = member(a);
            return member.call(() -> {
                member.subscribe(list(a.get("topics")), text(a, "pattern", null));
                return true;
            });
        });
        commands.put("member_seek", a -> {
            Member member = member(a);
            return member.call(() -> {
                member.seek(offsets(a.get("offsets")));
                return true;
            });
        });
        commands.put("member_pause", a -> {
            Member member = member(a);
            return member.call(() -> {
                member.pause(partitions(a.get("partitions")));
                return true;
            });
        });
        commands.put("member_rejoin", a -> {
            Member member = member(a);
            return member.call(() -> {
                member.rejoin();
                return true;
            });
        });
        commands.put("member_stall", a -> {
            member(a).stall(a.get("ms").asLong());
            return true;
        });
        commands.put("member_info", a -> member(a).info());
    }

    private Member member(JsonNode a) {
        Member member = members.get(a.get("member").asInt());
        if (member == null) {
            throw new IllegalStateException("member " + a.get("member") + " is closed");
        }
        return member;
    }

    /** "kind": consumer, share, streams, or another protocol type ("connect", "sr"). Returns the member's number. */
    private Object join(JsonNode a) {
        int number = next.getAndIncrement();
        Map<String, Object> config = clients.config(a);
        String group = a.get("group").asText();
        List<String> topics = list(a.get("topics"));
        String pattern = text(a, "pattern", null);
        Member member = switch (text(a, "kind", "consumer")) {
            case "consumer" -> new ConsumerMember(group, topics, pattern, config);
            case "share" -> new ShareMember(group, topics, config);
            case "streams" -> new StreamsMember(group, topics, a, config, dir.resolve("streams-" + number));
            default -> new OtherMember(group, a.get("kind").asText(), text(a, "protocol", "default"), config);
        };
        member.commitAfterPoll = a.path("commit_after_poll").asBoolean(false);
        member.pollDelay = a.path("poll_delay").asLong(0);
        member.setName("member-" + number);
        member.setDaemon(true);
        member.start();
        members.put(number, member);
        return number;
    }
}
