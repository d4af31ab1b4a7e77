package lagtop;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.ClientUtils;
import org.apache.kafka.clients.GroupRebalanceConfig;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.internals.AbstractCoordinator;
import org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Timer;
import org.apache.kafka.common.utils.internals.LogContext;

/**
 * A member of a classic group whose protocol type is not "consumer", made as Kafka Connect's WorkerGroupMember is:
 * joins, heartbeats and leaves, and owns nothing. Its metadata and assignments are bytes that only it could decode.
 */
final class OtherMember extends Member {
    private final ConsumerNetworkClient client;
    private final Coordinator coordinator;

    OtherMember(String group, String protocolType, String protocol, Map<String, Object> properties) {
        properties.put("group.id", group);
        properties.put("key.deserializer", ByteArrayDeserializer.class);
        properties.put("value.deserializer", ByteArrayDeserializer.class);
        properties.putIfAbsent("heartbeat.interval.ms", "300");
        ConsumerConfig config = new ConsumerConfig(properties);
        LogContext log = new LogContext();
        Metrics metrics = new Metrics();
        Metadata metadata = new Metadata(100, 1000, 1000, log, new ClusterResourceListeners());
        List<String> bootstrap = config.getList("bootstrap.servers");
        ClientUtils.maybeBootstrapMetadataSynchronously(config, bootstrap, metadata);
        client = new ConsumerNetworkClient(log, ClientUtils.createNetworkClient(config, bootstrap, metrics, "other",
            log, new ApiVersions(), Time.SYSTEM, 100, metadata, null, null), metadata, Time.SYSTEM, 100, 5000, 300);
        var rebalance = new GroupRebalanceConfig(config, GroupRebalanceConfig.ProtocolType.CONSUMER);
        coordinator = new Coordinator(rebalance, log, client, metrics, protocolType, protocol);
    }

    @Override
    int poll() {
        coordinator.pollOnce();
        client.poll(Time.SYSTEM.timer(50));
        return 0;
    }

    @Override
    void close(boolean remain) throws Exception {
        coordinator.close(remain);
        client.close();
    }

    @Override
    void rejoin() {
        coordinator.requestRejoin("asked to");
    }

    private static final class Coordinator extends AbstractCoordinator {
        private final String protocolType;
        private final String protocol;

        Coordinator(GroupRebalanceConfig config, LogContext log, ConsumerNetworkClient client, Metrics metrics,
                String protocolType, String protocol) {
            super(config, log, client, metrics, "other", Time.SYSTEM);
            this.protocolType = protocolType;
            this.protocol = protocol;
        }

        void pollOnce() {
            if (coordinatorUnknown() && !ensureCoordinatorReady(time.timer(1000))) {
                return;
            }
            if (rejoinNeededOrPending()) {
                ensureActiveGroup();
            }
            pollHeartbeat(time.milliseconds());
        }

        void close(boolean remain) {
            var operation = remain ? CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP
                : CloseOptions.GroupMembershipOperation.DEFAULT;
            close(time.timer(10000), operation);
        }

        @Override
        protected String protocolType() {
            return protocolType;
        }

        @Override
        protected JoinGroupRequestData.JoinGroupRequestProtocolCollection metadata() {
            var protocols = new JoinGroupRequestData.JoinGroupRequestProtocolCollection();
            protocols.add(new JoinGroupRequestData.JoinGroupRequestProtocol()
                .setName(protocol).setMetadata("http://127.0.0.1:8083/".getBytes(StandardCharsets.UTF_8)));
            return protocols;
        }

        @Override
        protected boolean onJoinPrepare(Timer timer, int generation, String memberId) {
            return true;
        }

        @Override
        protected Map<String, ByteBuffer> onLeaderElected(String leaderId, String protocol,
                List<JoinGroupResponseData.JoinGroupResponseMember> members, boolean skipAssignment) {
            Map<String, ByteBuffer> assignments = new HashMap<>();
            members.forEach(m -> assignments.put(m.memberId(),
                ByteBuffer.wrap("work".getBytes(StandardCharsets.UTF_8))));
            return assignments;
        }

        @Override
        protected void onJoinComplete(int generation, String memberId, String protocol, ByteBuffer assignment) {
        }
    }
}
