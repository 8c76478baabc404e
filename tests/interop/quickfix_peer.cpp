// A FIX counterparty built on QuickFIX for interoperability tests: it carries out commands from standard input, one a
// line, and reports every event as one line on standard output. One thread does everything, so that a command never
// races with a callback: between two calls of QuickFIX's own poll (at most 2 ms each) waiting commands run, in their
// order. Options: --help. Exit code: 0 clean, 1 a command failed, 2 it could not start. End of input means `quit`.
//
// Commands
//   order N [cut K]    send N NewOrderSingle with ClOrdID id-1, id-2, ...; after K of them drop the connection, so that
//                      the rest is only stored and goes out as a resend. The next command waits until all are handed
//                      over.
//   order-with TAG=VALUE ...  send one order with these fields set, or left out when VALUE is empty, however wrong
//   cut                drop the TCP connection without Logout (an initiator connects again within a second or two)
//   logout [TEXT]      Logout, then stay away until `logon`; an acceptor refuses logons meanwhile
//   logon              allow logging on again
//   reset              Logout, both sequence numbers to 1, log on again (an initiator with ResetSeqNumFlag=Y)
//   reset-live         send Logon with ResetSeqNumFlag=Y inside the running session
//   seq                report SEQ
//   skip N             raise the own next number by N without sending: the other side sees a gap
//   set-out N          set the own next number; lower than true means "sequence number too low" at the other side
//   set-in N           set the expected number; lower than true means that QuickFIX requests a resend
//   sequence-reset N   send SequenceReset-Reset with NewSeqNo N and continue from N
//   gap-fill N         send SequenceReset-GapFill with NewSeqNo N and continue from N
//   test-request ID    send TestRequest
//   pause / resume     do not touch the connection at all / continue
//   status             report STATUS
//   quit               end immediately, without Logout
//
// Events (POSSDUP is Y or N; an absent field is -)
//   READY                                          started; an acceptor listens
//   LOGON
//   LOGOUT [TEXT]                                  session over; TEXT is that of the last Logout received
//   ORDER CLORDID SEQ POSSDUP SYMBOL SIDE QUANTITY PRICE PARTIES DATA
//                                                  NewOrderSingle received; answered by ExecutionReports New and Filled
//   EXEC CLORDID EXECTYPE ORDSTATUS SEQ POSSDUP    ExecutionReport received
//   APP-IN MSGTYPE SEQ POSSDUP                     any other application message received
//   APP-OUT MSGTYPE SEQ POSSDUP                    application message sent, resent, or stored while disconnected
//   ADMIN-IN MSGTYPE SEQ POSSDUP [KEY=VALUE ...]   Logon: heartbeat reset; TestRequest, Heartbeat: id; ResendRequest:
//   ADMIN-OUT MSGTYPE SEQ POSSDUP [KEY=VALUE ...]    begin end; SequenceReset: new gapfill; Logout: text, to end of
//     line
//   REJECT in|out MSGTYPE REFSEQ REFMSGTYPE REFTAG REASON TEXT   Reject (3) or BusinessMessageReject (j)
//   SEQ OUT IN                                     next numbers
//   STATUS on|off OUT IN ORDERS_OUT ORDERS_IN EXECS_IN
//   ERROR TEXT
#include <poll.h>
#include <quickfix/FileStore.h>
#include <quickfix/Group.h>
#include <quickfix/Log.h>
#include <quickfix/Message.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "quickfix_fields.hpp"
#include "quickfix_peer_options.hpp"

