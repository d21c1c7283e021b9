import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;

/** A held event as a store keeps it: value, timestamp and headers, sorted by key and offset. */
final class HeldEvent {
    private HeldEvent() {}

    /** The length comes first, so that no key's events lie among those of a longer one. */
    static byte[] storeKey(byte[] key, long offset) {
        return ByteBuffer.allocate(Integer.BYTES + key.length + Long.BYTES)
                .putInt(key.length)
                .put(key)
                .putLong(offset)
                .array();
    }

    static byte[] encode(Record<byte[], byte[]> event) {
        Header[] headers = event.headers().toArray();
        int size = Long.BYTES + Integer.BYTES + sizeOf(event.value());
        for (Header header : headers) {
            size += sizeOf(utf8(header)) + sizeOf(header.value());
        }
        ByteBuffer buffer = ByteBuffer.allocate(size);
        buffer.putLong(event.timestamp()).putInt(headers.length);
        for (Header header : headers) {
            put(buffer, utf8(header));
            put(buffer, header.value());
        }
        put(buffer, event.value());
        return buffer.array();
    }

    static Record<byte[], byte[]> decode(byte[] key, byte[] encoded) {
        ByteBuffer buffer = ByteBuffer.wrap(encoded);
        long timestamp = buffer.getLong();
        Headers headers = new RecordHeaders();
        for (int left = buffer.getInt(); left > 0; left--) {
            String name = new String(take(buffer), StandardCharsets.UTF_8);
            headers.add(name, take(buffer));
        }
        return new Record<>(key, take(buffer), timestamp, headers);
    }

    private static byte[] utf8(Header header) {
        return header.key().getBytes(StandardCharsets.UTF_8);
    }

    private static int sizeOf(byte[] part) {
        return Integer.BYTES + (part == null ? 0 : part.length);
    }

    private static void put(ByteBuffer buffer, byte[] part) {
        buffer.putInt(part == null ? -1 : part.length);
        if (part != null) {
            buffer.put(part);
        }
    }

    private static byte[] take(ByteBuffer buffer) {
        int length = buffer.getInt();
        if (length < 0) {
            return null;
        }
        byte[] part = new byte[length];
        buffer.get(part);
        return part;
    }
}
