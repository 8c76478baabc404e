import quickfix.SessionID;
import quickfix.SessionSettings;

/** The command line in QuickFIX/J's words. */
final class Settings {
  private Settings() {}

  static SessionSettings of(Options options, SessionID id) {
    SessionSettings settings = new SessionSettings();
    settings.setString("ConnectionType", options.accepts() ? "acceptor" : "initiator");
    settings.setString("NonStopSession", "Y");
    settings.setLong("HeartBtInt", options.heartbeat);
    settings.setLong("LogoutTimeout", options.logoutTimeout);
    settings.setLong("ReconnectInterval", 1);
    settings.setString("SocketTcpNoDelay", "Y");
    settings.setString("ResetOnLogon", options.resetOnLogon ? "Y" : "N");
    settings.setString("EnableNextExpectedMsgSeqNum", options.nextExpected ? "Y" : "N");
    dictionaries(settings, options);
    if (options.accepts()) {
      settings.setString("SocketAcceptAddress", "127.0.0.1");
      settings.setLong("SocketAcceptPort", options.acceptor);
      settings.setString("SocketReuseAddress", "Y");
    } else {
      int colon = options.initiator.lastIndexOf(':');
      settings.setString("SocketConnectHost", options.initiator.substring(0, colon));
      settings.setString("SocketConnectPort", options.initiator.substring(colon + 1));
    }
    // A session exists once it has a setting of its own.
    settings.setString(id, "BeginString", options.beginString);
    settings.setString(id, "SenderCompID", options.sender);
    settings.setString(id, "TargetCompID", options.target);
    return settings;
  }

  private static void dictionaries(SessionSettings settings, Options options) {
    settings.setString("UseDataDictionary", options.dictionary.isEmpty() ? "N" : "Y");
    if (options.fixt()) settings.setString("DefaultApplVerID", "9");
    if (options.dictionary.isEmpty()) return;
    if (options.fixt()) {
      settings.setString("TransportDataDictionary", options.transportDictionary);
      settings.setString("AppDataDictionary", options.dictionary);
    } else {
      settings.setString("DataDictionary", options.dictionary);
    }
  }
}
