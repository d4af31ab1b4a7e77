package lagtop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs a broker and the commonest commands once in one process and ends, so that the virtual machine can write an
 * archive of the classes that this needs (-XX:ArchiveClassesAtExit): with it a broker starts in a third of the time.
 *
 * <p>Arguments: server.properties, cluster id, bootstrap servers, working directory.
 */
public final class Train {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        Thread broker = new Thread(() -> {
            try {
                Broker.main(new String[] {args[0], args[1]});
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        broker.setDaemon(true);
        broker.start();

        Clients clients = new Clients(args[2]);
        Map<String, Tool.Command> commands = new LinkedHashMap<>();
        new AdminCommands(clients).addTo(commands);
        new Describe(clients).addTo(commands);
        new Producing(clients).addTo(commands);
        new Members(clients, Path.of(args[3])).addTo(commands);
        new ApacheTools(clients).addTo(commands);
        String[][] script = {
            {"cluster", "{}"},
            {"create_topic", "{'topic': 't', 'partitions': 1}"},
            {"produce", "{'topic': 't', 'partition': 0, 'count': 1}"},
            {"join", "{'group': 'c', 'topics': ['t']}"},
            {"join", "{'group': 'n', 'topics': ['t'], 'config': {'group.protocol': 'consumer'}}"},
            {"join", "{'group': 's', 'topics': ['t'], 'kind': 'share'}"},
            {"member_info", "{'member': 0}"},
            {"commit_standalone", "{'group': 'a', 'offsets': [['t', 0, 1]]}"},
            {"describe", "{'group': 'c'}"},
            {"describe", "{'group': 'n'}"},
            {"describe", "{'group': 's'}"},
            {"commits", "{'group': 'a'}"},
            {"consumer_groups", "{'args': ['--describe', '--all-groups', '--offsets']}"},
            {"member_close", "{'member': 0}"},
            {"member_close", "{'member': 1}"},
            {"member_close", "{'member': 2}"},
        };
        for (String[] step : script) {
            JsonNode a = JSON.readTree(step[1].replace('\'', '"'));
            try {
                commands.get(step[0]).run(a);
            } catch (Exception e) {
                System.err.println(step[0] + ": " + e);
            }
        }
        System.exit(0);
    }
}
