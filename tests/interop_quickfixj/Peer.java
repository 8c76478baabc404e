import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import quickfix.Application;
import quickfix.FieldNotFound;
import quickfix.Group;
import quickfix.Message;
import quickfix.Session;
import quickfix.SessionID;
import quickfix.UnsupportedMessageType;

/** The FIX side: what QuickFIX/J calls back on its threads, and what the commands ask of the session. */
final class Peer implements Application {
  private static final String[] SYMBOLS = {"MSFT", "EUR/USD", "VOD.L", "6758.T"};
  private static final int[] PARTY_FIELDS = {
    Tags.PARTY_ID, Tags.PARTY_ID_SOURCE, Tags.PARTY_ROLE, Tags.NO_PARTY_SUB_IDS, 0
  };
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HH:mm:ss").withZone(ZoneOffset.UTC);

  private final Options options;
  private final SessionID id;
  private Session session;
  private int orders; // the commands' thread alone

  // The callbacks' and the commands'.
  private volatile String logoutText = "";
  private volatile boolean resetFlagOnLogon;
  private volatile CountDownLatch down = new CountDownLatch(1);

  private int ordersIn; // one session, so one thread at a time calls back
  private int executions;

  Peer(Options options, SessionID id) {
    this.options = options;
    this.id = id;
  }

  void sessionStarted() {
    session = Session.lookupSession(id);
  }

  void sendOrders(int count) {
    if (count < 1) throw new IllegalArgumentException("expected: order N");
    // The result says whether it went out at once; stored it is in any case.
    for (int i = 0; i < count; ++i) session.send(newOrder(++orders));
  }

  void logout(String text) {
    if (text.isEmpty()) {
      session.logout();
    } else {
      session.logout(text);
    }
  }

  void logon() {
    session.logon();
  }

