// A network in memory with a clock that the test moves: a program's sessions run on it as on TCP, in one thread,
// without sockets, files and sleeps, and the same in every run.
//
//   nfx::testing::Network network;
//   Desk desk;
//   network.engine(nfx::testing::acceptor("DESK", "TRADER"), desk);    // or a configuration: nfx::load_config(...)
//   nfx::testing::Peer trader{network, "TRADER", "DESK"};              // peer.hpp; or a second engine
//
// Thread: one for the network and everything on it; callbacks run within run() and advance(). Cost: an idle round takes
// about a microsecond. Lifetime: applications outlive the last run(), engines live as long as the network. Errors:
// TestError, and ConfigError for a configuration that no engine would start with. If a callback throws, its session is
// logged out, as in production.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/submit.hpp"

namespace nfx::testing {

class NetworkParts;
class EngineParts;

struct NetworkOptions {
  UtcTime start{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}};  // a Friday
  // Bytes on their way in one direction of a connection. Beyond, the sender waits until the other side reads; an engine
  // holds another send_buffer_size of its session before send() returns would_block.
  std::size_t stream_buffer = 64 * 1024;
  std::uint32_t max_rounds = 100'000;  // of one run()
};

// The sessions of one configuration and their application.
class TestEngine {
 public:
  ~TestEngine();
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;

  // By its position in the configuration. What is sent with it leaves in the next run(). Throws TestError when there is
  // no such session.
  [[nodiscard]] SessionHandle& session(std::size_t number = 0);
  // As Engine::submit: for the code of a program that sends from other threads.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  // As Engine::stop: the next run() logs the sessions out. finished() once they are gone.
  void stop() noexcept;
  [[nodiscard]] bool finished() const noexcept;

 private:
  friend class Network;
  explicit TestEngine(std::unique_ptr<EngineParts> parts) noexcept;

  std::unique_ptr<EngineParts> parts_;
};

class Network {
 public:
  explicit Network(NetworkOptions options = {});
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Starts an engine, as nfx::Engine does: acceptors listen, initiators connect. An address is known by its port alone:
  // the network has one host. Sessions run on one poll thread, the test's, with their messages stored in memory; logs,
  // metrics, [placement], [control] and [cluster] are not in use. Throws ConfigError as the engine does, also for a
  // port where another engine listens, and TestError for a session with TLS.
  TestEngine& engine(EngineConfig config, Callbacks program);
  TestEngine& engine(SessionSettings session, Callbacks program);

  // Runs engines and peers in turn until nothing happens any more; no time passes. Throws TestError, which names the
  // busiest session, when something still happens after max_rounds, and when a callback calls run(), advance() or
  // engine().
  void run();
  // Time passes, from one event that is due to the next (heartbeats, timeouts, schedules, what on_turn asks for), with
  // a run() before, between and after. Events that are less than a millisecond apart happen together. Throws TestError
  // for a time before now.
  void advance(Duration by);
  void advance_to(UtcTime time);
  [[nodiscard]] UtcTime now() const noexcept;

 private:
  friend class Peer;
  std::shared_ptr<NetworkParts> parts_;  // peers may end after the network
};

// A session of FIX 4.4 with the shipped dictionary, as of a configuration that names none, and the port that peers and
// initiators use when they name none. Sessions of other versions come from nfx::load_config() or nfx::parse_config().
// The dictionary is read once. Errors: DictionaryError where it is not installed.
inline constexpr std::uint16_t default_port = 9878;
[[nodiscard]] SessionSettings acceptor(std::string sender_comp_id, std::string target_comp_id,
                                       std::uint16_t port = default_port);
[[nodiscard]] SessionSettings initiator(std::string sender_comp_id, std::string target_comp_id,
                                        std::uint16_t port = default_port);

}  // namespace nfx::testing
