package lagtop;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/** A Kafka Streams application: reads topics; with "stateful" it counts by key, in memory, with a changelog. */
final class StreamsMember extends Member {
    private final KafkaStreams streams;

    StreamsMember(String group, List<String> topics, JsonNode a, Map<String, Object> config, Path dir) {
        Properties properties = new Properties();
        properties.putAll(config);
        properties.put("application.id", group);
        properties.putIfAbsent("group.protocol", "streams");
        properties.put("state.dir", dir.toString());
        properties.putIfAbsent("commit.interval.ms", "200");
        properties.putIfAbsent("auto.offset.reset", "earliest");
        StreamsBuilder builder = new StreamsBuilder();
        var stream = builder.stream(topics, Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()));
        if (a.path("stateful").asBoolean(false)) {
            stream.groupByKey(Grouped.with(Serdes.ByteArray(), Serdes.ByteArray()))
                .count(Materialized.<byte[], Long>as(Stores.inMemoryKeyValueStore("counts"))
                    .withKeySerde(Serdes.ByteArray()).withValueSerde(Serdes.Long()));
        } else {
            stream.foreach((k, v) -> polled++);
        }
        streams = new KafkaStreams(builder.build(properties), properties);
        streams.start();
    }

    @Override
    int poll() throws InterruptedException {
        Thread.sleep(20);
        return 0;
    }

    @Override
    void close(boolean remain) {
        var operation = remain
            ? org.apache.kafka.streams.CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP
            : org.apache.kafka.streams.CloseOptions.GroupMembershipOperation.LEAVE_GROUP;
        streams.close(org.apache.kafka.streams.CloseOptions.timeout(Duration.ofSeconds(20))
            .withGroupMembershipOperation(operation));
    }

    @Override
    void describe(Map<String, Object> info) {
        info.put("state", streams.state().toString());
    }
}
