package lagtop;

import static lagtop.Clients.row;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListStreamsGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/** What the Java admin client knows of a cluster, its topics and its groups, in exact figures. */
final class Describe {
    private final Clients clients;

    Describe(Clients clients) {
        this.clients = clients;
    }

    void addTo(Map<String, Tool.Command> commands) {
        commands.put("cluster", this::cluster);
        commands.put("topics", this::topics);
        commands.put("end_offsets", this::endOffsets);
        commands.put("groups", a -> groups());
        commands.put("describe", this::describe);
        commands.put("commits", this::commits);
        commands.put("find_coordinator", a -> {
            // Asking for a group's offsets makes the broker create __consumer_offsets.
            String group = a.get("group").asText();
            clients.admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            return true;
        });
    }

    private Object cluster(JsonNode a) throws Exception {
        var options = new DescribeClusterOptions().timeoutMs(a.path("timeout").asInt(30000));
        var result = clients.admin().describeCluster(options);
        List<Object> brokers = new ArrayList<>();
        for (Node node : result.nodes().get()) {
            Map<String, Object> broker = new LinkedHashMap<>();
            broker.put("id", node.id());
            broker.put("host", node.host());
            broker.put("port", node.port());
            broker.put("rack", node.rack());
            brokers.add(broker);
        }
        Map<String, Object> cluster = new LinkedHashMap<>();
        cluster.put("id", result.clusterId().get());
        cluster.put("brokers", brokers);
        return cluster;
    }

    private Object topics(JsonNode a) throws Exception {
        Collection<String> names = a.hasNonNull("topics")
            ? Clients.list(a.get("topics"))
            : clients.admin().listTopics(new ListTopicsOptions().listInternal(true)).names().get();
        List<Object> topics = new ArrayList<>();
        for (var description : clients.admin().describeTopics(names).allTopicNames().get().values()) {
            List<Object> partitions = new ArrayList<>();
            for (var info : description.partitions()) {
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("partition", info.partition());
                partition.put("leader", info.leader() == null || info.leader().isEmpty() ? null : info.leader().id());
                partition.put("replicas", info.replicas().stream().map(Node::id).toList());
                partition.put("isr", info.isr().stream().map(Node::id).toList());
                partitions.add(partition);
            }
            Map<String, Object> topic = new LinkedHashMap<>();
            topic.put("topic", description.name());
            topic.put("id", description.topicId().toString());
            topic.put("internal", description.isInternal());
            topic.put("partitions", partitions);
            topics.add(topic);
        }
        return topics;
    }

    /** [[topic, partition, log start, end], ...]; "committed": the last stable offset instead of the end. */
    private Object endOffsets(JsonNode a) throws Exception {
        var partitions = Clients.partitions(a.get("partitions"));
        var isolation = a.path("committed").asBoolean(false)
            ? IsolationLevel.READ_COMMITTED : IsolationLevel.READ_UNCOMMITTED;
        Map<TopicPartition, OffsetSpec> earliest = new HashMap<>();
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        partitions.forEach(p -> {
            earliest.put(p, OffsetSpec.earliest());
            latest.put(p, OffsetSpec.latest());
        });
        var starts = clients.admin().listOffsets(earliest).all().get();
        var ends = clients.admin().listOffsets(latest, new ListOffsetsOptions(isolation)).all().get();
        List<Object> rows = new ArrayList<>();
        partitions.forEach(p -> rows.add(row(p, starts.get(p).offset(), ends.get(p).offset())));
        return rows;
    }

    private List<Map<String, Object>> groups() throws Exception {
        List<Map<String, Object>> groups = new ArrayList<>();
        for (var listing : clients.admin().listGroups().all().get()) {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("group", listing.groupId());
            group.put("type", listing.type().map(GroupType::toString).orElse(null));
            group.put("protocol_type", listing.protocol());
            group.put("state", listing.groupState().map(Object::toString).orElse(null));
            groups.add(group);
        }
        return groups;
    }

