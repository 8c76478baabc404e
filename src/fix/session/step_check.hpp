// Conditions that hold before and after every step of a session, whatever the event: checked in one place, so that no
// function of the step has to prove them. Debug, sanitizer and fuzz builds only; empty in others.
#pragma once

#include "nexusfix/base/assert.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx {

#ifdef NDEBUG

class StepCheck {
 public:
  enum class Step : std::uint8_t { event, timer, replay, set_numbers };
  explicit StepCheck(const Session&, const Actions&, Step = Step::event, MonotonicTime = {}) noexcept {}
  ~StepCheck() {}  // not trivial: otherwise the compiler reports an unused variable
};

#else

// Made at the start of a step; its destructor checks the step.
class StepCheck {
 public:
  enum class Step : std::uint8_t { event, timer, replay, set_numbers };

  explicit StepCheck(const Session& session, const Actions& out, Step step = Step::event,
                     MonotonicTime timer_at = {}) noexcept
      : session_(session),
        out_(out),
        step_(step),
        timer_at_(timer_at),
        phase_(session.phase_),
        next_in_(session.next_in_),
        next_out_(session.next_out_),
        reset_asked_(session.reset_asked()),
        actions_(out.list().size()) {
    check_state();
  }
  StepCheck(const StepCheck&) = delete;
  StepCheck& operator=(const StepCheck&) = delete;
  ~StepCheck() {
    check_phase();
    check_sequence_numbers();
    check_state();
    NFX_ASSERT(step_ == Step::replay || new_actions().size() <= Actions::most_per_event);
    NFX_ASSERT(step_ != Step::timer || session_.next_deadline() > timer_at_);  // or the caller would never wait
  }

 private:
  [[nodiscard]] std::span<const Action> new_actions() const noexcept { return out_.list().subspan(actions_); }

  // A session logs on only from a connection that awaits a Logon, and reports the end of a connection.
  void check_phase() const noexcept {
    const Phase phase = session_.phase_;
    if (phase == phase_) return;
    NFX_ASSERT(phase != Phase::awaiting_logon || phase_ == Phase::disconnected);
    NFX_ASSERT(phase != Phase::logged_on || phase_ == Phase::awaiting_logon);
    NFX_ASSERT(phase != Phase::logout_sent || phase_ != Phase::disconnected);
    bool logged_on = false, disconnected = false;
    for (const Action& action : new_actions()) {
      logged_on |= action.kind == ActionKind::logged_on;
      disconnected |= action.kind == ActionKind::disconnect;
    }
    NFX_ASSERT(phase != Phase::logged_on || logged_on);
    NFX_ASSERT((phase == Phase::disconnected) == disconnected || phase_ == Phase::disconnected);
  }

  // Within an epoch the inbound number only grows, and the outbound number grows by one for every message that is not a
  // resend. An epoch ends with reset_store.
  void check_sequence_numbers() const noexcept {
    if (step_ == Step::set_numbers) return;  // an operator may set any
    SeqNum expected = next_out_;
    bool reset = false;
    const bool asked = reset_asked_ || session_.reset_asked();
    for (const Action& action : new_actions()) {
      if (action.kind == ActionKind::reset_store) {
        expected = first_seq_num;
        reset = true;
      } else if (asked) {
        NFX_ASSERT(!action.resent);
      } else if (action.kind == ActionKind::send) {
        NFX_ASSERT(action.seq != SeqNum{} && action.seq <= expected);
        NFX_ASSERT(action.seq < expected || !action.resent);
        if (action.seq == expected) expected = next(expected);
      }
    }
    // Until the peer answers a reset, sent messages have the numbers after it.
    if (reset_asked_ || session_.reset_asked()) return NFX_ASSERT(reset || session_.next_in_ >= next_in_);
    // A peer that resets while it answers our Logon may have counted that Logon.
    NFX_ASSERT(session_.next_out_ == expected || (reset && session_.next_out_ == next(first_seq_num)));
    NFX_ASSERT(reset || session_.next_in_ >= next_in_);
  }

  // The invariants between steps.
  void check_state() const noexcept {
    const Session& s = session_;
    NFX_ASSERT(s.next_in_ >= first_seq_num && s.next_out_ >= first_seq_num);
    NFX_ASSERT(s.pending_replay_count_ <= Session::max_pending_replays);
    NFX_ASSERT(s.pending_replay_count_ == 0 || s.replaying());
    if (s.replaying()) check_range(s.replay_);
    for (std::size_t i = 0; i < s.pending_replay_count_; ++i) check_range(s.pending_replays_[i]);
    NFX_ASSERT(s.replay_.gap_begin <= s.replay_.next);
    NFX_ASSERT(s.gap_.requested_to <= s.gap_.wanted_to && s.gap_.progress <= s.next_in_);
    NFX_ASSERT(!s.test_pending_ || s.phase_ == Phase::logged_on || s.phase_ == Phase::logout_sent);
    NFX_ASSERT(s.peer_appl_ver_id_ <= appl_ver_id_count);
    if (s.phase_ == Phase::awaiting_logon || s.phase_ == Phase::logout_sent) {
      NFX_ASSERT(s.phase_deadline_ != MonotonicTime::max());  // neither waits for ever
    }
    NFX_ASSERT(s.phase_ != Phase::logged_on || s.reset_sent_ || !s.reset_asked());
    NFX_ASSERT(s.phase_ != Phase::logged_on || (s.phase_deadline_ != MonotonicTime::max()) == s.reset_sent_);
    if (s.phase_ != Phase::disconnected) return;
    NFX_ASSERT(s.queue_.empty() && s.gap_.requested_to == SeqNum{} && !s.replaying());
    NFX_ASSERT(s.phase_deadline_ == MonotonicTime::max() && !s.reset_sent_ && !s.violated_);
    NFX_ASSERT(s.logon_beyond_gap_ == SeqNum{} && s.answered_beyond_gap_ == SeqNum{});
  }

  // Only messages that were sent can be resent.
  void check_range(const Session::Range& range) const noexcept {
    NFX_ASSERT(range.next >= first_seq_num && range.next <= range.last);
    NFX_ASSERT(range.last < session_.next_out_);
  }

  const Session& session_;
  const Actions& out_;
  const Step step_;
  const MonotonicTime timer_at_;
  const Phase phase_;
  const SeqNum next_in_;
  const SeqNum next_out_;
  const bool reset_asked_;
  const std::size_t actions_;
};

#endif

}  // namespace nfx
