package lagtop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** What the commands share: the bootstrap servers, one admin client, and how arguments are read. */
final class Clients {
    final String bootstrap;
    private Admin admin;

    Clients(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    synchronized Admin admin() {
        if (admin == null) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", bootstrap);
            config.put("request.timeout.ms", "5000");
            config.put("default.api.timeout.ms", "60000");
            config.put("reconnect.backoff.max.ms", "200");
            config.put("metadata.max.age.ms", "2000");
            admin = Admin.create(config);
        }
        return admin;
    }

    /** The properties of a client: the bootstrap servers, then what the request's "config" says. */
    Map<String, Object> config(JsonNode args) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("reconnect.backoff.max.ms", "200");
        config.putAll(strings(args.get("config")));
        return config;
    }

    static Map<String, String> strings(JsonNode node) {
        Map<String, String> map = new HashMap<>();
        if (node != null) {
            node.properties().forEach(e -> map.put(e.getKey(), e.getValue().asText()));
        }
        return map;
    }

    static List<String> list(JsonNode node) {
        List<String> list = new ArrayList<>();
        if (node != null) {
            node.forEach(e -> list.add(e.asText()));
        }
        return list;
    }

    static String text(JsonNode args, String name, String otherwise) {
        return args.hasNonNull(name) ? args.get(name).asText() : otherwise;
    }

    /** [[topic, partition], ...] */
    static List<TopicPartition> partitions(JsonNode node) {
        List<TopicPartition> list = new ArrayList<>();
        if (node != null) {
            node.forEach(e -> list.add(new TopicPartition(e.get(0).asText(), e.get(1).asInt())));
        }
        return list;
    }

    /** [[topic, partition, offset, metadata or nothing], ...] */
    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode node) {
        Map<TopicPartition, OffsetAndMetadata> map = new HashMap<>();
        if (node != null) {
            node.forEach(e -> map.put(
                new TopicPartition(e.get(0).asText(), e.get(1).asInt()),
                new OffsetAndMetadata(e.get(2).asLong(), e.has(3) ? e.get(3).asText() : "")));
        }
        return map;
    }

    static List<Object> row(TopicPartition partition, Object... more) {
        List<Object> row = new ArrayList<>(List.of(partition.topic(), partition.partition()));
        row.addAll(List.of(more));
        return row;
    }
}
