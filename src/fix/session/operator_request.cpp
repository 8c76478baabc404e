// Requests of an operator: each is checked first and changes nothing unless it is carried out.
#include "nexusfix/session/session.hpp"

#include <algorithm>

#include "session/step_check.hpp"

namespace nfx {
namespace {

[[nodiscard]] bool usable(const std::optional<SeqNum>& number, SeqNum limit) noexcept {
  return !number || (*number >= first_seq_num && *number < limit);
}

}  // namespace

std::string_view to_string(OperatorResult result) noexcept {
  switch (result) {
    case OperatorResult::done: return "done";
    case OperatorResult::nothing_to_do: return "already in that state";
    case OperatorResult::numbers_differ: return "the sequence numbers are not the expected ones; nothing was changed";
    case OperatorResult::bad_number: return "no such sequence number";
    case OperatorResult::would_end_session:
      return "while logged on, next out can only grow and next in can only fall: log out or drop the connection first";
    case OperatorResult::not_logged_on: return "the session is not logged on";
    case OperatorResult::not_now: return "a Logon, reset or Logout is under way: try again";
    case OperatorResult::settings_differ:
      return "the session's settings have changed since it was shown; nothing was changed";
    case OperatorResult::not_possible: return "FIX 4.0 has no ResetSeqNumFlag: log out first, then reset";
  }
  return "?";
}

bool Session::has_numbers(const NextNumbers& seen) const noexcept {
  return (!seen.in || *seen.in == next_in_) && (!seen.out || *seen.out == next_out_);
}

// Between a Logon that was sent and its answer, and after a Logout, messages under way use the current sequence
// numbers.
bool Session::numbers_may_change() const noexcept {
  return phase_ == Phase::disconnected || (phase_ == Phase::logged_on && !reset_sent_);
}

OperatorResult Session::set_numbers(const NextNumbers& wanted, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out, StepCheck::Step::set_numbers};
  if (!usable(wanted.in, seq_num_limit) || !usable(wanted.out, seq_num_limit)) return OperatorResult::bad_number;
  if (has_numbers(wanted) && !reset_asked()) return OperatorResult::nothing_to_do;
  if (!numbers_may_change()) return OperatorResult::not_now;
  if (phase_ == Phase::logged_on) {
    // The peer requests what was skipped, and gets a gap fill.
    if ((wanted.out && *wanted.out < next_out_) || (wanted.in && *wanted.in > next_in_))
      return OperatorResult::would_end_session;
    if (wanted.out) next_out_ = *wanted.out;
    if (wanted.in && *wanted.in < next_in_) receive_again(*wanted.in, now, out);
    return OperatorResult::done;
  }
  if (wanted.out) next_out_ = *wanted.out;
  if (wanted.in) next_in_ = *wanted.in;
  reset_out_ = {};  // these numbers are what counts
  reset_attempts_ = 0;
  return OperatorResult::done;
}

OperatorResult Session::request_again(SeqNum from, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out, StepCheck::Step::set_numbers};
  if (phase_ != Phase::logged_on) return OperatorResult::not_logged_on;
  if (reset_sent_) return OperatorResult::not_now;
  if (from < first_seq_num || from >= next_in_) return OperatorResult::bad_number;
  receive_again(from, now, out);
  return OperatorResult::done;
}

// The messages from `from` on are expected again. Messages queued behind a gap stay in the queue.
void Session::receive_again(SeqNum from, Instant now, Actions& out) noexcept {
  NFX_ASSERT(phase_ == Phase::logged_on && from < next_in_);
  const SeqNum wanted_to = std::max(gap_.wanted_to, previous(next_in_));
  next_in_ = from;
  gap_ = {};
  request_resend(wanted_to, now, out);
}

OperatorResult Session::reset_numbers(Instant now, Actions& out) noexcept {
  if (!numbers_may_change()) return OperatorResult::not_now;
  if (phase_ == Phase::disconnected) {
    if (next_in_ == first_seq_num && next_out_ == first_seq_num && !reset_asked()) return OperatorResult::nothing_to_do;
    start_over(out);
    return OperatorResult::done;
  }
  if (version_ < Version::fix41) return OperatorResult::not_possible;
  const StepCheck check{*this, out};
  // Messages under way belong to the numbers that end when the peer answers.
  forget_gaps();
  reset_out_ = first_seq_num;
  reset_probed_ = test_pending_ = false;
  send_logon(true, first_seq_num, now, out);
  if (phase_ == Phase::logged_on) phase_deadline_ = now.monotonic + config_.logon_timeout;
  return OperatorResult::done;
}

OperatorResult Session::test_peer(Instant now, Actions& out) noexcept {
  if (phase_ != Phase::logged_on) return OperatorResult::not_logged_on;
  if (test_pending_) return OperatorResult::nothing_to_do;
  const Duration interval = heartbeat_.count() != 0 ? Duration{heartbeat_} : Duration{config_.logon_timeout};
  probe(interval * std::max(config_.heartbeat_timeout_percent - config_.test_request_percent, 100U) / 100, now, out);
  return OperatorResult::done;
}

OperatorResult Session::hold_sending(bool held) noexcept {
  return std::exchange(sending_held_, held) == held ? OperatorResult::nothing_to_do : OperatorResult::done;
}

}  // namespace nfx
