// Prints test vectors for the records of __share_group_state, one JSON object a line. See README.md beside this file.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotKey;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.coordinator.share.generated.ShareUpdateKey;
import org.apache.kafka.coordinator.share.generated.ShareUpdateValue;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class ShareStateVectors {
    static final Random RANDOM = new Random(20240932);
    static final ShareCoordinatorRecordSerde SERDE = new ShareCoordinatorRecordSerde();
    static final String[] GROUPS = {"g1", "my-group", "grüppe", "组🦀", "a:b c", ""};

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 240; i++) {
            boolean snapshot = i % 2 == 0;
            String group = GROUPS[RANDOM.nextInt(GROUPS.length)];
            Uuid topicId = new Uuid(RANDOM.nextLong(), RANDOM.nextLong());
            int partition = number();
            ApiMessage key = snapshot
                ? new ShareSnapshotKey().setGroupId(group).setTopicId(topicId).setPartition(partition)
                : new ShareUpdateKey().setGroupId(group).setTopicId(topicId).setPartition(partition);
            boolean tombstone = i % 20 < 2;
            ApiMessage value = snapshot ? snapshot() : update();
            int unknownTags = !tombstone && i % 7 == 0 ? 1 + RANDOM.nextInt(2) : 0;
            for (int t = 0; t < unknownTags; t++) {
                byte[] data = new byte[RANDOM.nextInt(6)];
                RANDOM.nextBytes(data);
                value.unknownTaggedFields().add(new RawTaggedField(70 + 100 * t, data));
            }
            print(snapshot, topicId, key, tombstone ? null : value, unknownTags);
        }
    }

    static ShareSnapshotValue snapshot() {
        List<ShareSnapshotValue.StateBatch> batches = new ArrayList<>();
        for (int n = RANDOM.nextInt(5); n > 0; n--) {
            batches.add(new ShareSnapshotValue.StateBatch().setFirstOffset(offset()).setLastOffset(offset())
                .setDeliveryState(state()).setDeliveryCount((short) number()));
        }
        ShareSnapshotValue value = new ShareSnapshotValue().setSnapshotEpoch(number()).setStateEpoch(number())
            .setLeaderEpoch(number()).setStartOffset(offset()).setCreateTimestamp(offset())
            .setWriteTimestamp(offset()).setStateBatches(batches);
        return RANDOM.nextInt(3) == 0 ? value : value.setDeliveryCompleteCount(number());
    }

    static ShareUpdateValue update() {
        List<ShareUpdateValue.StateBatch> batches = new ArrayList<>();
        for (int n = RANDOM.nextInt(5); n > 0; n--) {
            batches.add(new ShareUpdateValue.StateBatch().setFirstOffset(offset()).setLastOffset(offset())
                .setDeliveryState(state()).setDeliveryCount((short) number()));
        }
        ShareUpdateValue value = new ShareUpdateValue().setSnapshotEpoch(number()).setLeaderEpoch(number())
            .setStartOffset(offset()).setStateBatches(batches);
        return RANDOM.nextInt(3) == 0 ? value : value.setDeliveryCompleteCount(number());
    }

    static int number() {
        int[] edges = {-1, 0, Integer.MAX_VALUE, Integer.MIN_VALUE};
        return RANDOM.nextInt(4) == 0 ? edges[RANDOM.nextInt(edges.length)] : RANDOM.nextInt(1000);
    }

    static long offset() {
        long[] edges = {-1, 0, Long.MAX_VALUE, Long.MIN_VALUE};
        return RANDOM.nextInt(4) == 0 ? edges[RANDOM.nextInt(edges.length)] : RANDOM.nextLong() >>> 20;
    }

    static byte state() {
        byte[] states = {0, 2, 4, -1, 127};
        return states[RANDOM.nextInt(states.length)];
    }

    static void print(boolean snapshot, Uuid topicId, ApiMessage key, ApiMessage value, int unknownTags)
        throws Exception {
        CoordinatorRecord record = value == null
            ? CoordinatorRecord.tombstone(key)
            : CoordinatorRecord.record(key, new ApiMessageAndVersion(value, (short) 0));
        byte[] keyBytes = SERDE.serializeKey(record);
        byte[] valueBytes = SERDE.serializeValue(record);
        ByteBuffer valueBuffer = valueBytes == null ? null : ByteBuffer.wrap(valueBytes);
        CoordinatorRecord back = SERDE.deserialize(ByteBuffer.wrap(keyBytes), valueBuffer);
        if (!back.equals(record)) {
            throw new IllegalStateException("not read back: " + record);
        }
        ObjectNode json = new ObjectMapper().createObjectNode();
        json.put("type", snapshot ? "ShareSnapshot" : "ShareUpdate");
        json.put("topic_id", new java.util.UUID(
            topicId.getMostSignificantBits(), topicId.getLeastSignificantBits()).toString());
        json.put("unknown_tags", unknownTags);
        json.put("key_hex", HexFormat.of().formatHex(keyBytes));
        json.put("value_hex", valueBytes == null ? null : HexFormat.of().formatHex(valueBytes));
        json.set("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(key));
        JsonNode decoded = value == null
            ? null
            : CoordinatorRecordJsonConverters.writeRecordValueAsJson(value, (short) 0);
        json.set("value", decoded);
        System.out.println(json);
    }
}
