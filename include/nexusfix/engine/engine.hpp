// The engine: sessions on poll threads over TCP, from start to a clean stop.
// Thread: run() uses the calling thread as poll thread 0 and starts the others; stop() and submit() from any thread,
// stop() also from a signal handler. Errors: the constructor and start() throw ConfigError; run() ends when stopped.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine_config.hpp"
#include "nexusfix/engine/poll_loop.hpp"

namespace nfx {

class Engine {
 public:
  // `application` outlives the engine; with several poll threads its callbacks run on all of them.
  Engine(EngineConfig config, Application& application);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Opens the listeners and begins to connect. Optional: run() does it when it has not been done.
  void start();

  // Serves until stop(), then logs out, waits for the answers as long as logout_timeout allows, and returns.
  void run();

  // One turn of a single-threaded engine for programs with a loop of their own. Returns how much happened.
  std::size_t turn(Duration max_wait);

  void stop() noexcept;
  [[nodiscard]] bool finished() const noexcept;

  // Queues a message from a thread that is no poll thread. False: queue full, message too long or no such session.
  [[nodiscard]] bool submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept;

  // A session more while the engine runs, and one less: from any thread. What is added is checked as at start; its
  // callbacks begin with Application::on_added. What is removed logs out first; its store goes with it. Throws
  // ConfigError naming what to mend; remove_session says false when there is no such session.
  std::size_t add_session(SessionSettings settings);
  bool remove_session(std::size_t session, std::string_view text);

  // Where a session's acceptor really listens: the port when the configuration says 0. Valid after start().
  [[nodiscard]] std::optional<Endpoint> local_endpoint(std::size_t session) const;

  [[nodiscard]] const EngineConfig& config() const noexcept;
  // Of one poll thread, or of all together. Exact once run() has returned.
  [[nodiscard]] PollLoopCounters counters() const noexcept;
  // For the session's poll thread's own use, and for anybody's once run() has returned.
  [[nodiscard]] SessionHandle* session(std::size_t id) noexcept;

 private:
  struct PollThread;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx
