// The engine and its counterparty, driven alternately by a test's thread.
#include "engine_rig.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "nexusfix/dictionary/load.hpp"
#include "peer_program.hpp"
#include "transport/loopback.hpp"

namespace nfx::interop {
namespace {

// "FIX.4.4" is "FIX44"; FIXT.1.1 carries the messages of FIX.5.0SP2.
std::string version_name(const std::string& begin_string) {
  if (begin_string == "FIXT.1.1") return "FIX50SP2";
  std::string name = begin_string;
  std::erase(name, '.');
  return name;
}

std::shared_ptr<const Dictionary> our_dictionary(const std::string& begin_string) {
  const std::filesystem::path folder = NFX_SOURCE_DIR "/dictionaries";
  const std::filesystem::path file = folder / (version_name(begin_string) + ".xml");
  if (begin_string != "FIXT.1.1") return std::make_shared<const Dictionary>(load_dictionary(file));
  return std::make_shared<const Dictionary>(
      load_dictionary({.transport = folder / "FIXT11.xml", .application = file, .overlays = {}}));
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

void PrintTo(const Matchup& matchup, std::ostream* out) {
  *out << to_string(matchup.our_role) << ' ' << matchup.begin_string;
}

std::vector<Matchup> matchups(std::initializer_list<Role> our_roles) {
  std::vector<Matchup> all;
  for (const Role role : our_roles) {
    for (const char* version : peer_program().versions) all.push_back({role, version});
  }
  return all;
}

std::vector<Matchup> every_matchup() { return matchups({Role::acceptor, Role::initiator}); }

std::string matchup_name(const testing::TestParamInfo<Matchup>& info) {
  return std::string{info.param.our_role == Role::acceptor ? "we_accept_" : "we_connect_"} +
         lower_case(version_name(info.param.begin_string));
}

EngineRig::EngineRig(const Matchup& matchup, const RigOptions& options)
    : matchup_(matchup), dictionary_(our_dictionary(matchup.begin_string)) {
  SessionSettings settings;
  settings.session.begin_string = matchup.begin_string;
  if (matchup.begin_string == "FIXT.1.1") settings.session.default_appl_ver_id = "9";
  settings.session.sender_comp_id = "NEXUS";
  settings.session.target_comp_id = "PEER";
  settings.session.role = matchup.our_role;
  settings.session.validation = ValidationPolicy::strict();
  settings.reconnect_delay = std::chrono::milliseconds{50};
  settings.reconnect_delay_max = std::chrono::milliseconds{400};
  if (options.we_validate) settings.dictionary = dictionary_;
  if (options.adjust) options.adjust(settings.session);
  if (we_connect()) {
    // Another process may open a free port before the peer does; then another port is tried.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::uint16_t port = test::free_port();
      start_peer("--acceptor", std::to_string(port), options);
      settings.connect = {{"127.0.0.1", port}};
      if (peer_->wait_for("READY")) break;
    }
  } else {
    settings.listen = {"127.0.0.1", 0};
  }
  EngineConfig config;
  config.sessions = {std::move(settings)};
  application_ = std::make_unique<TradingApplication>(
      matchup.begin_string, dictionary_,
      TradingApplication::Orders{.rich = options.rich, .plain_data = options.plain_data});
  engine_ = std::make_unique<Engine>(std::move(config), *application_);
  application_->attach(session());
  engine_->start();
  if (!we_connect()) start_peer("--initiator", to_string(engine_->local_endpoint(0).value()), options);
}

void EngineRig::start_peer(const std::string& role, const std::string& address, const RigOptions& options) {
  std::vector<std::string> arguments = {role, address, "--begin-string", matchup_.begin_string};
  const std::string folder = std::string{peer_program().dictionaries} + '/';
  arguments.insert(arguments.end(), {"--dictionary", folder + version_name(matchup_.begin_string) + ".xml"});
  if (matchup_.begin_string == "FIXT.1.1") {
    arguments.insert(arguments.end(), {"--transport-dictionary", folder + "FIXT11.xml"});
  }
  if (options.rich) arguments.emplace_back("--rich");
  arguments.insert(arguments.end(), options.peer.begin(), options.peer.end());
  peer_.emplace(peer_program().path, std::move(arguments));
}

bool EngineRig::pump_until(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    engine_->turn(std::chrono::milliseconds{1});
    peer_->read_available();
  }
  return true;
}

std::optional<std::string> EngineRig::peer_says(std::string_view prefix) {
  std::optional<std::string> found;
  static_cast<void>(pump_until([&] {
    found = peer_->wait_for(prefix, std::chrono::milliseconds::zero());
    return found.has_value();
  }));
  return found;
}

std::optional<std::string> EngineRig::peer_says_while_we_are_silent(std::string_view prefix) {
  return peer_->wait_for(prefix, limit_);
}

bool EngineRig::pause_peer() {
  // Commands that arrive together are carried out without polling the network in between.
  send_command("seq\npause");
  return peer_says("SEQ").has_value();
}

bool EngineRig::logged_on() {
  return peer_says("LOGON").has_value() && pump_until([&] { return session().logged_on(); });
}

bool EngineRig::peer_trades(std::size_t count) {
  send_command("order " + std::to_string(count));
  peer_orders_ += count;
  const std::string last = "EXEC id-" + std::to_string(peer_orders_) + ' ';
  return pump_until([&] { return ours().orders_in() >= peer_orders_; }) && peer_says(last) && peer_says(last);
}

bool EngineRig::we_trade(std::size_t count) {
  our_orders_ += count;
  ours().ask_orders(count);
  return pump_until([&] { return ours().idle() && ours().reports_in() >= 2 * our_orders_; });
}

std::string EngineRig::numbers() {
  send_command("seq");
  return "NexusFIX out " + std::to_string(value(session().next_outbound())) + " in " +
         std::to_string(value(session().next_inbound())) + ", QuickFIX " + peer_says("SEQ").value_or("unknown");
}

bool EngineRig::numbers_agree() {
  // Messages in transit may need a few attempts.
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  do {
    send_command("seq");
    const std::string seq = peer_says("SEQ").value_or("");
    if (word(seq, 1) == std::to_string(value(session().next_inbound())) &&
        word(seq, 2) == std::to_string(value(session().next_outbound()))) {
      return true;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

bool EngineRig::both_finish_cleanly() {
  engine_->stop();
  if (!pump_until([&] { return engine_->finished(); })) return false;
  return peer_->finish() == 0;
}

void EngineAgainstQuickFix::SetUp() {
  if (!std::filesystem::exists(peer_program().path)) {
    GTEST_SKIP() << peer_program().path
                 << " is missing: the test whose name ends with _build builds it, or reports why it cannot";
  }
}

}  // namespace nfx::interop
