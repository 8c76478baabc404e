// One Session with its environment: a clock that the test advances, a store, an output space and a framer. All actions
// are carried out in order and recorded for the test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::test {

// 2024-03-15 12:00:00 UTC, with an unrelated monotonic clock.
inline Instant test_start() {
  return {UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}},
          MonotonicTime{std::chrono::hours{100}}};
}

inline std::string with_bars(std::string_view bytes) {
  std::string text{bytes};
  std::ranges::replace(text, '\x01', '|');
  return text;
}

struct RigNotice {
  Notice notice;
  SeqNum seq;
  std::string text;
  std::uint64_t count = 0;
};

class SessionRig {
 public:
  explicit SessionRig(const SessionConfig& config) : session(config) {}

  // Events.

  void connect() {
    closed = false;
    input_.clear();
    step([this](Actions& out) { session.on_connect(now, out); });
  }
  // The network closes the connection, with or without a reason.
  void cut(std::string_view why = {}) {
    if (closed) return;
    closed = true;
    step([this, why](Actions& out) { session.on_disconnect(why, now, out); });
  }
  void receive(std::string_view bytes) {
    input_ += bytes;
    while (!closed) {
      const Frame frame = next_frame(input_);
      if (frame.status == FrameStatus::need_more) return;
      std::size_t size = frame.size;
      WireError error = frame.error;
      if (frame.status == FrameStatus::too_large) {
        // The start of the next message ends it.
        size = input_.find(
            "\x01"
            "8=FIX");
        if (size++ == std::string::npos) return;
        error = WireError::body_length_mismatch;
      }
      const std::string bytes_of_frame = input_.substr(0, size);
      input_.erase(0, size);
      if (frame.status == FrameStatus::complete) error = message_.parse(bytes_of_frame);
      if (error == WireError::none) {
        step([this](Actions& out) { session.on_message(message_, now, out); });
        drain_queue();
      } else {
        step([&](Actions& out) { session.on_garbled(error, bytes_of_frame, {}, now, out); });
      }
    }
  }
  // A message that the caller did not store completely.
  void receive_too_large(const MessageView& head, std::string_view limit) {
    step([&](Actions& out) { session.on_too_large(head, limit, now, out); });
    drain_queue();
  }
  // Moves the clock, calling on_timer exactly when it is due.
  void advance(Duration by) {
    const MonotonicTime target = now.monotonic + by;
    for (int fired = 0; session.next_deadline() <= target; ++fired) {
      if (fired == 100'000) throw std::logic_error("on_timer leaves a deadline in the past");
      move_clock_to(std::max(now.monotonic, session.next_deadline()));
      fire_timer();
      pump_replay();
    }
    move_clock_to(target);
  }
  void move_clock_to(MonotonicTime time) {
    now.utc += time - now.monotonic;
    now.monotonic = time;
  }
  void fire_timer() {
    step([this](Actions& out) { session.on_timer(now, out); });
  }
  std::expected<SeqNum, SendError> send(std::string_view type, std::string_view body,
                                        std::string_view header_fields = {}) {
    return step([&](Actions& out) {
      return session.send({.msg_type = type, .body = body, .header_fields = header_fields}, now, out);
    });
  }
  void logout(std::string_view text = {}) {
    step([&](Actions& out) { session.logout(text, now, out); });
  }
  void probe(Duration answer_within) {
    step([&](Actions& out) { session.probe(answer_within, now, out); });
  }
  void reset() {
    step([this](Actions& out) { session.reset_sequence_numbers(now, out); });
  }
  // A request of an operator.
  template <class Request>
  OperatorResult ask(Request&& request) {
    return step(request);
  }
  std::expected<SeqNum, SendError> reject_business(std::string_view refused, BusinessRejectReason reason,
                                                   std::string_view text) {
    MessageView view;
    static_cast<void>(view.parse(refused));
    return step([&](Actions& out) { return session.reject_business(view, reason, text, now, out); });
  }

  // One call of continue_replay with the present output space; true if it sent anything.
  bool replay_step() {
    const std::size_t before = sent.size();
    const std::size_t most_of_others = most_actions;
    step([this](Actions& out) {
      session.continue_replay(
          [this](SeqNum seq) -> std::optional<std::string_view> {
            const auto kept = store.find(value(seq));
            if (kept == store.end()) return std::nullopt;
            return kept->second;
          },
          replayed_, stored_bytes(), now, out);
    });
    most_replay_actions = std::max(most_replay_actions, std::exchange(most_actions, most_of_others));
    return sent.size() != before;
  }

  [[nodiscard]] std::uint64_t stored_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [seq, message] : store) bytes += message.size();
    return bytes;
  }

  // Sent messages, oldest first; take_sent() removes and returns one.
  std::string take_sent() {
    if (sent.empty()) return {};
    std::string first = std::move(sent.front());
    sent.pop_front();
    return first;
  }
  // The fields of the next sent message, without 8 9 10 49 52 56 122.
  std::string take() {
    const std::string bytes = take_sent();
    if (bytes.empty()) return "nothing";
    MessageView view;
    if (const WireError error = view.parse(bytes); error != WireError::none) return std::string{to_string(error)};
    std::string text;
    for (std::uint32_t i = 0; i < view.size(); ++i) {
      const int tag = value(view[i].tag);
      if (tag == 8 || tag == 9 || tag == 10 || tag == 49 || tag == 52 || tag == 56 || tag == 122) continue;
      text += std::to_string(tag) + '=' + with_bars(view[i].value) + '|';
    }
    return text;
  }
  [[nodiscard]] bool noticed(Notice notice) const {
    return std::ranges::any_of(notices, [&](const RigNotice& n) { return n.notice == notice; });
  }

  Session session;
  Instant now = test_start();
  std::map<std::uint64_t, std::string> store;
  std::size_t output_space = 256 * 1024;
  bool answer_resend_requests = true;  // false: the test calls replay_step itself
  bool keep_messages = true;

  std::deque<std::string> sent;
  std::deque<std::string> delivered;
  std::deque<std::string> rejects;
  std::vector<std::string> session_messages;  // types of messages that the program would see
  std::vector<RigNotice> notices;
  bool closed = true;
  LogonRefusalReason refusal{};  // of the last disconnect
  std::string close_text;
  std::string logged_out_text;
  int logged_on_count = 0;
  int logged_out_count = 0;
  int store_resets = 0;
  std::size_t most_actions = 0;         // of one event
  std::size_t most_replay_actions = 0;  // of one call of continue_replay, or of an event if that had more

 private:
  template <class Event>
  std::invoke_result_t<Event&, Actions&> step(Event&& event) {
    if (output_.size() < output_space) output_.resize(output_space);
    Actions out{std::span{output_}.first(output_space)};
    if constexpr (std::is_void_v<std::invoke_result_t<Event&, Actions&>>) {
      event(out);
      carry_out(out);
    } else {
      auto result = event(out);
      carry_out(out);
      return result;
    }
  }

  void drain_queue() {
    while (const auto bytes = session.take_queued()) {
      if (queued_.parse(*bytes) != WireError::none) continue;
      step([this](Actions& out) { session.on_queued_message(queued_, now, out); });
    }
    pump_replay();
  }
  void pump_replay() {
    while (answer_resend_requests && session.replaying() && replay_step()) {
    }
  }

  void carry_out(const Actions& actions) {
    most_actions = std::max(most_actions, actions.list().size());
    for (const Action& action : actions.list()) {
      switch (action.kind) {
        case ActionKind::send:
          if (action.keep && keep_messages) store[value(action.seq)] = action.bytes;
          sent.emplace_back(action.bytes);
          break;
        case ActionKind::reset_store:
          ++store_resets;
          store.clear();
          break;
        case ActionKind::deliver: delivered.emplace_back(action.message->bytes()); break;
        case ActionKind::session_message: session_messages.emplace_back(action.message->msg_type()); break;
        case ActionKind::deliver_reject: rejects.emplace_back(action.message->bytes()); break;
        case ActionKind::logged_on: ++logged_on_count; break;
        case ActionKind::logged_out:
          ++logged_out_count;
          logged_out_text = action.text;
          break;
        case ActionKind::replay: break;
        case ActionKind::disconnect:
          closed = true;
          close_text = action.text;
          refusal = action.refusal;
          break;
        case ActionKind::notice:
          notices.push_back({action.notice, action.seq, std::string{action.text}, action.count});
          break;
      }
    }
  }

  std::vector<char> output_;
  std::string input_;
  MessageView message_;
  MessageView queued_;
  MessageView replayed_;
};

}  // namespace nfx::test