namespace {

using namespace quickfix_peer;

// One write per line, so that a reader at the other end of a pipe gets each event when it happens.
void report(std::string line) {
  std::replace(line.begin(), line.end(), '\001', '|');
  std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void report_reject(const char* direction, const FIX::Message& message) {
  const std::string type = msg_type(message);
  const int reason = type == "j" ? tag::business_reject_reason : tag::session_reject_reason;
  report(std::string("REJECT ") + direction + ' ' + type + ' ' + field(message, tag::ref_seq_num) + ' ' +
         field(message, tag::ref_msg_type) + ' ' + field(message, tag::ref_tag_id) + ' ' + field(message, reason) +
         ' ' + field(message, tag::text));
}

// QuickFIX's log goes to standard error, with SOH made visible; standard output contains only event lines.
class TraceLog final : public FIX::Log {
 public:
  void clear() override {}
  void backup() override {}
  void onIncoming(const std::string& bytes) override { write("in   ", bytes); }
  void onOutgoing(const std::string& bytes) override { write("out  ", bytes); }
  void onEvent(const std::string& text) override { write("event", text); }

 private:
  static void write(const char* what, std::string bytes) {
    std::replace(bytes.begin(), bytes.end(), '\001', '|');
    std::fprintf(stderr, "%s %s\n", what, bytes.c_str());
  }
};

class TraceLogFactory final : public FIX::LogFactory {
 public:
  FIX::Log* create() override { return new TraceLog; }
  FIX::Log* create(const FIX::SessionID&) override { return new TraceLog; }
  void destroy(FIX::Log* log) override { delete log; }
};

// QuickFIX's own memory store returns nothing for a range whose first number it lacks, as after `skip`; a gap fill
// would then replace the messages after it.
class MemoryStore final : public FIX::MemoryStore {
 public:
  void get(int begin, int end, std::vector<std::string>& messages) const noexcept override {
    messages.clear();
    for (int number = begin; number <= end; ++number) {
      std::vector<std::string> one;
      FIX::MemoryStore::get(number, number, one);
      messages.insert(messages.end(), one.begin(), one.end());
    }
  }
};

struct MemoryStoreFactory final : FIX::MemoryStoreFactory {
  FIX::MessageStore* create(const FIX::SessionID&) override { return new MemoryStore; }
};

// The FIX side: QuickFIX's callbacks, and the commands for the session.
class Peer final : public FIX::Application {
 public:
  Peer(const Options& options, FIX::SessionID id) : options_(options), id_(std::move(id)) {}

  // Orders that were requested and not yet passed to QuickFIX.
  bool orders_waiting() const { return orders_left_ > 0; }

  void ask_orders(int count, int cut_after) {
    orders_left_ = count;
    orders_left_at_cut_ = cut_after > 0 ? count - cut_after : -1;
  }

  // A bounded number of orders, so that replies are read in between and neither side's buffers stay full. Orders after
  // a cut are stored at once, before the connection can come back.
  void send_some_orders() {
    for (int budget = 64; budget > 0 && orders_left_ > 0; --budget) {
      FIX::Message order = new_order(++orders_out_);
      session().send(order);
      if (--orders_left_ == orders_left_at_cut_) {
        session().disconnect();
        budget = orders_left_ + 1;
      }
    }
  }

  void order_with(const std::vector<FIX::FieldBase>& changes) {
    FIX::Message order = new_order(++orders_out_);
    for (const FIX::FieldBase& change : changes) {
      if (change.getString().empty()) {
        order.removeField(change.getTag());
      } else {
        order.setField(change);
      }
    }
    session().send(order);
  }

  void cut() { session().disconnect(); }
  void logout(const std::string& text) { session().logout(text); }
  void logon() { session().logon(); }

  void reset() {
    session().logout();
    reset_when_down_ = true;
  }

  // A reset starts over only after the old connection has ended: QuickFIX resets nothing while Logout is in transit.
  void finish_reset() {
    if (!reset_when_down_ || session().sentLogon()) return;
    reset_when_down_ = false;
    reset_flag_on_logon_ = session().isInitiator();
    session().setNextSenderMsgSeqNum(1);
    session().setNextTargetMsgSeqNum(1);
    session().logon();
  }

  void reset_live() {
    FIX::Message logon = admin("A");
    logon.setField(tag::encrypt_method, "0");
    logon.setField(tag::heart_bt_int, std::to_string(session().getHeartBtInt().getValue()));
    logon.setField(tag::reset_seq_num, "Y");
    session().send(logon);
  }

  void sequence_reset(int new_seq_no, bool gap_fill) {
    FIX::Message message = admin("4");
    message.setField(tag::new_seq_no, std::to_string(new_seq_no));
    message.setField(tag::gap_fill, gap_fill ? "Y" : "N");
    session().send(message);
    session().setNextSenderMsgSeqNum(new_seq_no);
  }

  void test_request(const std::string& id) {
    FIX::Message message = admin("1");
    message.setField(tag::test_req_id, id);
    session().send(message);
  }

  void set_out(int next) { session().setNextSenderMsgSeqNum(next); }
  void set_in(int next) { session().setNextTargetMsgSeqNum(next); }
  int next_out() const { return session().getExpectedSenderNum(); }

  std::string seq() const {
    return std::to_string(next_out()) + ' ' + std::to_string(session().getExpectedTargetNum());
  }

  std::string status() const {
    return std::string(session().isLoggedOn() ? "on " : "off ") + seq() + ' ' + std::to_string(orders_out_) + ' ' +
           std::to_string(orders_in_) + ' ' + std::to_string(execs_in_);
  }

  // QuickFIX declares its callbacks with exception specifications; these throw nothing, which satisfies all of them.
  void onCreate(const FIX::SessionID&) override {}
  void onLogon(const FIX::SessionID&) override { report("LOGON"); }

  void onLogout(const FIX::SessionID&) override {
    report(logout_text_.empty() ? "LOGOUT" : "LOGOUT " + logout_text_);
    logout_text_.clear();
  }

  void toAdmin(FIX::Message& message, const FIX::SessionID&) override {
    if (msg_type(message) == "A" && reset_flag_on_logon_) {
      message.setField(tag::reset_seq_num, "Y");
      reset_flag_on_logon_ = false;
    }
    report("ADMIN-OUT " + msg_type(message) + ' ' + seq_and_poss_dup(message) + admin_details(message));
    if (msg_type(message) == "3") report_reject("out", message);
  }

  void toApp(FIX::Message& message, const FIX::SessionID&) noexcept override {
    report("APP-OUT " + msg_type(message) + ' ' + seq_and_poss_dup(message));
    if (msg_type(message) == "j") report_reject("out", message);
  }

  void fromAdmin(const FIX::Message& message, const FIX::SessionID&) noexcept override {
    report("ADMIN-IN " + msg_type(message) + ' ' + seq_and_poss_dup(message) + admin_details(message));
    if (msg_type(message) == "3") report_reject("in", message);
    if (msg_type(message) == "5" && message.isSetField(tag::text)) logout_text_ = message.getField(tag::text);
  }

  void fromApp(const FIX::Message& message, const FIX::SessionID&) noexcept override {
    const std::string type = msg_type(message);
    if (type == "D") {
      ++orders_in_;
      report("ORDER " + field(message, tag::cl_ord_id) + ' ' + seq_and_poss_dup(message) + ' ' +
             field(message, tag::symbol) + ' ' + field(message, tag::side) + ' ' + field(message, tag::order_qty) +
             ' ' + field(message, tag::price) + ' ' + parties(message) + ' ' + field(message, tag::encoded_text));
      answer(message, false);
      answer(message, true);
    } else if (type == "8") {
      ++execs_in_;
      report("EXEC " + field(message, tag::cl_ord_id) + ' ' + field(message, tag::exec_type) + ' ' +
             field(message, tag::ord_status) + ' ' + seq_and_poss_dup(message));
    } else if (type == "j") {
      report_reject("in", message);
    } else {
      report("APP-IN " + type + ' ' + seq_and_poss_dup(message));
    }
  }

 private:
  FIX::Session& session() const { return *FIX::Session::lookupSession(id_); }

  FIX::Message admin(const char* type) const {
    FIX::Message message;
    message.getHeader().setField(tag::msg_type, type);
    message.getHeader().setField(FIX::BeginString(options_.begin_string));
    return message;
  }

  // Deterministic, and no two neighbours are alike. Rich orders contain parts that are hard to parse: a repeating group
  // and a data field with SOH inside.
  FIX::Message new_order(long n) const {
    static const std::array<const char*, 4> symbols = {{"MSFT", "EUR/USD", "VOD.L", "6758.T"}};
    FIX::Message order = admin("D");
    order.setField(tag::cl_ord_id, "id-" + std::to_string(n));
    order.setField(tag::handl_inst, "1");
    order.setField(tag::symbol, symbols[static_cast<std::size_t>(n) % symbols.size()]);
    order.setField(tag::side, n % 2 == 0 ? "1" : "2");
    order.setField(tag::order_qty, std::to_string(100 * (n % 7 + 1)));
    order.setField(tag::ord_type, "2");
    order.setField(tag::price, std::to_string(n % 500 + 1) + ".25");
    order.setField(tag::transact_time, utc_now("%Y%m%d-%H:%M:%S"));
    if (options_.rich_orders) {
      const std::string data = "data\001" + std::to_string(n) + "\00110=000\001";
      order.setField(tag::encoded_text_len, std::to_string(data.size()));
      order.setField(tag::encoded_text, data);
      if (options_.begin_string == "FIX.4.4") {
        order.addGroup(party("firm-" + std::to_string(n), "1"));
        FIX::Group trader = party("trader-" + std::to_string(n), "12");
        FIX::Group desk(tag::no_party_sub_ids, tag::party_sub_id,
                        FIX::message_order(tag::party_sub_id, tag::party_sub_id_type, 0));
        desk.setField(tag::party_sub_id, "desk-" + std::to_string(n));
        desk.setField(tag::party_sub_id_type, "4");
        trader.addGroup(desk);
        order.addGroup(trader);
      }
    }
    return order;
  }

  static FIX::Group party(const std::string& id, const std::string& role) {
    FIX::Group party(
        tag::no_party_ids, tag::party_id,
        FIX::message_order(tag::party_id, tag::party_id_source, tag::party_role, tag::no_party_sub_ids, 0));
    party.setField(tag::party_id, id);
    party.setField(tag::party_id_source, "D");
    party.setField(tag::party_role, role);
    return party;
  }

  // Returns the parts that are hard to parse as they were understood. Groups are known only with a dictionary.
  static void echo(const FIX::Message& order, FIX::Message& execution) {
    if (order.isSetField(tag::encoded_text)) {
      execution.setField(tag::encoded_text_len, field(order, tag::encoded_text_len));
      execution.setField(tag::encoded_text, field(order, tag::encoded_text));
    }
    const auto parties = static_cast<unsigned>(order.FIX::FieldMap::groupCount(tag::no_party_ids));
    for (unsigned i = 1; i <= parties; ++i) {
      FIX::Group one = party({}, {});
      order.getGroup(i, one);
      execution.addGroup(one);
    }
  }

  void answer(const FIX::Message& order, bool filled) {
    const bool fix42 = options_.begin_string == "FIX.4.2";
    const std::string quantity = field(order, tag::order_qty);
    const std::string price = order.isSetField(tag::price) ? order.getField(tag::price) : "1.00";
    FIX::Message execution = admin("8");
    execution.setField(tag::order_id, "order-" + std::to_string(orders_in_));
    execution.setField(tag::cl_ord_id, field(order, tag::cl_ord_id));
    execution.setField(tag::exec_id, "exec-" + std::to_string(++execs_out_));
    if (fix42) execution.setField(tag::exec_trans_type, "0");
    execution.setField(tag::exec_type, !filled ? "0" : fix42 ? "2" : "F");
    execution.setField(tag::ord_status, filled ? "2" : "0");
    execution.setField(tag::symbol, field(order, tag::symbol));
    execution.setField(tag::side, field(order, tag::side));
    execution.setField(tag::order_qty, quantity);
    execution.setField(tag::leaves_qty, filled ? "0" : quantity);
    execution.setField(tag::cum_qty, filled ? quantity : "0");
    execution.setField(tag::avg_px, filled ? price : "0");
    echo(order, execution);
    session().send(execution);
  }

  const Options& options_;
  const FIX::SessionID id_;
  int orders_left_ = 0;
  int orders_left_at_cut_ = -1;  // -1: no cut requested
  long orders_out_ = 0;
  long orders_in_ = 0;
  long execs_in_ = 0;
  long execs_out_ = 0;
  bool reset_when_down_ = false;
  bool reset_flag_on_logon_ = false;
  std::string logout_text_;
};

// Standard input as lines, with a limit on the blocking time.
class CommandInput {
 public:
  // True with a line; false if none is complete yet or the input has ended.
  bool next_line(std::string& line, int wait_ms) {
    if (take_line(line)) return true;
    read_more(wait_ms);
    return take_line(line);
  }
  bool ended() const { return ended_ && bytes_.find('\n') == std::string::npos; }

 private:
  bool take_line(std::string& line) {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string::npos) return false;
    line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    return true;
  }

  void read_more(int wait_ms) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (ended_ || ::poll(&input, 1, wait_ms) <= 0) return;
    std::array<char, 4096> chunk{};
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got > 0) {
      bytes_.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      ended_ = true;
    }
  }

  std::string bytes_;
  bool ended_ = false;
};

