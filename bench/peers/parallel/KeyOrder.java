import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Calls a handler that waits, for every record of a topic, in key order.
 *
 * <p>Arguments: bootstrap servers, topic, milliseconds that the handler waits, records at once.
 * After every 1,000 calls it prints their number and the time in seconds.
 */
public final class KeyOrder {
    private static final int REPORT_EVERY = 1_000;

    private KeyOrder() {}

    public static void main(String[] arguments) throws InterruptedException {
        String topic = arguments[1];
        long wait = Long.parseLong(arguments[2]);
        KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(
                        Map.of(
                                "bootstrap.servers", arguments[0],
                                "group.id", "parallel-" + topic,
                                "auto.offset.reset", "earliest",
                                "enable.auto.commit", "false",
                                "max.poll.records", "5000"),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer());
        ParallelConsumerOptions<byte[], byte[]> options =
                ParallelConsumerOptions.<byte[], byte[]>builder()
                        .ordering(ProcessingOrder.KEY)
                        .commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
                        .maxConcurrency(Integer.parseInt(arguments[3]))
                        .consumer(consumer)
                        .build();
        AtomicLong calls = new AtomicLong();
        ParallelStreamProcessor<byte[], byte[]> processor =
                ParallelStreamProcessor.createEosStreamProcessor(options);
        processor.subscribe(List.of(topic));
        processor.poll(
                record -> {
                    sleep(wait);
                    long count = calls.incrementAndGet();
                    if (count % REPORT_EVERY == 0) {
                        System.out.println(count + " " + System.nanoTime() / 1e9);
                    }
                });
        new CountDownLatch(1).await(); // until a signal ends the process
    }

    private static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
