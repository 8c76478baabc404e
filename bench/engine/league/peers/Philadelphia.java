// The league's peer of Philadelphia, which parses and encodes messages and has connections, but stores nothing.
import com.paritytrading.philadelphia.FIXConfig;
import com.paritytrading.philadelphia.FIXConnection;
import com.paritytrading.philadelphia.FIXMessage;
import com.paritytrading.philadelphia.FIXMessageParser;
import com.paritytrading.philadelphia.FIXTimestamp;
import com.paritytrading.philadelphia.FIXVersion;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

public final class Philadelphia {
  private static final League.Fold FOLD = new League.Fold();
  private static long sum;

  private static FIXConfig config() {
    return new FIXConfig.Builder().setVersion(FIXVersion.FIX_4_4).setSenderCompID("TRADER").setTargetCompID("VENUE").build();
  }

  private static void add(FIXMessage message) {
    FOLD.reset();
    FOLD.integer(0, message.getMsgSeqNum());
    FOLD.text(1, message.valueOf(11).asString());
    FOLD.integer(2, message.valueOf(150).asChar());
    FOLD.integer(3, message.valueOf(38).asInt());
    FOLD.price(4, message.valueOf(44).asFloat());
    FOLD.integer(5, message.valueOf(32).asInt());
    FOLD.price(6, message.valueOf(31).asFloat());
    FOLD.text(7, message.valueOf(55).asString());
    sum += FOLD.sum();
  }

  private static void read(League league) throws Exception {
    List<ByteBuffer> messages = new ArrayList<>();
    for (String line : league.lines("messages")) {
      byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
      messages.add(ByteBuffer.allocateDirect(bytes.length).put(bytes));
    }
    FIXMessageParser parser = new FIXMessageParser(config(), Philadelphia::add);
    league.timeBatches(messages.size(), () -> sum = 0, i -> {
      messages.get(i).rewind();
      if (!parser.parse(messages.get(i))) throw new IllegalStateException("a message is refused");
    });
    System.out.println("sum " + Long.toUnsignedString(sum));
  }

  // Takes what the connection sends.
  private static final class Taker implements GatheringByteChannel, ReadableByteChannel {
    private ByteArrayOutputStream kept;
    private long taken;

    @Override
    public long write(ByteBuffer[] buffers, int offset, int length) {
      long size = 0;
      for (int i = offset; i < offset + length; i++) size += write(buffers[i]);
      return size;
    }

    @Override
    public long write(ByteBuffer[] buffers) {
      return write(buffers, 0, buffers.length);
    }

    @Override
    public int write(ByteBuffer buffer) {
      int size = buffer.remaining();
      if (kept == null) {
        buffer.position(buffer.limit());
      } else {
        while (buffer.hasRemaining()) kept.write(buffer.get());
      }
      taken += size;
      return size;
    }

    @Override
    public int read(ByteBuffer buffer) {
      return 0;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  private static void encode(League league) throws Exception {
    List<League.Values> values = league.values();
    boolean isReport = league.text("type").equals("8");
    Taker taker = new Taker();
    FIXConnection connection = new FIXConnection(taker, config(), message -> {}, System.currentTimeMillis());
    FIXMessage message = connection.create();
    FIXTimestamp time = new FIXTimestamp();
    League.Work write = i -> {
      League.Values v = values.get(i);
      long now = System.currentTimeMillis();
      connection.setCurrentTimeMillis(now);
      connection.setOutMsgSeqNum(i + 1);
      time.setEpochMilli(now);
      message.reset();
      connection.prepare(message, isReport ? '8' : 'D');
      if (isReport) {
        message.addField(37).setString(v.orderID);
        message.addField(17).setString(v.execID);
        message.addField(150).setChar(v.execType);
        message.addField(39).setChar(v.ordStatus);
        message.addField(32).setInt(v.lastQty);
        message.addField(31).setFloat(v.lastPxCents / 100.0, 2);
        message.addField(151).setInt(v.leavesQty);
        message.addField(14).setInt(v.cumQty);
        message.addField(6).setFloat(v.avgPxCents / 100.0, 2);
      }
      message.addField(11).setString(v.clOrdID);
      message.addField(1).setString(v.account);
      message.addField(55).setString(v.symbol);
      message.addField(54).setChar(v.side);
      message.addField(38).setInt(v.orderQty);
      message.addField(40).setChar(v.ordType);
      message.addField(44).setFloat(v.priceCents / 100.0, 2);
      message.addField(59).setChar(v.timeInForce);
      message.addField(60).setTimestampMillis(time);
      connection.send(message);
    };
    league.timeBatches(values.size(), () -> taker.taken = 0, write);
    System.out.println("bytes " + taker.taken);
    taker.kept = new ByteArrayOutputStream();
    for (int i = 0; i < values.size(); i++) {
      write.run(i);
      taker.kept.write('\n');
    }
    league.write("out", taker.kept.toByteArray());
  }

  public static void main(String[] words) throws Exception {
    League league = new League(words);
    switch (words[0]) {
      case "rows" -> System.out.println("engine Philadelphia\nrows read encode");
      case "read" -> read(league);
      case "encode" -> encode(league);
      default -> throw new IllegalArgumentException(words[0]);
    }
  }
}
