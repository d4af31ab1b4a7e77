package lagtop;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of the classic or the KIP-848 protocol (config group.protocol). */
final class ConsumerMember extends Member {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final boolean classic;

    ConsumerMember(String group, List<String> topics, String pattern, Map<String, Object> config) {
        config.put("group.id", group);
        config.putIfAbsent("enable.auto.commit", "false");
        config.putIfAbsent("auto.offset.reset", "earliest");
        config.putIfAbsent("metadata.max.age.ms", "1000");
        classic = !"consumer".equals(config.get("group.protocol"));
        if (classic) {
            config.putIfAbsent("heartbeat.interval.ms", "300");
        }
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        subscribe(topics, pattern);
    }

    @Override
    int poll() {
        return consumer.poll(Duration.ofMillis(50)).count();
    }

    @Override
    void close(boolean remain) {
        var operation = remain
            ? CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP : CloseOptions.GroupMembershipOperation.DEFAULT;
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(20)).withGroupMembershipOperation(operation));
    }

    @Override
    void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (offsets == null) {
            consumer.commitSync();
        } else {
            consumer.commitSync(offsets);
        }
    }

    @Override
    void subscribe(List<String> topics, String pattern) {
        if (pattern == null) {
            consumer.subscribe(topics);
        } else if (classic) {
            consumer.subscribe(java.util.regex.Pattern.compile(pattern));
        } else {
            consumer.subscribe(new SubscriptionPattern(pattern));
        }
    }

    @Override
    void seek(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((p, o) -> consumer.seek(p, o.offset()));
    }

    @Override
    void pause(Collection<TopicPartition> partitions) {
        consumer.resume(consumer.paused());
        consumer.pause(partitions);
    }

    @Override
    void rejoin() {
        consumer.enforceRebalance("asked to");
    }

    @Override
    void describe(Map<String, Object> info) {
        info.put("assignment", consumer.assignment().stream().map(p -> Clients.row(p)).toList());
        info.put("id", consumer.groupMetadata().memberId());
        info.put("generation", consumer.groupMetadata().generationId());
    }
}
