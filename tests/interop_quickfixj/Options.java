import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;

/** The peer's command line. */
final class Options {
  private static final Set<String> VERSIONS = Set.of("FIX.4.4", "FIXT.1.1");

  String initiator = ""; // HOST:PORT
  int acceptor; // port
  String beginString = "FIX.4.4";
  String sender = "PEER";
  String target = "NEXUS";
  int heartbeat = 30;
  int logoutTimeout = 2;
  String dictionary = "";
  String transportDictionary = "";
  boolean resetOnLogon;
  boolean nextExpected;
  boolean rich;
  boolean trace;

  static Options parse(String[] arguments) {
    Options o = new Options();
    for (Iterator<String> words = Arrays.asList(arguments).iterator(); words.hasNext(); ) {
      String name = words.next();
      switch (name) {
        case "--initiator" -> o.initiator = valueOf(name, words);
        case "--acceptor" -> o.acceptor = Integer.parseInt(valueOf(name, words));
        case "--begin-string" -> o.beginString = valueOf(name, words);
        case "--sender" -> o.sender = valueOf(name, words);
        case "--target" -> o.target = valueOf(name, words);
        case "--heartbeat" -> o.heartbeat = Integer.parseInt(valueOf(name, words));
        case "--logout-timeout" -> o.logoutTimeout = Integer.parseInt(valueOf(name, words));
        case "--dictionary" -> o.dictionary = valueOf(name, words);
        case "--transport-dictionary" -> o.transportDictionary = valueOf(name, words);
        case "--reset-on-logon" -> o.resetOnLogon = true;
        case "--next-expected" -> o.nextExpected = true;
        case "--rich" -> o.rich = true;
        case "--trace" -> o.trace = true;
        default -> throw new IllegalArgumentException("unknown option " + name);
      }
    }
    if (o.initiator.isEmpty() == (o.acceptor == 0)) {
      throw new IllegalArgumentException("one of --initiator HOST:PORT and --acceptor PORT is needed");
    }
    if (!VERSIONS.contains(o.beginString)) {
      throw new IllegalArgumentException("--begin-string is one of " + VERSIONS);
    }
    return o;
  }

  private static String valueOf(String name, Iterator<String> words) {
    if (!words.hasNext()) throw new IllegalArgumentException(name + " needs a value");
    return words.next();
  }

  boolean accepts() {
    return acceptor != 0;
  }

  boolean fixt() {
    return beginString.startsWith("FIXT");
  }
}
