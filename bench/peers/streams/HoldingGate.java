import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Holds and releases keys of a topic with Kafka Streams.
 *
 * <p>The control topic is compacted and has as many partitions as the events: a value says that the
 * key is held, a tombstone releases it. Events and control of one partition meet in one task, so a
 * release drains the key before any newer event of it is looked at. Which keys are held, and each
 * held event by itself, are in stores with change logs, written in the transaction of the output.
 *
 * <p>The only argument is a file of Streams settings, with {@code gate.events}, {@code
 * gate.control}, {@code gate.processed} and {@code gate.store} ({@code memory} or {@code rocksdb})
 * among them.
 */
public final class HoldingGate {
    private static final String HELD_KEYS = "held-keys";
    private static final String HELD_EVENTS = "held-events";
    static final Duration CLOSE_WITHIN = Duration.ofSeconds(20);

    private HoldingGate() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicBoolean failed = new AtomicBoolean();
        KafkaStreams streams = make(Path.of(arguments[0]), () -> failed.set(true), ended::countDown);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(CLOSE_WITHIN)));
        streams.start();
        ended.await();
        if (failed.get()) {
            Runtime.getRuntime().halt(1); // exit() would wait for the hook, and the hook for nothing
        }
    }

    /** The application of a file of settings, not started yet, and what to do when it ends. */
    static KafkaStreams make(Path file, Runnable whenFailed, Runnable whenEnded) throws IOException {
        Properties settings = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            settings.load(reader);
        }
        KafkaStreams streams = new KafkaStreams(topology(settings), settings);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            whenFailed.run();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((now, before) -> {
            System.out.println("State " + now);
            if (now.hasCompletedShutdown()) {
                whenEnded.run();
            }
        });
        return streams;
    }

    private static Topology topology(Properties settings) {
        Topology topology = new Topology();
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        topology.addSource("events", bytes, bytes, settings.getProperty("gate.events"));
        topology.addSource("control", bytes, bytes, settings.getProperty("gate.control"));
        topology.addProcessor(
                "gate", () -> new Gate(settings.getProperty("gate.control")), "events", "control");
        // A few thousand keys, asked for with every event: in memory, whatever the events are in.
        topology.addStateStore(store(Stores.inMemoryKeyValueStore(HELD_KEYS)), "gate");
        topology.addStateStore(store(eventStore(settings.getProperty("gate.store"))), "gate");
        topology.addSink(
                "processed",
                settings.getProperty("gate.processed"),
                new ByteArraySerializer(),
                new ByteArraySerializer(),
                "gate");
        return topology;
    }

    private static KeyValueBytesStoreSupplier eventStore(String kind) {
        return switch (kind) {
            case "memory" -> Stores.inMemoryKeyValueStore(HELD_EVENTS);
            case "rocksdb" -> Stores.persistentKeyValueStore(HELD_EVENTS);
            default -> throw new IllegalArgumentException("gate.store is memory or rocksdb: " + kind);
        };
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> store(KeyValueBytesStoreSupplier of) {
        return Stores.keyValueStoreBuilder(of, Serdes.ByteArray(), Serdes.ByteArray());
    }

    /** One partition's gate. */
    private static final class Gate extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
        private final String control;
        private KeyValueStore<byte[], byte[]> heldKeys;
        private KeyValueStore<byte[], byte[]> heldEvents;

        Gate(String control) {
            this.control = control;
        }

        @Override
        public void init(ProcessorContext<byte[], byte[]> context) {
            super.init(context);
            heldKeys = context.getStateStore(HELD_KEYS);
            heldEvents = context.getStateStore(HELD_EVENTS);
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            RecordMetadata source = context().recordMetadata().orElseThrow();
            if (source.topic().equals(control)) {
                apply(record);
            } else if (record.key() == null || heldKeys.get(record.key()) == null) {
                context().forward(record);
            } else {
                heldEvents.put(
                        HeldEvent.storeKey(record.key(), source.offset()), HeldEvent.encode(record));
            }
        }

        private void apply(Record<byte[], byte[]> command) {
            if (command.value() != null) {
                heldKeys.put(command.key(), command.value());
            } else {
                drain(command.key());
                heldKeys.delete(command.key());
            }
        }

        private void drain(byte[] key) {
            byte[] first = HeldEvent.storeKey(key, 0);
            byte[] last = HeldEvent.storeKey(key, Long.MAX_VALUE);
            try (KeyValueIterator<byte[], byte[]> events = heldEvents.range(first, last)) {
                while (events.hasNext()) {
                    var event = events.next();
                    context().forward(HeldEvent.decode(key, event.value));
                    heldEvents.delete(event.key);
                }
            }
        }
    }
}
