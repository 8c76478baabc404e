import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import quickfix.Connector;
import quickfix.DefaultMessageFactory;
import quickfix.LogFactory;
import quickfix.MemoryStoreFactory;
import quickfix.ScreenLogFactory;
import quickfix.SessionID;
import quickfix.SessionSettings;
import quickfix.SocketAcceptor;
import quickfix.SocketInitiator;

/**
 * A FIX counterparty built on QuickFIX/J for interoperability tests: it does what standard input says, one command a
 * line, and reports every event as one line on standard output. Commands and events are those of the peer built on
 * QuickFIX for C++, as far as they are wanted here. Exit code: 0 clean, 1 a command failed, 2 it could not start. End of
 * input means quit.
 *
 * <p>Commands
 *
 * <pre>
 * order N            send N NewOrderSingle with ClOrdID id-1, id-2, ...; without a session they are stored
 * logout [TEXT]      Logout, then stay away until `logon`; an acceptor refuses logons meanwhile
 * logon              come back
 * reset              Logout, both sequence numbers to 1, log on again (an initiator with ResetSeqNumFlag=Y)
 * seq                report SEQ
 * test-request ID    send TestRequest
 * quit               leave at once, without Logout
 * </pre>
 *
 * <p>Events (POSSDUP is Y or N; an absent field is -)
 *
 * <pre>
 * READY                                          started; an acceptor listens
 * LOGON
 * LOGOUT [TEXT]                                  session over; TEXT is that of the last Logout received
 * ORDER CLORDID SEQ POSSDUP SYMBOL SIDE QUANTITY PRICE PARTIES DATA   NewOrderSingle; answered by New and Filled
 * EXEC CLORDID EXECTYPE ORDSTATUS SEQ POSSDUP    ExecutionReport
 * ADMIN-IN MSGTYPE SEQ POSSDUP [KEY=VALUE ...]   Logon: heartbeat reset; TestRequest, Heartbeat: id; ResendRequest:
 * ADMIN-OUT MSGTYPE SEQ POSSDUP [KEY=VALUE ...]    begin end; SequenceReset: new gapfill; Logout: text, to end of line
 * APP-OUT MSGTYPE SEQ POSSDUP                    application message sent, resent, or stored
 * REJECT in|out MSGTYPE REFSEQ REFMSGTYPE REFTAG REASON TEXT   Reject (3) or BusinessMessageReject (j)
 * SEQ OUT IN                                     next numbers
 * ERROR TEXT
 * </pre>
 */
public final class QuickfixjPeer {
  private QuickfixjPeer() {}

  public static void main(String[] arguments) {
    int status;
    try {
      status = run(Options.parse(arguments));
    } catch (Exception error) {
      Events.report("ERROR " + error);
      status = 2;
    }
    Runtime.getRuntime().halt(status);
  }

  private static int run(Options options) throws Exception {
    SessionID id = new SessionID(options.beginString, options.sender, options.target);
    Peer peer = new Peer(options, id);
    Connector connector = connector(options, id, peer);
    connector.start();
    peer.sessionStarted();
    Events.report("READY");
    boolean failed = false;
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null && !line.strip().equals("quit"); line = input.readLine()) {
      try {
        execute(peer, line.strip());
      } catch (Exception error) {
        failed = true;
        Events.report("ERROR " + line + ": " + error);
      }
    }
    connector.stop(true);
    return failed ? 1 : 0;
  }

  private static Connector connector(Options options, SessionID id, Peer peer) throws Exception {
    SessionSettings settings = Settings.of(options, id);
    LogFactory logs = options.trace ? new StandardErrorLog() : new ScreenLogFactory(false, false, false);
    if (options.accepts()) {
      return new SocketAcceptor(peer, new MemoryStoreFactory(), settings, logs, new DefaultMessageFactory());
    }
    return new SocketInitiator(peer, new MemoryStoreFactory(), settings, logs, new DefaultMessageFactory());
  }

  private static void execute(Peer peer, String line) throws IOException, InterruptedException {
    String[] words = line.split(" ", 2);
    String rest = words.length == 2 ? words[1].strip() : "";
    switch (words[0]) {
      case "" -> { }
      case "order" -> peer.sendOrders(Integer.parseInt(rest));
      case "logout" -> peer.logout(rest);
      case "logon" -> peer.logon();
      case "reset" -> peer.reset();
      case "seq" -> Events.report("SEQ " + peer.numbers());
      case "test-request" -> peer.testRequest(rest);
      default -> throw new IllegalArgumentException("unknown command");
    }
  }
}
