package lagtop;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.Feature;

/**
 * One combined broker and controller: formats its storage if that is new, then runs Kafka. Ends at once when its
 * standard input ends, that is, when the test that started it is gone in whatever way; SIGTERM stops it gracefully.
 *
 * <p>Arguments: server.properties, cluster id.
 */
public final class Broker {
    public static void main(String[] args) throws Exception {
        Thread watch = new Thread(() -> {
            try {
                InputStream in = System.in;
                while (in.read() != -1) {
                    // nothing is ever sent
                }
            } catch (IOException e) {
                // the same as the end
            }
            Runtime.getRuntime().halt(1);
        }, "parent-watch");
        watch.setDaemon(true);
        watch.start();

        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(args[0]))) {
            properties.load(reader);
        }
        String dir = properties.getProperty("log.dirs");
        if (!Files.exists(Path.of(dir, "meta.properties"))) {
            new Formatter()
                .setSupportedFeatures(Feature.PRODUCTION_FEATURES)
                .setNodeId(Integer.parseInt(properties.getProperty("node.id")))
                .setClusterId(args[1])
                .addDirectory(dir)
                .setMetadataLogDirectory(dir)
                .setControllerListenerName(properties.getProperty("controller.listener.names"))
                .run();
        }
        kafka.Kafka.main(new String[] {args[0]});
    }
}
