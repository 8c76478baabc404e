// The parts of a network: engines, peers, and their common clock.
// Thread: the test's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.hpp"
#include "nexusfix/testing/network.hpp"
#include "testing/loopback_engine.hpp"

namespace nfx::testing {

class PeerParts;

class EngineParts {
 public:
  EngineParts(NetworkParts& network, EngineConfig config, Callbacks program);

  LoopbackEngine engine;
};

// The place of an engine's session.
struct SessionPlace {
  LoopbackLoop* loop;
  const SessionSettings* settings;
};

class NetworkParts {
 public:
  explicit NetworkParts(NetworkOptions wanted);

  void run();
  void advance(Duration by);
  // Throws within a callback. run() then throws too, because an exception of a callback ends only its session.
  void refuse_in_callback();

  // The session with these CompIDs, or the template that matches them.
  [[nodiscard]] std::optional<SessionPlace> find(Role role, std::string_view begin_string, std::string_view sender,
                                                 std::string_view target) const;
  // The acceptors' listening ports, each once.
  [[nodiscard]] std::vector<std::uint16_t> listening() const;
  // "DESK->TRADER, DESK->*": for errors.
  [[nodiscard]] std::string session_names() const;

  NetworkOptions options;
  LoopbackNetwork network;
  ManualClock clock;
  std::vector<std::unique_ptr<TestEngine>> engines;
  std::vector<EngineParts*> running;  // their parts, in the same order
  std::vector<PeerParts*> peers;

 private:
  // Runs every engine and peer once. Returns the number of events.
  std::size_t round();
  // The time until the next event that an engine waits for.
  [[nodiscard]] Duration wanted_wait() const noexcept;
  [[nodiscard]] std::string busiest(const std::vector<std::vector<SessionFigures>>& before) const;
  [[nodiscard]] std::vector<std::vector<SessionFigures>> figures() const;

  bool in_round_ = false;
  bool misused_ = false;
};

}  // namespace nfx::testing
