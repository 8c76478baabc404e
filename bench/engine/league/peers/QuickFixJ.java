// The league's peer of QuickFIX/J.
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import quickfix.Acceptor;
import quickfix.ApplicationAdapter;
import quickfix.ConfigError;
import quickfix.DefaultMessageFactory;
import quickfix.FieldNotFound;
import quickfix.FileStoreFactory;
import quickfix.Initiator;
import quickfix.Message;
import quickfix.SLF4JLogFactory;
import quickfix.Session;
import quickfix.SessionID;
import quickfix.SessionNotFound;
import quickfix.SessionSettings;
import quickfix.SocketAcceptor;
import quickfix.SocketInitiator;
import quickfix.UtcTimestampPrecision;
import quickfix.field.*;

public final class QuickFixJ {
  private static long sum;

  private static void read(League league) throws Exception {
    List<String> messages = league.lines("messages");
    League.Fold fold = new League.Fold();
    league.timeBatches(messages.size(), () -> sum = 0, i -> {
      quickfix.fix44.ExecutionReport report = new quickfix.fix44.ExecutionReport();
      report.fromString(messages.get(i), null, true);
      fold.reset();
      fold.integer(0, report.getHeader().getInt(MsgSeqNum.FIELD));
      fold.text(1, report.getString(ClOrdID.FIELD));
      fold.integer(2, report.getChar(ExecType.FIELD));
      fold.integer(3, (long) report.getDouble(OrderQty.FIELD));
      fold.price(4, report.getDouble(Price.FIELD));
      fold.integer(5, (long) report.getDouble(LastQty.FIELD));
      fold.price(6, report.getDouble(LastPx.FIELD));
      fold.text(7, report.getString(Symbol.FIELD));
      sum += fold.sum();
    });
    System.out.println("sum " + Long.toUnsignedString(sum));
  }

  private static void setHeader(Message message, int seq) {
    Message.Header header = message.getHeader();
    header.setString(SenderCompID.FIELD, "TRADER");
    header.setString(TargetCompID.FIELD, "VENUE");
    header.setInt(MsgSeqNum.FIELD, seq);
    header.setUtcTimeStamp(SendingTime.FIELD, LocalDateTime.now(ZoneOffset.UTC), UtcTimestampPrecision.MILLIS);
  }

  private static String encodeOrder(League.Values v, int seq) {
    quickfix.fix44.NewOrderSingle order = new quickfix.fix44.NewOrderSingle();
    order.setString(ClOrdID.FIELD, v.clOrdID);
    order.setString(Account.FIELD, v.account);
    order.setString(Symbol.FIELD, v.symbol);
    order.setChar(Side.FIELD, v.side);
    order.setUtcTimeStamp(TransactTime.FIELD, LocalDateTime.now(ZoneOffset.UTC), UtcTimestampPrecision.MILLIS);
    order.setDouble(OrderQty.FIELD, v.orderQty);
    order.setChar(OrdType.FIELD, v.ordType);
    order.setDouble(Price.FIELD, v.priceCents / 100.0);
    order.setChar(TimeInForce.FIELD, v.timeInForce);
    setHeader(order, seq);
    return order.toString();
  }

  private static String encodeReport(League.Values v, int seq) {
    quickfix.fix44.ExecutionReport report = new quickfix.fix44.ExecutionReport();
    report.setString(OrderID.FIELD, v.orderID);
    report.setString(ClOrdID.FIELD, v.clOrdID);
    report.setString(ExecID.FIELD, v.execID);
    report.setChar(ExecType.FIELD, v.execType);
    report.setChar(OrdStatus.FIELD, v.ordStatus);
    report.setString(Account.FIELD, v.account);
    report.setString(Symbol.FIELD, v.symbol);
    report.setChar(Side.FIELD, v.side);
    report.setDouble(OrderQty.FIELD, v.orderQty);
    report.setChar(OrdType.FIELD, v.ordType);
    report.setDouble(Price.FIELD, v.priceCents / 100.0);
    report.setChar(TimeInForce.FIELD, v.timeInForce);
    report.setDouble(LastQty.FIELD, v.lastQty);
    report.setDouble(LastPx.FIELD, v.lastPxCents / 100.0);
    report.setDouble(LeavesQty.FIELD, v.leavesQty);
    report.setDouble(CumQty.FIELD, v.cumQty);
    report.setDouble(AvgPx.FIELD, v.avgPxCents / 100.0);
    report.setUtcTimeStamp(TransactTime.FIELD, LocalDateTime.now(ZoneOffset.UTC), UtcTimestampPrecision.MILLIS);
    setHeader(report, seq);
    return report.toString();
  }