    /** null if there is no such group. */
    private Object describe(JsonNode a) throws Exception {
        String id = a.get("group").asText();
        for (Map<String, Object> group : groups()) {
            if (group.get("group").equals(id)) {
                switch (String.valueOf(group.get("type"))) {
                    case "Share" -> share(id, group);
                    case "Streams" -> streams(id, group);
                    default -> {
                        String protocol = (String) group.get("protocol_type");
                        if (protocol.isEmpty() || protocol.equals("consumer")) {
                            consumer(id, group);
                        } else {
                            other(id, group);
                        }
                    }
                }
                return group;
            }
        }
        return null;
    }

    private void consumer(String id, Map<String, Object> group) throws Exception {
        var d = clients.admin().describeConsumerGroups(List.of(id)).all().get().get(id);
        group.put("type", d.type().toString());
        group.put("state", d.groupState().toString());
        group.put("assignor", d.partitionAssignor());
        group.put("simple", d.isSimpleConsumerGroup());
        group.put("coordinator", d.coordinator().id());
        group.put("epoch", d.groupEpoch().orElse(null));
        group.put("assignment_epoch", d.targetAssignmentEpoch().orElse(null));
        group.put("members", members(d.members()));
    }

    private void other(String id, Map<String, Object> group) throws Exception {
        var d = clients.admin().describeClassicGroups(List.of(id)).all().get().get(id);
        group.put("state", d.state().toString());
        group.put("assignor", d.protocolData());
        group.put("coordinator", d.coordinator().id());
        group.put("members", members(d.members()));
    }

    private static List<Object> members(Collection<MemberDescription> descriptions) {
        List<Object> members = new ArrayList<>();
        for (var m : descriptions) {
            var member = member(m.consumerId(), m.clientId(), m.host(), m.groupInstanceId(), m.rackId());
            member.put("epoch", m.memberEpoch().orElse(null));
            member.put("upgraded", m.upgraded().orElse(null));
            member.put("assignment", rows(m.assignment().topicPartitions()));
            member.put("target", m.targetAssignment().map(t -> rows(t.topicPartitions())).orElse(null));
            members.add(member);
        }
        return members;
    }

    private void share(String id, Map<String, Object> group) throws Exception {
        var d = clients.admin().describeShareGroups(List.of(id)).all().get().get(id);
        List<Object> members = new ArrayList<>();
        for (var m : d.members()) {
            var member = member(m.consumerId(), m.clientId(), m.host(), Optional.empty(), m.rackId());
            member.put("epoch", m.memberEpoch());
            member.put("assignment", rows(m.assignment().topicPartitions()));
            members.add(member);
        }
        group.put("state", d.groupState().toString());
        group.put("coordinator", d.coordinator().id());
        group.put("epoch", d.groupEpoch());
        group.put("assignment_epoch", d.targetAssignmentEpoch());
        group.put("members", members);
    }

    private void streams(String id, Map<String, Object> group) throws Exception {
        var d = clients.admin().describeStreamsGroups(List.of(id)).all().get().get(id);
        List<Object> members = new ArrayList<>();
        for (var m : d.members()) {
            var member = member(m.memberId(), m.clientId(), m.clientHost(), m.instanceId(), m.rackId());
            member.put("epoch", m.memberEpoch());
            member.put("topology_epoch", m.topologyEpoch());
            member.put("process", m.processId());
            member.put("tasks", tasks(m.assignment()));
            member.put("target_tasks", tasks(m.targetAssignment()));
            members.add(member);
        }
        List<Object> subtopologies = new ArrayList<>();
        for (var s : d.subtopologies()) {
            Map<String, Object> subtopology = new LinkedHashMap<>();
            subtopology.put("id", s.subtopologyId());
            subtopology.put("source_topics", s.sourceTopics());
            subtopology.put("changelog_topics", s.stateChangelogTopics().keySet());
            subtopologies.add(subtopology);
        }
        group.put("state", d.groupState().toString());
        group.put("assignor", d.assignorName().orElse(null));
        group.put("coordinator", d.coordinator().id());
        group.put("epoch", d.groupEpoch());
        group.put("assignment_epoch", d.targetAssignmentEpoch());
        group.put("topology_epoch", d.topologyEpoch());
        group.put("subtopologies", subtopologies);
        group.put("members", members);
    }