  /** Waits for the end of the session: QuickFIX/J resets nothing while Logout is on its way. */
  void reset() throws IOException, InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    down = over;
    session.logout();
    if (!over.await(10, TimeUnit.SECONDS)) throw new IOException("the session does not end");
    session.setNextSenderMsgSeqNum(1);
    session.setNextTargetMsgSeqNum(1);
    resetFlagOnLogon = !options.accepts();
    session.logon();
  }

  void testRequest(String testReqId) {
    session.generateTestRequest(testReqId);
  }

  String numbers() {
    return session.getExpectedSenderNum() + " " + session.getExpectedTargetNum();
  }

  @Override
  public void onCreate(SessionID session) {}

  @Override
  public void onLogon(SessionID session) {
    Events.report("LOGON");
  }

  @Override
  public void onLogout(SessionID session) {
    Events.report(logoutText.isEmpty() ? "LOGOUT" : "LOGOUT " + logoutText);
    logoutText = "";
    down.countDown();
  }

  @Override
  public void toAdmin(Message message, SessionID session) {
    String type = Events.msgType(message);
    if (type.equals("A") && resetFlagOnLogon) {
      message.setString(Tags.RESET_SEQ_NUM_FLAG, "Y");
      resetFlagOnLogon = false;
    }
    Events.report("ADMIN-OUT " + type + ' ' + Events.seqAndPossDup(message) + Events.adminDetails(message));
    if (type.equals("3")) Events.reportReject("out", message);
  }

  @Override
  public void fromAdmin(Message message, SessionID session) {
    String type = Events.msgType(message);
    Events.report("ADMIN-IN " + type + ' ' + Events.seqAndPossDup(message) + Events.adminDetails(message));
    if (type.equals("3")) Events.reportReject("in", message);
    if (type.equals("5") && message.isSetField(Tags.TEXT)) logoutText = Events.field(message, Tags.TEXT);
  }

  @Override
  public void toApp(Message message, SessionID session) {
    Events.report("APP-OUT " + Events.msgType(message) + ' ' + Events.seqAndPossDup(message));
  }

  @Override
  public void fromApp(Message message, SessionID session) throws FieldNotFound, UnsupportedMessageType {
    switch (Events.msgType(message)) {
      case "D" -> takeOrder(message);
      case "8" -> Events.report(String.join(" ", "EXEC", Events.field(message, Tags.CL_ORD_ID),
          Events.field(message, Tags.EXEC_TYPE), Events.field(message, Tags.ORD_STATUS),
          Events.seqAndPossDup(message)));
      case "j" -> Events.reportReject("in", message);
      default -> throw new UnsupportedMessageType();
    }
  }

  private void takeOrder(Message order) throws FieldNotFound {
    Events.report(String.join(" ", "ORDER", Events.field(order, Tags.CL_ORD_ID), Events.seqAndPossDup(order),
        Events.field(order, Tags.SYMBOL), Events.field(order, Tags.SIDE), Events.field(order, Tags.ORDER_QTY),
        Events.field(order, Tags.PRICE), Events.parties(order), Events.field(order, Tags.ENCODED_TEXT)));
    ++ordersIn;
    answer(order, false);
    answer(order, true);
  }

  private void answer(Message order, boolean filled) throws FieldNotFound {
    String quantity = order.getString(Tags.ORDER_QTY);
    Message execution = newMessage("8");
    execution.setString(Tags.ORDER_ID, "order-" + ordersIn);
    execution.setString(Tags.CL_ORD_ID, order.getString(Tags.CL_ORD_ID));
    execution.setString(Tags.EXEC_ID, "exec-" + ++executions);
    execution.setString(Tags.EXEC_TYPE, filled ? "F" : "0");
    execution.setString(Tags.ORD_STATUS, filled ? "2" : "0");
    execution.setString(Tags.SYMBOL, order.getString(Tags.SYMBOL));
    execution.setString(Tags.SIDE, order.getString(Tags.SIDE));
    execution.setString(Tags.ORDER_QTY, quantity);
    execution.setString(Tags.LEAVES_QTY, filled ? "0" : quantity);
    execution.setString(Tags.CUM_QTY, filled ? quantity : "0");
    execution.setString(Tags.AVG_PX, filled ? order.getString(Tags.PRICE) : "0");
    // What is hard to parse goes back as it was understood.
    if (order.isSetField(Tags.ENCODED_TEXT)) {
      execution.setString(Tags.ENCODED_TEXT_LEN, order.getString(Tags.ENCODED_TEXT_LEN));
      execution.setString(Tags.ENCODED_TEXT, order.getString(Tags.ENCODED_TEXT));
    }
    for (Group party : order.getGroups(Tags.NO_PARTY_IDS)) execution.addGroup(party);
    session.send(execution);
  }

  private static Message newMessage(String type) {
    Message message = new Message();
    message.getHeader().setString(Tags.MSG_TYPE, type);
    return message;
  }

  /** Deterministic, and no two neighbours alike. Rich orders carry a nested group and a data field with SOH inside. */
  private Message newOrder(int n) {
    Message order = newMessage("D");
    order.setString(Tags.CL_ORD_ID, "id-" + n);
    order.setString(Tags.HANDL_INST, "1");
    order.setString(Tags.SYMBOL, SYMBOLS[n % SYMBOLS.length]);
    order.setString(Tags.SIDE, n % 2 == 0 ? "1" : "2");
    order.setInt(Tags.ORDER_QTY, 100 * (n % 7 + 1));
    order.setString(Tags.ORD_TYPE, "2");
    order.setString(Tags.PRICE, n % 500 + 1 + ".25");
    order.setString(Tags.TRANSACT_TIME, TIME.format(Instant.now()));
    if (options.rich) {
      String data = "data\001" + n + "\00110=000\001";
      order.setInt(Tags.ENCODED_TEXT_LEN, data.length());
      order.setString(Tags.ENCODED_TEXT, data);
      order.addGroup(party("firm-" + n, "1"));
      Group trader = party("trader-" + n, "12");
      Group desk = new Group(Tags.NO_PARTY_SUB_IDS, Tags.PARTY_SUB_ID,
          new int[] {Tags.PARTY_SUB_ID, Tags.PARTY_SUB_ID_TYPE, 0});
      desk.setString(Tags.PARTY_SUB_ID, "desk-" + n);
      desk.setString(Tags.PARTY_SUB_ID_TYPE, "4");
      trader.addGroup(desk);
      order.addGroup(trader);
    }
    return order;
  }

  private static Group party(String partyId, String role) {
    Group party = new Group(Tags.NO_PARTY_IDS, Tags.PARTY_ID, PARTY_FIELDS);
    party.setString(Tags.PARTY_ID, partyId);
    party.setString(Tags.PARTY_ID_SOURCE, "D");
    party.setString(Tags.PARTY_ROLE, role);
    return party;
  }
}