  private static void encode(League league) throws Exception {
    List<League.Values> values = league.values();
    boolean isReport = league.text("type").equals("8");
    league.timeBatches(values.size(), () -> sum = 0, i -> {
      League.Values v = values.get(i);
      sum += (isReport ? encodeReport(v, i + 1) : encodeOrder(v, i + 1)).length();
    });
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < values.size(); i++) {
      String text = isReport ? encodeReport(values.get(i), i + 1) : encodeOrder(values.get(i), i + 1);
      out.writeBytes((text + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }
    league.write("out", out.toByteArray());
    System.out.println("bytes " + sum);
  }

  private static SessionSettings settings(League league, String type) throws ConfigError {
    SessionSettings settings = new SessionSettings();
    settings.setString("ConnectionType", type);
    settings.setString("StartTime", "00:00:00");
    settings.setString("EndTime", "00:00:00");
    settings.setString("HeartBtInt", "60");
    settings.setString("UseDataDictionary", league.has("dictionary") ? "Y" : "N"); // its own FIX44.xml
    settings.setString("SocketTcpNoDelay", "Y");
    settings.setString("FileStorePath", league.text("store"));
    return settings;
  }

  private static void send(League league) throws Exception {
    SessionSettings settings = settings(league, "initiator");
    settings.setString("ReconnectInterval", "1");
    settings.setString("TimeStampPrecision", "NANOS");
    settings.setString("SocketConnectHost", "127.0.0.1");
    settings.setString("SocketConnectPort", league.text("port"));
    SessionID id = new SessionID("FIXT.1.1", "CLIENT1", "EXECUTOR");
    settings.setString(id, "DefaultApplVerID", "FIX.5.0");
    settings.setString(id, "BeginString", "FIXT.1.1");
    CountDownLatch up = new CountDownLatch(1);
    ApplicationAdapter application = new ApplicationAdapter() {
      @Override
      public void onLogon(SessionID session) {
        up.countDown();
      }
    };
    Initiator initiator = new SocketInitiator(application, new FileStoreFactory(settings), settings, new SLF4JLogFactory(settings), new DefaultMessageFactory());
    initiator.start();
    up.await();
    league.pace(number -> {
      quickfix.fix50sp2.NewOrderSingle order = new quickfix.fix50sp2.NewOrderSingle();
      order.getHeader().setString(SenderSubID.FIELD, "SNDR_SUB");
      order.getHeader().setString(TargetSubID.FIELD, "SRVR_SUB");
      order.setString(ClOrdID.FIELD, Long.toString(number));
      order.setString(Symbol.FIELD, "NOKIA.HE");
      order.setChar(Side.FIELD, '1');
      order.setDouble(OrderQty.FIELD, 10);
      order.setDouble(Price.FIELD, 10000);
      order.setChar(OrdType.FIELD, '2');
      order.setChar(TimeInForce.FIELD, '0');
      quickfix.fix50sp2.NewOrderSingle.NoPartyIDs party = new quickfix.fix50sp2.NewOrderSingle.NoPartyIDs();
      party.setString(PartyID.FIELD, "PARTY1");
      party.setChar(PartyIDSource.FIELD, 'D');
      party.setInt(PartyRole.FIELD, 1);
      order.addGroup(party);
      party.setString(PartyID.FIELD, "PARTY2");
      party.setInt(PartyRole.FIELD, 3);
      order.addGroup(party);
      order.setUtcTimeStamp(TransactTime.FIELD, LocalDateTime.now(ZoneOffset.UTC), UtcTimestampPrecision.NANOS);
      return Session.sendToTarget(order, id);
    });
    initiator.stop();
  }

  private static final class Venue extends ApplicationAdapter {
    @Override
    public void fromApp(Message order, SessionID session) throws FieldNotFound {
      String id = order.getString(ClOrdID.FIELD);
      quickfix.fix44.ExecutionReport report = new quickfix.fix44.ExecutionReport();
      report.setString(OrderID.FIELD, id);
      report.setString(ClOrdID.FIELD, id);
      report.setString(ExecID.FIELD, id);
      report.setChar(ExecType.FIELD, '0');
      report.setChar(OrdStatus.FIELD, '0');
      report.setString(Symbol.FIELD, order.getString(Symbol.FIELD));
      report.setChar(Side.FIELD, order.getChar(Side.FIELD));
      report.setDouble(OrderQty.FIELD, order.getDouble(OrderQty.FIELD));
      report.setDouble(LeavesQty.FIELD, order.getDouble(OrderQty.FIELD));
      report.setDouble(CumQty.FIELD, 0);
      report.setDouble(AvgPx.FIELD, 0);
      report.setUtcTimeStamp(TransactTime.FIELD, LocalDateTime.now(ZoneOffset.UTC), UtcTimestampPrecision.MILLIS);
      try {
        Session.sendToTarget(report, session);
      } catch (SessionNotFound error) {
        throw new IllegalStateException(error);
      }
    }
  }

  private static void serve(League league) throws Exception {
    SessionSettings settings = settings(league, "acceptor");
    settings.setString("SocketAcceptPort", league.text("port"));
    for (long i = 0; i < league.number("sessions"); i++) {
      settings.setString(new SessionID("FIX.4.4", "VENUE", "CLIENT" + i), "BeginString", "FIX.4.4");
    }
    Acceptor acceptor = new SocketAcceptor(new Venue(), new FileStoreFactory(settings), settings, new SLF4JLogFactory(settings), new DefaultMessageFactory());
    acceptor.start();
    League.ready();
    acceptor.stop(true);
  }

  private static final class Proxy extends ApplicationAdapter {
    private final SessionID market;

    Proxy(SessionID market) {
      this.market = market;
    }

    @Override
    public void fromApp(Message order, SessionID session) throws FieldNotFound {
      quickfix.fix44.NewOrderSingle passed = new quickfix.fix44.NewOrderSingle();
      passed.setString(ClOrdID.FIELD, order.getString(ClOrdID.FIELD));
      passed.setString(Symbol.FIELD, order.getString(Symbol.FIELD));
      passed.setChar(Side.FIELD, order.getChar(Side.FIELD));
      passed.setUtcTimeStamp(TransactTime.FIELD, order.getUtcTimeStamp(TransactTime.FIELD), UtcTimestampPrecision.MILLIS);
      passed.setDouble(OrderQty.FIELD, order.getDouble(OrderQty.FIELD));
      passed.setChar(OrdType.FIELD, order.getChar(OrdType.FIELD));
      passed.setDouble(Price.FIELD, order.getDouble(Price.FIELD));
      passed.setChar(TimeInForce.FIELD, order.getChar(TimeInForce.FIELD));
      try {
        Session.sendToTarget(passed, market);
      } catch (SessionNotFound error) {
        throw new IllegalStateException(error);
      }
    }
  }

  private static void passOn(League league) throws Exception {
    SessionID market = new SessionID("FIX.4.4", "PROXY", "MARKET");
    SessionSettings toMarket = settings(league, "initiator");
    toMarket.setString("ReconnectInterval", "1");
    toMarket.setString("SocketConnectHost", "127.0.0.1");
    toMarket.setString("SocketConnectPort", league.text("to_port"));
    toMarket.setString(market, "BeginString", "FIX.4.4");
    SessionSettings settings = settings(league, "acceptor");
    settings.setString("SocketAcceptPort", league.text("port"));
    settings.setString(new SessionID("FIX.4.4", "VENUE", "CLIENT0"), "BeginString", "FIX.4.4");
    Proxy proxy = new Proxy(market);
    Initiator initiator = new SocketInitiator(proxy, new FileStoreFactory(toMarket), toMarket, new SLF4JLogFactory(toMarket),
        new DefaultMessageFactory());
    Acceptor acceptor = new SocketAcceptor(proxy, new FileStoreFactory(settings), settings, new SLF4JLogFactory(settings),
        new DefaultMessageFactory());
    initiator.start();
    acceptor.start();
    League.ready();
    acceptor.stop(true);
    initiator.stop(true);
  }

  public static void main(String[] words) throws Exception {
    League league = new League(words);
    switch (words[0]) {
      case "rows" -> System.out.println("engine QuickFIX/J\nrows read encode send serve hop");
      case "read" -> read(league);
      case "encode" -> encode(league);
      case "send" -> send(league);
      case "serve" -> serve(league);
      case "hop" -> passOn(league);
      default -> throw new IllegalArgumentException(words[0]);
    }
    System.exit(0);
  }
}
