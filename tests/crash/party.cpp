// The two programs of the crash test: an exchange that executes each order once, and a trader with unique ClOrdIDs.
#include "party.hpp"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <random>
#include <set>

#include "account.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx::crash {
namespace {

constexpr Duration soon = std::chrono::milliseconds{2};

void send_word(Word word) {
  const char byte = static_cast<char>(word);
  // When the driver has ended, this process ends too, because no one reads its reports.
  static_cast<void>(::write(STDOUT_FILENO, &byte, 1) == 1);
}

std::uint64_t order_of(const MessageView& message) {
  const std::string_view text = message.get_view(Tag::ClOrdID);
  std::uint64_t order = 0;
  std::from_chars(text.data(), text.data() + text.size(), order);
  return order;
}

std::uint64_t number_of(const MessageView& message) {
  const std::string_view text = message.get_view(Tag::MsgSeqNum);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Shared by both: the account, and orders that wait to be sent (again).
class Party : public Application, public Observer {
 public:
  explicit Party(const PartyOptions& options) : options_(options), account_(account_file(options.folder)) {}

  void on_logon(SessionHandle& session) override {
    session_ = &session;
    account_.write({Entry::logged_on, value(session.next_inbound()), value(session.next_outbound()), false, false});
    send_word(Word::logged_on);
  }
  void on_logout(SessionHandle&, std::string_view reason) override {
    std::fprintf(stderr, "logged out: %.*s\n", static_cast<int>(reason.size()), reason.data());
    send_word(Word::logged_out);
  }
  void on_notice(SessionHandle&, Notice notice, SeqNum seq, std::string_view text) override {
    std::fprintf(stderr, "notice: %s %llu %.*s\n", std::string{to_string(notice)}.c_str(),
                 static_cast<unsigned long long>(value(seq)), static_cast<int>(text.size()), text.data());
    if (notice == Notice::store_trouble) send_word(Word::store_trouble);
    if (notice == Notice::store_recovered) send_word(Word::store_recovered);
  }
  void on_reject(SessionHandle&, const MessageView& reject) override {
    const std::string_view text = reject.get_view(Tag::Text);
    std::fprintf(stderr, "rejected: %.*s\n", static_cast<int>(text.size()), text.data());
  }

 protected:
  // Writes a line for a received message, and returns whether it arrived for the first time.
  bool first_time(const MessageView& message, std::set<std::uint64_t>& known, Entry entry) {
    const std::uint64_t order = order_of(message);
    const bool first = known.insert(order).second;
    account_.write({first ? entry : Entry::duplicate, order, number_of(message),
                    message.get_view(Tag::PossDupFlag) == "Y", message.get_view(Tag::PossResend) == "Y"});
    return first;
  }

  // Empty if the session does not take it now.
  bool send(std::string_view msg_type, std::uint64_t order, bool again, Entry entry, std::string_view text) {
    char space[2048];
    FieldWriter body{space};
    body.append(Tag::ClOrdID, order).append(Tag::Symbol, "NFX").append(Tag::Side, '1').append(Tag::OrderQty, 100);
    if (!text.empty()) body.append(Tag::Text, text);
    const auto number =
        session_->send({.msg_type = msg_type, .body = body.view(), .header_fields = again ? "97=Y\001" : ""});
    if (number) {
      account_.write({entry, order, value(*number), false, again});
    } else {
      if (refusals_++ == 0) std::fprintf(stderr, "refused: %s\n", std::string{to_string(number.error())}.c_str());
      account_.write({Entry::refused, order, static_cast<std::uint64_t>(number.error()), false, again});
    }
    return number.has_value();
  }

  const PartyOptions& options_;
  Account account_;
  SessionHandle* session_ = nullptr;
  std::uint64_t refusals_ = 0;
};

class Trader final : public Party {
 public:
  explicit Trader(const PartyOptions& options) : Party(options), random_(options.seed) {
    std::set<std::uint64_t> sent;
    for (const AccountLine& line : read_account(account_file(options.folder))) {
      if (line.entry == Entry::intended) last_ = std::max(last_, line.order);
      if (line.entry == Entry::sent) sent.insert(line.order);
      if (line.entry == Entry::confirmed) confirmed_.insert(line.order);
    }
    // It is unknown whether these were sent before the kill.
    for (std::uint64_t order = 1; order <= last_; ++order) {
      if (!sent.contains(order) && !confirmed_.contains(order)) unknown_.push_back(order);
    }
  }

  void on_logon(SessionHandle& session) override {
    Party::on_logon(session);
    budget_ = options_.orders == 0 ? 0 : std::uniform_int_distribution<std::uint32_t>{1, options_.orders}(random_);
    settled_ = false;
  }
  Handled on_message(SessionHandle&, const MessageView& report) override {
    first_time(report, confirmed_, Entry::confirmed);
    return Handled::done;
  }
  Duration on_turn(Instant) override {
    if (session_ == nullptr || !session_->logged_on()) return Duration::max();
    const std::string text(options_.text_size, 'x');
    while (!unknown_.empty() && last_ - confirmed_.size() < window + unknown_.size()) {
      if (!send("D", unknown_.front(), true, Entry::sent, text)) return soon;
      unknown_.pop_front();
    }
    while (budget_ > 0 && last_ - confirmed_.size() < window) {
      // A refused order keeps its name, and is sent under it as soon as the session takes it.
      if (refused_ == 0) {
        account_.write({Entry::intended, ++last_, 0, false, false});
        refused_ = last_;
      }
      if (!send("D", refused_, false, Entry::sent, text)) return soon;
      refused_ = 0;
      --budget_;
    }
    if (!settled_ && budget_ == 0 && unknown_.empty() && confirmed_.size() == last_) {
      settled_ = true;
      send_word(Word::settled);
    }
    return Duration::max();
  }

 private:
  static constexpr std::uint64_t window = 8;  // orders without a report

  std::mt19937_64 random_;
  std::uint64_t last_ = 0;
  std::uint64_t refused_ = 0;
  std::set<std::uint64_t> confirmed_;
  std::deque<std::uint64_t> unknown_;
  std::uint32_t budget_ = 0;
  bool settled_ = false;
};

class Exchange final : public Party {
 public:
  explicit Exchange(const PartyOptions& options) : Party(options), random_(options.seed) {
    for (const AccountLine& line : read_account(account_file(options.folder))) {
      if (line.entry == Entry::executed) executed_.insert(line.order);
      if (line.entry == Entry::reported) reported_.insert(line.order);
    }
    for (const std::uint64_t order : executed_) {
      if (!reported_.contains(order)) owed_.push_back({order, true});
    }
  }

  Handled on_message(SessionHandle&, const MessageView& order) override {
    // A kill may happen before the order is handled; then it must arrive again.
    if (random_() % 4 == 0) return Handled::not_now;
    if (first_time(order, executed_, Entry::executed)) owed_.push_back({order_of(order), false});
    report();
    return Handled::done;
  }
  Duration on_turn(Instant) override {
    if (session_ == nullptr || !session_->logged_on()) return Duration::max();
    return report() ? Duration::max() : soon;
  }

 private:
  struct Owed {
    std::uint64_t order;
    bool again;  // a report may have been sent before the kill
  };

  bool report() {
    while (!owed_.empty()) {
      if (!send("8", owed_.front().order, owed_.front().again, Entry::reported, {})) return false;
      owed_.pop_front();
    }
    return true;
  }

  std::mt19937_64 random_;
  std::set<std::uint64_t> executed_, reported_;
  std::deque<Owed> owed_;
};

std::atomic<Engine*> running{nullptr};

void on_terminate(int) {
  if (Engine* engine = running.load()) engine->stop();
}

}  // namespace

std::filesystem::path account_file(const std::filesystem::path& folder) { return folder / "account"; }

SessionSettings party_session(const PartyOptions& options) {
  SessionSettings settings;
  const bool exchange = options.role == Role::acceptor;
  settings.session.role = options.role;
  settings.session.sender_comp_id = exchange ? "EXCHANGE" : "TRADER";
  settings.session.target_comp_id = exchange ? "TRADER" : "EXCHANGE";
  settings.session.logon_timeout = std::chrono::seconds{5};
  settings.session.resend_timeout = std::chrono::seconds{1};
  if (exchange) {
    settings.listen = {"127.0.0.1", options.port};
  } else {
    settings.connect = {{"127.0.0.1", options.port}};
  }
  settings.reconnect_delay = std::chrono::milliseconds{1};
  settings.reconnect_delay_max = std::chrono::milliseconds{4};
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = options.store;
  settings.journal.ring_directory = options.ring;
  settings.journal.durability = options.durability;
  settings.journal.sync_interval = std::chrono::milliseconds{2};
  settings.journal.segment_size = options.small ? 256 * 1024 : 1024 * 1024;
  settings.journal.ring_size = options.small ? 64 * 1024 : 256 * 1024;
  return settings;
}

int run_party(const PartyOptions& options) {
  try {
    std::unique_ptr<Party> party;
    if (options.role == Role::acceptor) {
      party = std::make_unique<Exchange>(options);
    } else {
      party = std::make_unique<Trader>(options);
    }
    EngineConfig config;
    config.max_message_size = 4096;
    config.sessions.push_back(party_session(options));
    Engine engine{std::move(config), *party};
    running = &engine;
    struct sigaction action{};
    action.sa_handler = on_terminate;
    ::sigaction(SIGTERM, &action, nullptr);
    engine.run();
    running = nullptr;
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace nfx::crash