int number(std::istream& arguments) {
  int value = 0;
  if (!(arguments >> value) || value < 1) throw std::invalid_argument("a number of at least 1 is missing");
  return value;
}

std::string rest(std::istream& arguments) {
  std::string text;
  std::getline(arguments >> std::ws, text);
  return text;
}

class CommandLoop {
 public:
  explicit CommandLoop(Peer& peer) : peer_(peer) {}

  // Engine is FIX::SocketInitiator or FIX::SocketAcceptor: poll() opens the port on its first call.
  template <class Engine>
  int run(Engine& engine) {
    engine.poll(0);
    report("READY");
    std::string line;
    while (!quit_ && !input_.ended()) {
      if (!paused_) engine.poll(peer_.orders_waiting() ? 0 : 0.002);
      peer_.finish_reset();
      peer_.send_some_orders();
      while (!quit_ && !peer_.orders_waiting() && input_.next_line(line, paused_ ? -1 : 0)) execute(line);
    }
    engine.stop(true);
    return failed_ ? 1 : 0;
  }

 private:
  void execute(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) return;
    try {
      const auto command = commands().find(name);
      if (command == commands().end()) throw std::invalid_argument("unknown command");
      command->second(*this, words);
    } catch (const std::exception& error) {
      failed_ = true;
      report("ERROR " + line + ": " + error.what());
    }
  }

  using Command = void (*)(CommandLoop&, std::istream&);
  static const std::map<std::string, Command>& commands() {
    using Self = CommandLoop;
    static const std::map<std::string, Command> table = {
        {"order-with", [](Self& self, std::istream& words) { self.order_with(words); }},
        {"order", [](Self& self, std::istream& words) { self.order(words); }},
        {"cut", [](Self& self, std::istream&) { self.peer_.cut(); }},
        {"logout", [](Self& self, std::istream& words) { self.peer_.logout(rest(words)); }},
        {"logon", [](Self& self, std::istream&) { self.peer_.logon(); }},
        {"reset", [](Self& self, std::istream&) { self.peer_.reset(); }},
        {"reset-live", [](Self& self, std::istream&) { self.peer_.reset_live(); }},
        {"seq", [](Self& self, std::istream&) { report("SEQ " + self.peer_.seq()); }},
        {"skip", [](Self& self, std::istream& words) { self.peer_.set_out(self.peer_.next_out() + number(words)); }},
        {"set-out", [](Self& self, std::istream& words) { self.peer_.set_out(number(words)); }},
        {"set-in", [](Self& self, std::istream& words) { self.peer_.set_in(number(words)); }},
        {"sequence-reset", [](Self& self, std::istream& words) { self.peer_.sequence_reset(number(words), false); }},
        {"gap-fill", [](Self& self, std::istream& words) { self.peer_.sequence_reset(number(words), true); }},
        {"test-request", [](Self& self, std::istream& words) { self.peer_.test_request(rest(words)); }},
        {"pause", [](Self& self, std::istream&) { self.paused_ = true; }},
        {"resume", [](Self& self, std::istream&) { self.paused_ = false; }},
        {"status", [](Self& self, std::istream&) { report("STATUS " + self.peer_.status()); }},
        {"quit", [](Self& self, std::istream&) { self.quit_ = true; }},
    };
    return table;
  }

  void order(std::istream& words) {
    const int count = number(words);
    std::string cut;
    const int cut_after = words >> cut ? number(words) : 0;
    if ((!cut.empty() && cut != "cut") || cut_after > count) {
      throw std::invalid_argument("expected: order N [cut K], K up to N");
    }
    peer_.ask_orders(count, cut_after);
  }

  void order_with(std::istream& words) {
    std::vector<FIX::FieldBase> changes;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::invalid_argument("expected: order-with TAG=VALUE ...");
      changes.emplace_back(std::stoi(word.substr(0, equals)), word.substr(equals + 1));
    }
    peer_.order_with(changes);
  }

  Peer& peer_;
  CommandInput input_;
  bool paused_ = false;
  bool quit_ = false;
  bool failed_ = false;
};

