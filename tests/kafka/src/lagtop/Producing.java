package lagtop;

import static lagtop.Clients.offsets;
import static lagtop.Clients.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What writes records and commits: plain and transactional producers, and a consumer that is in no group. */
final class Producing {
    private final Clients clients;
    private final Map<String, KafkaProducer<byte[], byte[]>> transactions = new ConcurrentHashMap<>();
    private KafkaProducer<byte[], byte[]> plain;

    Producing(Clients clients) {
        this.clients = clients;
    }

    void addTo(Map<String, Tool.Command> commands) {
        commands.put("produce", a -> send(plain(a), a));
        commands.put("produce_at", a -> produceAt(plain(a), a));
        commands.put("begin", a -> {
            String id = a.get("transaction").asText();
            Map<String, Object> config = clients.config(a);
            config.put("transactional.id", id);
            config.put("transaction.timeout.ms", text(a, "timeout", "600000"));
            KafkaProducer<byte[], byte[]> producer = producer(config);
            producer.initTransactions();
            producer.beginTransaction();
            transactions.put(id, producer);
            return true;
        });
        commands.put("send", a -> send(transactions.get(a.get("transaction").asText()), a));
        commands.put("send_offsets", this::sendOffsets);
        commands.put("end", a -> {
            try (var producer = transactions.remove(a.get("transaction").asText())) {
                if (a.get("commit").asBoolean()) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
            return true;
        });
        commands.put("commit_standalone", a -> {
            Map<String, Object> config = clients.config(a);
            config.put("group.id", a.get("group").asText());
            config.put("enable.auto.commit", "false");
            var bytes = new ByteArrayDeserializer();
            try (var consumer = new KafkaConsumer<>(config, bytes, bytes)) {
                var commits = offsets(a.get("offsets"));
                consumer.assign(commits.keySet());
                consumer.commitSync(commits);
            }
            return true;
        });
    }

    @SuppressWarnings("removal") // the constructor for a group without a member is what is wanted here
    private Object sendOffsets(JsonNode a) {
        KafkaProducer<byte[], byte[]> producer = transactions.get(a.get("transaction").asText());
        var group = new ConsumerGroupMetadata(a.get("group").asText());
        producer.sendOffsetsToTransaction(offsets(a.get("offsets")), group);
        producer.flush();
        return true;
    }

    private synchronized KafkaProducer<byte[], byte[]> plain(JsonNode a) {
        if (plain == null) {
            plain = producer(clients.config(a));
        }
        return plain;
    }

    /** Sends a record with each of "timestamps"; returns their [offset, timestamp] as the log has them. */
    private static Object produceAt(KafkaProducer<byte[], byte[]> producer, JsonNode a) throws Exception {
        String topic = a.get("topic").asText();
        List<List<Long>> written = new ArrayList<>();
        for (JsonNode timestamp : a.get("timestamps")) {
            var record = new ProducerRecord<byte[], byte[]>(
                topic, a.get("partition").asInt(), timestamp.asLong(), null, new byte[16]);
            var metadata = producer.send(record).get();
            written.add(List.of(metadata.offset(), metadata.timestamp()));
        }
        return written;
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> config) {
        config.putIfAbsent("linger.ms", "1");
        // A broker may refuse the first batch of a new partition (it is not yet its leader) and take the second: the
        // first is then out of order for ever. One at a time cannot overtake.
        config.putIfAbsent("max.in.flight.requests.per.connection", "1");
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends "count" records of "size" bytes; returns the offset of the last one. */
    private static Object send(KafkaProducer<byte[], byte[]> producer, JsonNode a) throws Exception {
        String topic = a.get("topic").asText();
        int partition = a.get("partition").asInt();
        byte[] value = new byte[a.path("size").asInt(16)];
        List<Future<org.apache.kafka.clients.producer.RecordMetadata>> sent = new ArrayList<>();
        for (int i = 0; i < a.get("count").asInt(); i++) {
            byte[] key = ("k" + i).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            sent.add(producer.send(new ProducerRecord<>(topic, partition, key, value)));
        }
        long last = -1;
        for (var future : sent) {
            last = future.get().offset();
        }
        return last;
    }
}
