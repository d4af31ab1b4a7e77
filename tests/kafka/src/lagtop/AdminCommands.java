package lagtop;

import static lagtop.Clients.list;
import static lagtop.Clients.offsets;
import static lagtop.Clients.partitions;
import static lagtop.Clients.strings;
import static lagtop.Clients.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** What changes a cluster through the admin client: topics, partitions, leaders, offsets, configs, rights. */
final class AdminCommands {
    private final Clients clients;

    AdminCommands(Clients clients) {
        this.clients = clients;
    }

    void addTo(Map<String, Tool.Command> commands) {
        commands.put("create_topic", this::createTopic);
        commands.put("delete_topic", a -> {
            clients.admin().deleteTopics(List.of(a.get("topic").asText())).all().get();
            return true;
        });
        commands.put("create_partitions", this::createPartitions);
        commands.put("reassign", this::reassign);
        commands.put("reassigning", a -> clients.admin().listPartitionReassignments().reassignments().get().size());
        commands.put("elect_leaders", this::electLeaders);
        commands.put("delete_records", this::deleteRecords);
        commands.put("unregister_broker", a -> {
            clients.admin().unregisterBroker(a.get("id").asInt()).all().get();
            return true;
        });
        commands.put("alter_offsets", a -> {
            clients.admin().alterConsumerGroupOffsets(a.get("group").asText(), offsets(a.get("offsets"))).all().get();
            return true;
        });
        commands.put("delete_offsets", a -> {
            Set<TopicPartition> set = new HashSet<>(partitions(a.get("partitions")));
            clients.admin().deleteConsumerGroupOffsets(a.get("group").asText(), set).all().get();
            return true;
        });
        commands.put("delete_group", a -> {
            clients.admin().deleteConsumerGroups(List.of(a.get("group").asText())).all().get();
            return true;
        });
        commands.put("alter_share_offsets", a -> {
            Map<TopicPartition, Long> starts = new HashMap<>();
            offsets(a.get("offsets")).forEach((p, o) -> starts.put(p, o.offset()));
            clients.admin().alterShareGroupOffsets(a.get("group").asText(), starts).all().get();
            return true;
        });
        commands.put("alter_config", this::alterConfig);
        commands.put("create_acls", this::createAcls);
        commands.put("add_scram", a -> {
            ScramMechanism mechanism = ScramMechanism.fromMechanismName(text(a, "mechanism", "SCRAM-SHA-256"));
            clients.admin().alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                a.get("user").asText(), new ScramCredentialInfo(mechanism, 4096), a.get("password").asText())))
                .all().get();
            return true;
        });
    }

    private Object createTopic(JsonNode a) throws Exception {
        String name = a.get("topic").asText();
        NewTopic topic;
        if (a.hasNonNull("replicas")) {
            Map<Integer, List<Integer>> assignment = new HashMap<>();
            for (int p = 0; p < a.get("replicas").size(); p++) {
                assignment.put(p, ints(a.get("replicas").get(p)));
            }
            topic = new NewTopic(name, assignment);
        } else {
            topic = new NewTopic(name, a.get("partitions").asInt(), (short) a.path("replication").asInt(1));
        }
        topic.configs(strings(a.get("config")));
        return clients.admin().createTopics(List.of(topic)).topicId(name).get().toString();
    }

    private Object createPartitions(JsonNode a) throws Exception {
        NewPartitions more;
        if (a.hasNonNull("replicas")) {
            List<List<Integer>> replicas = new ArrayList<>();
            a.get("replicas").forEach(r -> replicas.add(ints(r)));
            more = NewPartitions.increaseTo(a.get("count").asInt(), replicas);
        } else {
            more = NewPartitions.increaseTo(a.get("count").asInt());
        }
        clients.admin().createPartitions(Map.of(a.get("topic").asText(), more)).all().get();
        return true;
    }

    private Object reassign(JsonNode a) throws Exception {
        var target = new NewPartitionReassignment(ints(a.get("replicas")));
        var partition = new TopicPartition(a.get("topic").asText(), a.get("partition").asInt());
        clients.admin().alterPartitionReassignments(Map.of(partition, Optional.of(target))).all().get();
        return true;
    }

    private Object electLeaders(JsonNode a) throws Exception {
        ElectionType type = a.path("unclean").asBoolean(false) ? ElectionType.UNCLEAN : ElectionType.PREFERRED;
        Set<TopicPartition> set = new HashSet<>(partitions(a.get("partitions")));
        var results = clients.admin().electLeaders(type, set).partitions().get();
        for (var error : results.values()) {
            if (error.isPresent() && !(error.get() instanceof ElectionNotNeededException)) {
                throw new IllegalStateException(error.get());
            }
        }
        return true;
    }

    private Object deleteRecords(JsonNode a) throws Exception {
        Map<TopicPartition, RecordsToDelete> map = new HashMap<>();
        offsets(a.get("before")).forEach((p, o) -> map.put(p, RecordsToDelete.beforeOffset(o.offset())));
        clients.admin().deleteRecords(map).all().get();
        return true;
    }

    /** "kind": TOPIC, GROUP, BROKER (as ConfigResource.Type names them). */
    private Object alterConfig(JsonNode a) throws Exception {
        var type = ConfigResource.Type.valueOf(a.get("kind").asText());
        List<AlterConfigOp> ops = new ArrayList<>();
        strings(a.get("config")).forEach((k, v) ->
            ops.add(new AlterConfigOp(new ConfigEntry(k, v), AlterConfigOp.OpType.SET)));
        clients.admin().incrementalAlterConfigs(Map.of(new ConfigResource(type, a.get("name").asText()), ops))
            .all().get();
        return true;
    }

    private Object createAcls(JsonNode a) throws Exception {
        List<AclBinding> acls = new ArrayList<>();
        for (JsonNode acl : a.get("acls")) {
            acls.add(new AclBinding(
                new ResourcePattern(ResourceType.valueOf(acl.get("resource").asText()), acl.get("name").asText(),
                    PatternType.valueOf(text(acl, "pattern", "LITERAL"))),
                new AccessControlEntry(acl.get("principal").asText(), text(acl, "host", "*"),
                    AclOperation.valueOf(acl.get("operation").asText()),
                    AclPermissionType.valueOf(text(acl, "permission", "ALLOW")))));
        }
        clients.admin().createAcls(acls).all().get();
        return true;
    }

    private static List<Integer> ints(JsonNode node) {
        return list(node).stream().map(Integer::valueOf).toList();
    }
}