    private static Map<String, Object> tasks(StreamsGroupMemberAssignment assignment) {
        Map<String, Object> tasks = new LinkedHashMap<>();
        tasks.put("active", tasks(assignment.activeTasks()));
        tasks.put("standby", tasks(assignment.standbyTasks()));
        tasks.put("warmup", tasks(assignment.warmupTasks()));
        return tasks;
    }

    /** [[subtopology, partition], ...] */
    private static List<Object> tasks(List<StreamsGroupMemberAssignment.TaskIds> ids) {
        List<Object> tasks = new ArrayList<>();
        ids.forEach(t -> t.partitions().stream().sorted().forEach(p -> tasks.add(List.of(t.subtopologyId(), p))));
        return tasks;
    }

    private static Map<String, Object> member(
            String id, String clientId, String host, Optional<String> instance, Optional<String> rack) {
        Map<String, Object> member = new LinkedHashMap<>();
        member.put("id", id);
        member.put("client_id", clientId);
        member.put("host", host);
        member.put("instance", instance.orElse(null));
        member.put("rack", rack.orElse(null));
        return member;
    }

    private static List<Object> rows(Set<TopicPartition> partitions) {
        List<Object> rows = new ArrayList<>();
        partitions.stream()
            .sorted((x, y) -> x.topic().equals(y.topic())
                ? Integer.compare(x.partition(), y.partition()) : x.topic().compareTo(y.topic()))
            .forEach(p -> rows.add(row(p)));
        return rows;
    }

    /**
     * Commits of a group with the log's ends: offset, log start, end (null where the partition is gone), metadata.
     * "type": Share gives start offsets and the broker's lag instead.
     */
    private Object commits(JsonNode a) throws Exception {
        String id = a.get("group").asText();
        String type = Clients.text(a, "type", "Classic");
        Map<TopicPartition, Map<String, Object>> found = new LinkedHashMap<>();
        if (type.equals("Share")) {
            var spec = Map.of(id, new ListShareGroupOffsetsSpec());
            clients.admin().listShareGroupOffsets(spec).partitionsToOffsetInfo(id).get().forEach((p, o) -> {
                if (o != null) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("offset", o.startOffset());
                    row.put("lag", o.lag().orElse(null));
                    found.put(p, row);
                }
            });
        } else {
            var commits = type.equals("Streams")
                ? clients.admin().listStreamsGroupOffsets(Map.of(id, new ListStreamsGroupOffsetsSpec()))
                    .partitionsToOffsetAndMetadata(id).get()
                : clients.admin().listConsumerGroupOffsets(Map.of(id, new ListConsumerGroupOffsetsSpec()))
                    .partitionsToOffsetAndMetadata(id).get();
            commits.forEach((p, o) -> {
                if (o != null) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("offset", o.offset());
                    row.put("metadata", o.metadata());
                    found.put(p, row);
                }
            });
        }
        Set<String> exist = new HashSet<>(clients.admin().listTopics(new ListTopicsOptions().listInternal(true))
            .names().get());
        List<Object> rows = new ArrayList<>();
        for (var entry : found.entrySet()) {
            TopicPartition p = entry.getKey();
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("topic", p.topic());
            row.put("partition", p.partition());
            row.putAll(entry.getValue());
            row.put("start", exist.contains(p.topic()) ? offset(p, OffsetSpec.earliest()) : null);
            row.put("end", exist.contains(p.topic()) ? offset(p, OffsetSpec.latest()) : null);
            rows.add(row);
        }
        return rows;
    }

    private Long offset(TopicPartition partition, OffsetSpec spec) throws InterruptedException {
        try {
            return clients.admin().listOffsets(Map.of(partition, spec)).partitionResult(partition).get().offset();
        } catch (ExecutionException e) {
            return null;
        }
    }
}
