package lagtop;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A share consumer; records are acknowledged by the next poll, or by a commit. */
final class ShareMember extends Member {
    private final KafkaShareConsumer<byte[], byte[]> consumer;

    ShareMember(String group, List<String> topics, Map<String, Object> config) {
        config.put("group.id", group);
        config.putIfAbsent("metadata.max.age.ms", "1000");
        consumer = new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(topics);
    }

    @Override
    int poll() {
        return consumer.poll(Duration.ofMillis(50)).count();
    }

    @Override
    void close(boolean remain) {
        consumer.close(Duration.ofSeconds(20));
    }

    @Override
    void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        consumer.commitSync();
    }

    @Override
    void subscribe(List<String> topics, String pattern) {
        consumer.subscribe(topics);
    }
}
