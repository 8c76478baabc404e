// Keeps the path of a message in the caches while the sessions of a busy-polling loop are silent, and before their
// Logon. A made message passes the functions that a received one passes, in a session of its own:
//
//   made message ─► Receiver ─► a session like the silent one ─► on_rehearsal, an answer ─► its store ─► no connection
//
// Of the silent session itself, and of its store, lines are prefetched and nothing changes; so numbers, journals,
// counters and latencies are the same with and without.
// Thread: the poll thread. Cost: one session at a time, a few microseconds; otherwise a compare for each iteration; no
// allocation, lock or system call. Bounds: most_rehearsals sessions have one of their own. Errors: begin() throws what
// reserving memory throws. A rehearsal whose message its session does not accept ends until a message was received.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/loop_parts.hpp"
#include "engine/session_driver.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

// The next message of one session, as it is rehearsed.
class Rehearsal {
 public:
  // Both outlive it.
  Rehearsal(const LoopContext& loop, const SessionDriver& like);
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  [[nodiscard]] std::size_t number() const noexcept { return session_->id(); }
  // From now on the message is like this one.
  void learn(const MessageView& message) noexcept;
  [[nodiscard]] bool has_learned() const noexcept { return learned_; }
  // Between begin() and end() its parts receive bytes() on a connection that no transport has. False: it has no message
  // that its session accepts.
  [[nodiscard]] bool begin(Instant now) noexcept;
  [[nodiscard]] LoopParts& parts() noexcept { return parts_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }
  void end() noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }  // completed ones
  // No transport reaches this generation of a slot: what is sent on it goes nowhere.
  static constexpr ConnectionId connection = detail::make_id<ConnectionId>(1, UINT32_MAX);

 private:
  class Stores;
  class Program;

  void log_on(Instant now);

  EngineConfig config_;
  std::unique_ptr<Stores> stores_;
  std::unique_ptr<Program> program_;
  LoopParts parts_;
  SessionDriver* const session_;  // the only one of parts_
  Composer peer_;
  std::string type_, body_;  // of the message; an empty type: none
  std::array<char, 4096> bytes_{};
  std::size_t size_ = 0;
  bool learned_ = false;
  std::uint64_t rejected_ = 0;
  std::uint64_t count_ = 0;
};

class WarmUp {
 public:
  static constexpr std::size_t most_rehearsals = 16;
  static constexpr Duration shortest_step = std::chrono::microseconds{50};
  static constexpr Duration shortest_lesson = std::chrono::seconds{1};  // from one message learned to the next
  static constexpr std::uint32_t most_in_a_row = 3;

  WarmUp();
  ~WarmUp();

  // From now on keeps each session warm that has been silent for this time.
  void begin(const LoopContext& loop, const SessionTable& sessions, Duration interval);
  void end() noexcept { due_ = MonotonicTime::max(); }
  // When step() is due.
  [[nodiscard]] MonotonicTime due() const noexcept { return due_; }
  // One session, in an iteration in which nothing has happened: run(rehearsal) lets its parts receive and send.
  // False: nothing was rehearsed.
  template <class Run>
  bool step(const SessionTable& sessions, Instant now, Run&& run) noexcept {
    Rehearsal* const rehearsal = next(sessions, now);
    if (rehearsal == nullptr || !rehearsal->begin(now)) return false;
    run(*rehearsal);
    rehearsal->end();
    return true;
  }
  // How long a step has taken that rehearsed. After a slow one the next iteration repeats it: what a processor predicts
  // is learned in several.
  void took(Duration time) noexcept;
  [[nodiscard]] std::uint64_t rehearsals() const noexcept;  // completed

 private:
  // For the session whose turn it is, and whose data it prefetches. Null: it is not silent.
  [[nodiscard]] Rehearsal* next(const SessionTable& sessions, Instant now) noexcept;
  [[nodiscard]] Rehearsal* of(const SessionDriver& session) noexcept;

  MonotonicTime due_ = MonotonicTime::max();
  Duration interval_{};
  std::size_t place_ = 0;
  MonotonicTime next_lesson_{};
  Duration shortest_ = Duration::max();  // that a step has taken
  std::uint32_t in_a_row_ = 0;
  std::vector<std::unique_ptr<Rehearsal>> rehearsals_;
};

}  // namespace nfx
