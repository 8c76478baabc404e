// What other threads ask of a poll loop: a session more, a session less; and which identities and numbers are taken.
// Thread: any, with a mutex; waiting() and may_exist() are loads. Cost: a loop that nothing is asked of pays one load
// an iteration. Bounds: sessions count against max_dynamic_sessions from when they are claimed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/live_session.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {

struct LoopCommand {
  enum class Kind : std::uint8_t {
    add,          // `session`
    remove,       // the session of `number`, with `text` in its Logout
    logon_again,  // the Logon on `connection`, which has waited for a session that is free now
    opened,       // asked for by a Logon: `session`, or null when it could not be opened, and `text` says why
  };

  Kind kind = Kind::add;
  std::size_t number = 0;
  std::unique_ptr<LiveSession> session{};
  std::string name{};  // of opened: the identity that was claimed
  std::string text{};
  ConnectionId connection = no_connection;
};

class LoopCommands {
 public:
  // `config` outlives this; the loop is poll thread `thread`.
  LoopCommands(const EngineConfig& config, std::uint32_t thread) noexcept : config_(config), thread_(thread) {}

  // A session of the configuration.
  void configured(const std::string& name);
  // Makes sure that there is room for one more of this name, and gives it its number, which is never used again. Throws
  // ConfigError when there is none, or one of this name.
  [[nodiscard]] std::size_t claim(const std::string& name);
  [[nodiscard]] bool full();
  // Gives back what claim() took: the session was not made, or is gone.
  void release(const std::string& name);
  // A session of the configuration is gone.
  void forget_configured(const std::string& name);
  [[nodiscard]] bool knows(const std::string& name);
  // Whether there has ever been a session of this number.
  [[nodiscard]] bool may_exist(std::size_t number) const noexcept;
  // It was made from a template or added, and is none of the configuration.
  [[nodiscard]] bool is_dynamic(std::size_t number) const noexcept { return number >= config_.sessions.size(); }

  void push(LoopCommand command);
  // Asks for a session's removal, once. False: no such session.
  [[nodiscard]] bool remove(std::size_t number, std::string text);

  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_acquire); }
  // The poll thread: all that was asked since the last call, in order.
  [[nodiscard]] std::vector<LoopCommand> take();

 private:
  const EngineConfig& config_;
  const std::uint32_t thread_;
  std::mutex mutex_;
  std::vector<LoopCommand> commands_;
  std::set<std::string> names_;
  std::size_t dynamic_count_ = 0;             // claimed and not released
  std::atomic<std::size_t> dynamic_made_{0};  // ever
  std::atomic<bool> waiting_{false};
};

}  // namespace nfx
