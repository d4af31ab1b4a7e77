package lagtop;

import static lagtop.Clients.list;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.tools.DumpLogSegments;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;
import org.apache.kafka.tools.consumer.group.ShareGroupCommand;
import org.apache.kafka.tools.streams.StreamsGroupCommand;

/** Apache's own command line tools, run in this process one at a time, and what they print. */
final class ApacheTools {
    /** A tool wanted to end the process. */
    static final class Exited extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int code;

        Exited(int code, String message) {
            super(message);
            this.code = code;
        }
    }

    private interface Main {
        void run(String[] args) throws Exception;
    }

    private final Clients clients;

    ApacheTools(Clients clients) {
        this.clients = clients;
    }

    void addTo(Map<String, Tool.Command> commands) {
        commands.put("consumer_groups", a -> captured(ConsumerGroupCommand::main, withBootstrap(a)));
        commands.put("share_groups", a -> captured(ShareGroupCommand::main, withBootstrap(a)));
        commands.put("streams_groups", a -> captured(StreamsGroupCommand::execute, withBootstrap(a)));
        commands.put("dump_log", a -> captured(DumpLogSegments::main, list(a.get("args"))));
    }

    private List<String> withBootstrap(JsonNode a) {
        List<String> args = new ArrayList<>(List.of("--bootstrap-server", clients.bootstrap));
        args.addAll(list(a.get("args")));
        return args;
    }

    private static synchronized Object captured(Main main, List<String> args) throws Exception {
        PrintStream out = System.out;
        PrintStream err = System.err;
        var outBytes = new ByteArrayOutputStream();
        var errBytes = new ByteArrayOutputStream();
        int code = 0;
        System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
        try {
            main.run(args.toArray(new String[0]));
        } catch (Exited e) {
            code = e.code;
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        return Map.of("code", code,
            "out", outBytes.toString(StandardCharsets.UTF_8),
            "err", errBytes.toString(StandardCharsets.UTF_8));
    }
}
