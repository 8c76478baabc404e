// Requests of other threads to a poll loop: add a session, remove a session; and which identities and session numbers
// are in use. Thread: any, with a mutex; waiting() and may_exist() are loads. Cost: without requests, one load per
// iteration. Bounds: sessions count against max_dynamic_sessions from when they are claimed, except for one of the
// configuration that was removed and is added again, also on another poll thread: it has its place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/loop_call.hpp"
#include "engine/session_driver.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {

// The number of sessions of one poll thread that do not exist at its start: max_dynamic_sessions, and the replicated
// ones.
[[nodiscard]] std::size_t most_added_sessions(const EngineConfig& config) noexcept;

struct LoopCommand {
  enum class Kind : std::uint8_t {
    add,          // `session`
    remove,       // the session of `number`, with `text` in its Logout
    logon_again,  // the Logon on `connection`, which has waited for a session that is free now
    hand_on,      // the connection, whose session another gateway owns
    opened,       // requested by a Logon: `session`, or null when it could not be opened, for the reason in `text`
    call,         // `call`, which another thread may wait for
  };

  Kind kind = Kind::add;
  std::size_t number = 0;
  std::unique_ptr<SessionDriver> session{};
  std::string name{};  // of opened: the identity that was claimed
  std::string text{};
  // For opened, without a session: why its Logon is refused, and whether that was reported.
  LogonRefusalReason refused = LogonRefusalReason::store;
  bool reported = false;
  ConnectionId connection = no_connection;
  std::shared_ptr<LoopCall> call{};
};

class LoopCommands {
 public:
  static constexpr std::size_t max_waiting_calls = 64;
  static constexpr std::size_t most_not_added = 16;

  // `config` outlives this; the loop is poll thread `thread`.
  LoopCommands(const EngineConfig& config, std::uint32_t thread);

  // A session of the configuration begins to exist, at the start.
  void configured(const std::string& name);
  // Reserves a place for a session of this name and returns its number, which is never used again. Throws ConfigError
  // when all places are taken or a session of this name exists.
  [[nodiscard]] std::size_t claim(const std::string& name);
  [[nodiscard]] bool full();
  // The session was not made, or is gone: its name and its place are free.
  void release(const std::string& name);
  [[nodiscard]] bool knows(const std::string& name);
  // Why a session that was added goes again, for the thread that added it; of the last most_not_added ones.
  void not_added(std::size_t number, std::string_view why);
  [[nodiscard]] std::optional<std::string> why_not_added(std::size_t number);
  // Whether there has ever been a session of this number.
  [[nodiscard]] bool may_exist(std::size_t number) const noexcept;

  void push(LoopCommand command);
  // False: max_waiting_calls have not been taken yet.
  [[nodiscard]] bool push(std::shared_ptr<LoopCall> call);
  // Requests a session's removal, once. False: no such session.
  [[nodiscard]] bool remove(std::size_t number, std::string text);

  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_acquire); }
  // For the poll thread: all requests since the last call, in order.
  [[nodiscard]] std::vector<LoopCommand> take();

 private:
  const EngineConfig& config_;
  const std::uint32_t thread_;
  std::set<std::string> with_a_place_;  // sessions of the configuration, on all poll threads
  std::mutex mutex_;
  std::vector<LoopCommand> commands_;
  std::set<std::string> names_;
  std::deque<std::pair<std::size_t, std::string>> not_added_;
  std::size_t dynamic_count_ = 0;             // claimed and not released, except those in with_a_place_
  std::atomic<std::size_t> dynamic_made_{0};  // ever
  std::atomic<bool> waiting_{false};
};

}  // namespace nfx