FIX::Dictionary session_settings(const Options& options) {
  FIX::Dictionary settings;
  settings.setString("ConnectionType", options.acceptor != 0 ? "acceptor" : "initiator");
  // QuickFIX has no session without an end, so its daily boundary is half a day away from now.
  constexpr std::time_t half_day_s = 12 * 60 * 60;
  settings.setString("StartTime", utc_now("%H:%M:%S", half_day_s));
  settings.setString("EndTime", utc_now("%H:%M:%S", half_day_s - 1));
  settings.setInt("HeartBtInt", options.heartbeat_s);
  settings.setInt("LogoutTimeout", options.logout_timeout_s);
  settings.setInt("ReconnectInterval", 1);
  settings.setString("SocketNodelay", "Y");
  settings.setString("ResetOnLogon", options.reset_on_logon ? "Y" : "N");
  settings.setString("ResetOnLogout", options.reset_on_logout ? "Y" : "N");
  settings.setString("ResetOnDisconnect", options.reset_on_disconnect ? "Y" : "N");
  settings.setString("UseDataDictionary", options.dictionary.empty() ? "N" : "Y");
  if (!options.dictionary.empty()) settings.setString("DataDictionary", options.dictionary);
  if (options.store.front() == "file") settings.setString("FileStorePath", options.store.back());
  if (options.acceptor != 0) {
    settings.setInt("SocketAcceptPort", options.acceptor);
  } else {
    const std::size_t colon = options.initiator.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument("--initiator needs HOST:PORT");
    settings.setString("SocketConnectHost", options.initiator.substr(0, colon));
    settings.setString("SocketConnectPort", options.initiator.substr(colon + 1));
  }
  return settings;
}

