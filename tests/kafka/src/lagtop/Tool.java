package lagtop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * The program that stays up and does to a cluster what the tests ask: one JSON request a line on standard input,
 * {@code {"id": 1, "do": "create_topic", "args": {...}}}, one JSON answer a line on standard output,
 * {@code {"id": 1, "ok": ...}} or {@code {"id": 1, "error": "..."}}. Requests run concurrently.
 *
 * <p>At the end of its standard input (the test is gone) it kills the processes that it was told of, removes the
 * cluster's directory if it owns that, and halts.
 *
 * <p>Arguments: bootstrap servers, working directory, "owner" if it is to remove that directory.
 */
public final class Tool {
    interface Command {
        Object run(JsonNode args) throws Exception;
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<Long> PROCESSES = ConcurrentHashMap.newKeySet();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Exit.setExitProcedure((code, message) -> {
            throw new ApacheTools.Exited(code, message);
        });

        Path dir = Path.of(args[1]);
        Clients clients = new Clients(args[0]);
        Map<String, Command> commands = new LinkedHashMap<>();
        new AdminCommands(clients).addTo(commands);
        new Describe(clients).addTo(commands);
        new Producing(clients).addTo(commands);
        new Members(clients, dir).addTo(commands);
        new ApacheTools(clients).addTo(commands);
        commands.put("watch", a -> PROCESSES.add(a.get("pid").asLong()));
        commands.put("unwatch", a -> PROCESSES.remove(a.get("pid").asLong()));
        commands.put("ping", a -> true);

        ExecutorService pool = Executors.newCachedThreadPool(r -> {
            Thread thread = new Thread(r);
            thread.setDaemon(true);
            return thread;
        });
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = requests.readLine()) != null; ) {
            JsonNode request = JSON.readTree(line);
            pool.execute(() -> answer(answers, commands, request));
        }

        var java = ProcessHandle.current().info().command();
        for (long pid : PROCESSES) {
            // One that has ended may have left its number to a stranger.
            ProcessHandle.of(pid).filter(p -> p.info().command().equals(java))
                .ifPresent(ProcessHandle::destroyForcibly);
        }
        if (args.length > 2 && args[2].equals("owner")) {
            remove(dir);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(PrintStream answers, Map<String, Command> commands, JsonNode request) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", request.get("id").asLong());
        try {
            Command command = commands.get(request.get("do").asText());
            if (command == null) {
                throw new IllegalArgumentException("no such command");
            }
            answer.put("ok", command.run(request.get("args")));
        } catch (Throwable e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            answer.put("error", cause.toString());
            cause.printStackTrace();
        }
        try {
            String line = JSON.writeValueAsString(answer);
            synchronized (answers) {
                answers.println(line);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Removes a directory that dying brokers may still be writing into. */
    private static void remove(Path dir) throws InterruptedException {
        for (int attempt = 0; attempt < 100 && Files.exists(dir); attempt++) {
            try (var paths = Files.walk(dir)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            } catch (Exception e) {
                Thread.sleep(50);
            }
        }
    }
}
