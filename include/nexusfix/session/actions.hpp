// The result of a step of a session: its requests to the caller, in order, where the session is, and the results of an
// operator's requests. Bounded; messages are encoded in the caller's output space.
// Thread: the session's; the enumerations are values. Cost: no allocation. Lifetime: texts and bytes are valid as long
// as the output space and the message of the event. Errors: an OperatorResult other than `done` is why a request was
// not carried out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {

class MessageView;
class ValidationReport;

enum class ActionKind : std::uint8_t {
  send,             // `bytes` are in the output space; store them under `seq` when `keep`
  reset_store,      // both sequence numbers to 1, no message stored
  deliver,          // application message: on_message; `report` lists the violations that validation tolerated
  session_message,  // a session message of the peer was accepted: on_session_message, before what follows from it
  deliver_reject,   // the peer rejected one of our messages: on_reject
  logged_on,        // the session is up
  logged_out,       // the session is down, or the Logon was refused; `text` is the reason
  replay,           // a ResendRequest has to be answered: call continue_replay()
  disconnect,       // send what is in the output space, then close; `text` is the reason
  notice,           // a line for the event log
};

enum class Phase : std::uint8_t {
  disconnected,
  awaiting_logon,  // acceptor: nothing received yet; initiator: our Logon is sent
  logged_on,
  logout_sent,  // waiting for the peer's Logout
};

[[nodiscard]] std::string_view to_string(Phase phase) noexcept;

// How a session ended.
enum class Ending : std::uint8_t {
  logout,       // this side sent a Logout, answered or not
  peer_logout,  // the peer sent a Logout, which was answered
  lost,         // the connection broke
  silent,       // a TestRequest was not answered
  no_answer,    // a Logon or a reset was not answered
  refused,      // the peer refused our Logon
  failed,       // one side violated the protocol, or this side refused the peer
};

[[nodiscard]] std::string_view to_string(Ending ending) noexcept;
[[nodiscard]] constexpr bool by_logout(Ending ending) noexcept {
  return ending == Ending::logout || ending == Ending::peer_logout;
}
[[nodiscard]] constexpr bool by_error(Ending ending) noexcept { return !by_logout(ending) && ending != Ending::lost; }

struct Action {
  ActionKind kind{};
  Notice notice = Notice::none;
  bool keep = false;             // of send: the store must persist it
  bool resent = false;           // of send: the answer to a ResendRequest, other than a gap fill
  Ending ending{};               // of logged_out
  LogonRefusalReason refusal{};  // of disconnect and logged_out: why, when it is for a Logon of the peer
  SeqNum seq{};
  std::uint64_t count = 0;  // of notice gap_filled: sequence numbers
  std::string_view bytes{};
  std::string_view text{};
  const MessageView* message = nullptr;
  const ValidationReport* report = nullptr;  // of deliver; null when there is nothing to report
};

static_assert(std::is_trivially_destructible_v<Action>);

class Actions {
 public:
  static constexpr std::size_t capacity = 16;
  // The most actions of one event, whatever the peer does, except continue_replay(): one Actions per event never fills.
  static constexpr std::size_t most_per_event = 11;

  // Messages are encoded into `output`, one after the other.
  explicit Actions(std::span<char> output) noexcept : output_(output) {}

  void push(const Action& action) noexcept {
    NFX_REQUIRE(count_ < capacity);
    NFX_ASSERT(action.kind != ActionKind::send || (!action.bytes.empty() && lies_in_output(action.bytes)));
    NFX_ASSERT(action.kind == ActionKind::send || !(action.keep || action.resent));
    NFX_ASSERT((action.kind == ActionKind::notice) == (action.notice != Notice::none));
    NFX_ASSERT((action.kind == ActionKind::deliver || action.kind == ActionKind::deliver_reject ||
                action.kind == ActionKind::session_message) == (action.message != nullptr));
    std::construct_at(first() + count_++, action);
  }
  [[nodiscard]] bool full() const noexcept { return count_ == capacity; }
  [[nodiscard]] bool nearly_full() const noexcept { return count_ + 6 > capacity; }

  [[nodiscard]] std::span<char> room() const noexcept { return output_.subspan(used_); }
  // Takes the first `size` bytes of `room()`, where a message has been written.
  std::string_view take(std::size_t size) noexcept {
    NFX_ASSERT(size <= output_.size() - used_);
    const std::string_view taken{output_.data() + used_, size};
    used_ += size;
    return taken;
  }

  [[nodiscard]] std::size_t output_used() const noexcept { return used_; }
  [[nodiscard]] std::span<const Action> list() const noexcept {
    return {std::launder(reinterpret_cast<const Action*>(storage_.data())), count_};
  }

 private:
  [[nodiscard]] Action* first() noexcept { return reinterpret_cast<Action*>(storage_.data()); }
  [[nodiscard]] bool lies_in_output(std::string_view bytes) const noexcept {
    return bytes.data() >= output_.data() && bytes.data() + bytes.size() <= output_.data() + used_;
  }

  std::span<char> output_;
  std::size_t used_ = 0;
  std::size_t count_ = 0;
  // Raw storage, so that a step initialises the actions that it adds and not all sixteen.
  alignas(Action) std::array<std::byte, capacity * sizeof(Action)> storage_;
};

// The result of an operator's request.
enum class OperatorResult : std::uint8_t {
  done,
  nothing_to_do,      // already in that state
  numbers_differ,     // the request expects other sequence numbers: nothing was changed
  bad_number,         // no sequence number, or none that can be resent
  would_end_session,  // while logged on the peer would refuse the next message, or this side the peer's
  not_logged_on,
  not_now,          // a Logon, reset or Logout is under way
  not_possible,     // the FIX version has no message for it
  settings_differ,  // the settings have changed since the request's author saw them: nothing was changed
};

[[nodiscard]] std::string_view to_string(OperatorResult result) noexcept;

// The sequence numbers that come next; empty: not requested, or not compared.
struct NextNumbers {
  std::optional<SeqNum> in{};
  std::optional<SeqNum> out{};

  friend bool operator==(const NextNumbers&, const NextNumbers&) = default;
};

}  // namespace nfx
