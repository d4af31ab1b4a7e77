package lagtop;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** One member of a group: a thread that polls, and between polls runs what it is asked. */
abstract class Member extends Thread {
    private final BlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean ending;
    private volatile boolean remain;
    private volatile long stalledUntil = System.nanoTime();
    private volatile Throwable failure;
    volatile long polled;
    volatile boolean commitAfterPoll;
    volatile long pollDelay;

    /** Polls once for a short time; returns how many records came. */
    abstract int poll() throws Exception;

    /** Closes the client; with remain it does not tell the group. */
    abstract void close(boolean remain) throws Exception;

    /** Commits these offsets, or the positions if null. */
    void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        throw new UnsupportedOperationException();
    }

    void subscribe(List<String> topics, String pattern) {
        throw new UnsupportedOperationException();
    }

    void seek(Map<TopicPartition, OffsetAndMetadata> offsets) {
        throw new UnsupportedOperationException();
    }

    void pause(Collection<TopicPartition> partitions) {
        throw new UnsupportedOperationException();
    }

    void rejoin() {
        throw new UnsupportedOperationException();
    }

    /** What this kind of member can say of itself, read on its own thread. */
    void describe(Map<String, Object> info) {
    }

    @Override
    public final void run() {
        try {
            while (!ending) {
                for (Runnable job; (job = jobs.poll()) != null; ) {
                    job.run();
                }
                long stalled = stalledUntil - System.nanoTime();
                if (stalled > 0) {
                    waitForJob(Math.min(TimeUnit.NANOSECONDS.toMillis(stalled) + 1, 50));
                    continue;
                }
                int records = poll();
                polled += records;
                if (commitAfterPoll && records > 0) {
                    commit(null);
                }
                if (pollDelay > 0) {
                    stall(pollDelay);
                }
            }
        } catch (Throwable e) {
            failure = e;
            e.printStackTrace();
        }
        try {
            close(remain);
            ended.complete(null);
        } catch (Throwable e) {
            ended.completeExceptionally(e);
        }
    }

    private void waitForJob(long ms) throws InterruptedException {
        Runnable job = jobs.poll(ms, TimeUnit.MILLISECONDS);
        if (job != null) {
            job.run();
        }
    }

    final Object call(Callable<Object> what) throws Exception {
        if (failure != null) {
            throw new IllegalStateException("the member ended: " + failure, failure);
        }
        CompletableFuture<Object> result = new CompletableFuture<>();
        jobs.add(() -> {
            try {
                result.complete(what.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result.get(60, TimeUnit.SECONDS);
    }

    /** Does not poll for this long; still does what it is asked. */
    final void stall(long ms) {
        stalledUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    }

    final Object info() throws Exception {
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("polled", polled);
        info.put("failure", failure == null ? null : failure.toString());
        if (failure == null) {
            call(() -> {
                describe(info);
                return true;
            });
        }
        return info;
    }

    final void end(boolean remain) throws Exception {
        this.remain = remain;
        ending = true;
        ended.get(60, TimeUnit.SECONDS);
    }
}
