// Our engine and the process of a counterparty with another engine, both driven from the test's thread: the engine
// iterates while the peer's events are read, so that waiting for one never stops the other. Every wait has a limit.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "peer_process.hpp"
#include "trading_application.hpp"

namespace nfx::interop {

// The role and version of our engine.
struct Matchup {
  Role our_role = Role::acceptor;
  std::string begin_string = "FIX.4.4";  // FIXT.1.1 carries FIX.5.0SP2
};
void PrintTo(const Matchup& matchup, std::ostream* out);
// With every version of the counterparty, in these roles of NexusFIX or in both.
[[nodiscard]] std::vector<Matchup> matchups(std::initializer_list<Role> our_roles);
[[nodiscard]] std::vector<Matchup> every_matchup();
[[nodiscard]] std::string matchup_name(const testing::TestParamInfo<Matchup>& info);

struct RigOptions {
  std::vector<std::string> peer{};  // further options of the peer
  bool we_validate = true;
  bool rich = false;        // orders with nested groups and a data field, in both directions
  bool plain_data = false;  // TradingApplication::Orders
  std::function<void(SessionConfig&)> adjust = nullptr;
};

class EngineRig {
 public:
  explicit EngineRig(const Matchup& matchup, const RigOptions& options = {});

  // Runs the engine and reads the peer until `done` or the limit.
  [[nodiscard]] bool pump_until(const std::function<bool()>& done, std::chrono::milliseconds limit = limit_);
  // The next event of the peer that starts with `prefix`.
  [[nodiscard]] std::optional<std::string> peer_says(std::string_view prefix);
  // The engine does nothing meanwhile, like a stopped process.
  [[nodiscard]] std::optional<std::string> peer_says_while_we_are_silent(std::string_view prefix);

  [[nodiscard]] bool logged_on();
  // The peer sends orders, and every one is answered by New and Filled.
  [[nodiscard]] bool peer_trades(std::size_t count);
  // The same in the other direction.
  [[nodiscard]] bool we_trade(std::size_t count);
  // The initiator of the matchup is the client.
  [[nodiscard]] bool trade(std::size_t count) { return we_connect() ? we_trade(count) : peer_trades(count); }

  // Each side's next outbound number equals the other's next expected one.
  [[nodiscard]] bool numbers_agree();
  [[nodiscard]] std::string numbers();

  // We stop, with Logout; the peer's process ends without an error.
  [[nodiscard]] bool both_finish_cleanly();

  [[nodiscard]] bool we_connect() const noexcept { return matchup_.our_role == Role::initiator; }
  [[nodiscard]] SessionHandle& session() { return *engine_->session(0); }
  [[nodiscard]] TradingApplication& ours() noexcept { return *application_; }
  [[nodiscard]] PeerProcess& peer() { return *peer_; }
  void send_command(std::string_view command) { peer_->send_command(command); }
  // From here on the peer neither reads nor sends, until it is resumed.
  [[nodiscard]] bool pause_peer();
  [[nodiscard]] std::string story() const { return application_->tail() + peer_->tail(); }

 private:
  static constexpr std::chrono::milliseconds limit_{600'000};

  void start_peer(const std::string& role, const std::string& address, const RigOptions& options);

  Matchup matchup_;
  std::shared_ptr<const Dictionary> dictionary_;
  std::unique_ptr<TradingApplication> application_;
  std::unique_ptr<Engine> engine_;
  std::optional<PeerProcess> peer_;
  std::size_t peer_orders_ = 0;
  std::size_t our_orders_ = 0;
};

// Fixture of the tests that hold for every matchup.
class EngineAgainstQuickFix : public testing::TestWithParam<Matchup> {
 protected:
  // Skips if the peer's program could not be built.
  void SetUp() override;
  [[nodiscard]] static bool we_connect() { return GetParam().our_role == Role::initiator; }
};

}  // namespace nfx::interop