int run(const Options& options) {
  const FIX::SessionID id(options.begin_string, options.sender, options.target);
  FIX::SessionSettings settings;
  // QuickFIX reads ReconnectInterval and the socket options only from the defaults.
  settings.set(session_settings(options));
  settings.set(id, session_settings(options));
  std::unique_ptr<FIX::MessageStoreFactory> stores;
  if (options.store.front() == "file" && options.store.size() == 2) {
    stores = std::make_unique<FIX::FileStoreFactory>(settings);
  } else if (options.store.front() == "memory" && options.store.size() == 1) {
    stores = std::make_unique<MemoryStoreFactory>();
  } else {
    throw std::invalid_argument("--store needs `memory` or `file DIR`");
  }
  TraceLogFactory trace;
  Peer peer(options, id);
  CommandLoop loop(peer);
  const auto start = [&](auto* engine) {
    const std::unique_ptr<std::remove_pointer_t<decltype(engine)>> owner(engine);
    return loop.run(*owner);
  };
  if (options.acceptor != 0) {
    return start(options.trace ? new FIX::SocketAcceptor(peer, *stores, settings, trace)
                               : new FIX::SocketAcceptor(peer, *stores, settings));
  }
  return start(options.trace ? new FIX::SocketInitiator(peer, *stores, settings, trace)
                             : new FIX::SocketInitiator(peer, *stores, settings));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const int* exit_code = read_options(options, argc, argv)) return *exit_code;
  std::signal(SIGPIPE, SIG_IGN);  // A reader that went away shows as end of input.
  try {
    return run(options);
  } catch (const std::exception& error) {
    report(std::string("ERROR ") + error.what());
    return 2;
  }
}
