import quickfix.Log;
import quickfix.LogFactory;
import quickfix.SessionID;

/** What QuickFIX/J logs, with SOH made visible; standard output keeps to the event lines. */
final class StandardErrorLog implements Log, LogFactory {
  @Override
  public Log create(SessionID session) {
    return this;
  }

  @Override
  public void clear() {}

  @Override
  public void onIncoming(String message) {
    write("in   ", message);
  }

  @Override
  public void onOutgoing(String message) {
    write("out  ", message);
  }

  @Override
  public void onEvent(String text) {
    write("event", text);
  }

  @Override
  public void onErrorEvent(String text) {
    write("error", text);
  }

  private static void write(String what, String text) {
    System.err.println(what + ' ' + text.replace('\001', '|'));
  }
}
