// What the Java peers of the league share: the options, the clock and the files of its protocol (README.md).
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class League {
  static final int BATCH = 64;
  static final int WARM_UP_PASSES = 20; // for the compiler of the virtual machine; not timed

  interface Work {
    void run(int i) throws Exception;
  }

  interface Send {
    boolean run(long number) throws Exception;
  }

  private final Map<String, String> options = new HashMap<>();

  League(String[] words) {
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=", 2);
      options.put(parts[0], parts[1]);
    }
  }

  String text(String key) {
    return options.get(key);
  }

  boolean has(String key) {
    return options.containsKey(key);
  }

  long number(String key) {
    return Long.parseLong(options.get(key));
  }

  List<String> lines(String key) throws IOException {
    String all = new String(Files.readAllBytes(Path.of(text(key))), StandardCharsets.ISO_8859_1);
    return new ArrayList<>(List.of(all.substring(0, all.length() - 1).split("\n")));
  }

  void write(String key, byte[] bytes) throws IOException {
    Files.write(Path.of(text(key)), bytes);
  }

  private void writeTimes(double[] times, int count) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(count * 8).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) out.putDouble(times[i]);
    write("times", out.array());
  }

  // Times the batches of all passes but the first WARM_UP_PASSES; `between` runs after these.
  void timeBatches(int count, Runnable between, Work work) throws Exception {
    int repeats = (int) number("repeats");
    double[] times = new double[repeats * (count / BATCH)];
    int at = 0;
    for (int repeat = -WARM_UP_PASSES; repeat < repeats; repeat++) {
      if (repeat == 0) between.run();
      for (int begin = 0; begin + BATCH <= count; begin += BATCH) {
        long from = System.nanoTime();
        for (int i = begin; i < begin + BATCH; i++) work.run(i);
        long took = System.nanoTime() - from;
        if (repeat >= 0) times[at++] = (double) took / BATCH;
      }
    }
    writeTimes(times, at);
  }

  // The row `send`: each call is timed from when the order is due until the engine has taken it.
  void pace(Send send) throws Exception {
    int warmUp = (int) number("warm_up");
    int count = (int) number("count");
    double[] times = new double[count];
    long due = System.nanoTime();
    for (int i = 0; i < warmUp + count; i++) {
      while (System.nanoTime() - due < 0) Thread.onSpinWait();
      long from = System.nanoTime();
      while (!send.run(i + 1)) Thread.onSpinWait();
      long took = System.nanoTime() - from;
      if (i >= warmUp) times[i - warmUp] = took;
      due += i + 1 < warmUp ? number("warm_up_pace_ns") : number("pace_ns");
    }
    writeTimes(times, count);
    System.out.println("sent " + (warmUp + count));
  }

  static void ready() throws IOException {
    System.out.println("ready");
    while (System.in.read() >= 0) {}
  }

  // The values of one message to encode.
  static final class Values {
    final String clOrdID, account, symbol, orderID, execID;
    final char side, ordType, timeInForce, execType, ordStatus;
    final int orderQty, lastQty, leavesQty, cumQty, priceCents, lastPxCents, avgPxCents;

    Values(String line) {
      String[] parts = line.split("\t");
      clOrdID = parts[0];
      account = parts[1];
      symbol = parts[2];
      orderID = parts[3];
      execID = parts[4];
      side = parts[5].charAt(0);
      ordType = parts[6].charAt(0);
      timeInForce = parts[7].charAt(0);
      execType = parts[8].charAt(0);
      ordStatus = parts[9].charAt(0);
      orderQty = Integer.parseInt(parts[10]);
      lastQty = Integer.parseInt(parts[11]);
      leavesQty = Integer.parseInt(parts[12]);
      cumQty = Integer.parseInt(parts[13]);
      priceCents = Integer.parseInt(parts[14]);
      lastPxCents = Integer.parseInt(parts[15]);
      avgPxCents = Integer.parseInt(parts[16]);
    }
  }

  List<Values> values() throws IOException {
    List<Values> all = new ArrayList<>();
    for (String line : lines("values")) all.add(new Values(line));
    return all;
  }

  // The sum of the eight fields of an ExecutionReport.
  static final class Fold {
    private long sum;

    void reset() {
      sum = 0;
    }

    void text(int place, CharSequence text) {
      integer(place, text.length() + ((long) text.charAt(0) << 8) + ((long) text.charAt(text.length() - 1) << 16));
    }

    void integer(int place, long value) {
      sum += value * (2L * place + 1);
    }

    void price(int place, double value) {
      integer(place, (long) (value * 100 + 0.5));
    }

    long sum() {
      return sum;
    }
  }
}
