import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.kafka.streams.KafkaStreams;

/**
 * One application after the other in one JVM, so that its compilers have done their work before the
 * second begins.
 *
 * <p>Each line of the standard input is a file of settings as {@link HoldingGate} takes it, and an
 * empty line closes what runs.
 */
public final class HoldingGates {
    private HoldingGates() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("Ready");
        KafkaStreams running = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (running != null) {
                running.close(HoldingGate.CLOSE_WITHIN);
                System.out.println("Closed");
                running = null;
            }
            if (!line.isEmpty()) {
                running =
                        HoldingGate.make(
                                Path.of(line), () -> Runtime.getRuntime().halt(1), () -> {});
                running.start();
            }
        }
    }
}
