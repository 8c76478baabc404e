// Timers and the end of a connection: heartbeats, TestRequest, repeated ResendRequests and timeouts.
#include "nexusfix/session/session.hpp"

#include <algorithm>

#include "base/enumerator_name.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/step_check.hpp"

namespace nfx {

static_assert(std::ranges::all_of(fix_versions,
                                  [](const FixVersion& each) {
                                    std::size_t id = 0;
                                    for (const char digit : each.appl_ver_id)
                                      id = 10 * id + static_cast<std::size_t>(digit - '0');
                                    return id < appl_ver_id_count;
                                  }),
              "the array of dictionaries has a place for every version");

static_assert(
    [] {
      for (std::size_t i = 0; i < logon_refusal_rows.size(); ++i) {
        const LogonRefusalRow& row = logon_refusal_rows[i];
        if (static_cast<std::size_t>(row.reason) != i || !row.help.ends_with('.')) return false;
        if (row.text.empty() != (row.reason == LogonRefusalReason::none)) return false;
        if ((row.counter == nullptr) != (row.reason == LogonRefusalReason::none)) return false;
        if (&*std::ranges::find(logon_refusal_rows, row.text, &LogonRefusalRow::text) != &row) return false;
      }
      return true;
    }(),
    "each reason has its own text and a help");

static_assert(
    [] {
      for (std::size_t i = 0; i < notice_rows.size(); ++i) {
        const NoticeRow& row = notice_rows[i];
        if (static_cast<std::size_t>(row.notice) != i || !row.help.ends_with('.')) return false;
        if (row.text.empty() != (row.notice == Notice::none)) return false;
        if (&*std::ranges::find(notice_rows, row.text, &NoticeRow::text) != &row) return false;
      }
      return true;
    }(),
    "each notice has its own text and a help");

std::string_view to_string(Role role) noexcept { return enumerator_name(role); }

std::string_view to_string(Environment environment) noexcept {
  switch (environment) {
    case Environment::unspecified: return "none";
    case Environment::test: return "test";
    case Environment::production: return "production";
  }
  return "?";
}

std::string_view to_string(ThrottleAction action) noexcept { return enumerator_name(action); }

std::string_view to_string(Ending ending) noexcept {
  switch (ending) {
    case Ending::logout: return "logged out";
    case Ending::peer_logout: return "logged out by the peer";
    case Ending::lost: return "connection lost";
    case Ending::silent: return "the peer is silent";
    case Ending::no_answer: return "no answer";
    case Ending::refused: return "refused by the peer";
    case Ending::failed: return "failed";
  }
  return "?";
}

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::disconnected: return "disconnected";
    case Phase::awaiting_logon: return "awaiting Logon";
    case Phase::logged_on: return "logged on";
    case Phase::logout_sent: return "awaiting Logout";
  }
  return "?";
}

std::string_view to_string(SendError error) noexcept {
  switch (error) {
    case SendError::not_logged_on: return "the session is not logged on";
    case SendError::store_full: return "the message store is full: free space on its disk";
    case SendError::store_failed: return "the message store has failed: see the notice, then restart";
    case SendError::would_block:
      return "no space now: the peer does not read fast enough, or the journal waits for its disk";
    case SendError::on_hold: return "an operator holds sending: 'nfx session release' ends that";
    case SendError::resetting: return "a reset of the sequence numbers is not answered yet: send again when it is";
    case SendError::too_long: return "the message is longer than the send buffer: raise send_buffer_size";
    case SendError::bad_message:
      return "no application message type, a field that could not be written, or no SOH at the end";
    case SendError::incomplete: return "a required field of the message is missing";
    case SendError::other_version: return "the message is of another FIX version than the session";
    case SendError::not_here: return "this callback must not use the session";
    case SendError::wrong_thread: return "not the session's poll thread: Engine::submit sends from other threads";
    case SendError::discarded:
      return "the draft is over: it was sent or given up, or the session sent or received another message";
  }
  return "?";
}

Session::Session(const SessionConfig& config)
    : config_(config),
      version_(session_rules(config.begin_string)),
      composer_(config_),
      queue_(config.max_queued_messages, config.max_queued_bytes),
      heartbeat_(config.heartbeat_interval),
      throttles_{TokenBucket{config.throttle_rate, config.throttle_burst},
                 TokenBucket{config.throttle_rate, config.throttle_burst}},
      omits_from_store_(!config.store_omit_types.empty() || !config.store_omit_fields.empty()),
      invalid_(config.max_invalid_rate, std::uint64_t{10} * config.max_invalid_rate),
      resets_(config.max_resets_per_hour == 0 ? Duration::zero()
                                              : Duration{std::chrono::hours{1}} / config.max_resets_per_hour,
              config.max_resets_per_hour),
      resend_bucket_(config.resend_rate, 0),
      resend_budget_(config.repeated_resend_rate) {}

void Session::restore(SeqNum next_inbound, SeqNum next_outbound) noexcept {
  NFX_ASSERT(phase_ == Phase::disconnected);  // an open connection has its own numbers
  next_in_ = std::max(next_inbound, first_seq_num);
  next_out_ = std::max(next_outbound, first_seq_num);
}

// How many messages the last process sent after its Logon is unknown. More than it did: the peer has the rest
// gap-filled.
void Session::restore_asked_reset() noexcept {
  NFX_ASSERT(phase_ == Phase::disconnected);
  reset_out_ = SeqNum{64};
}

void Session::on_disconnect(std::string_view why, Instant, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ == Phase::disconnected) return;
  const bool ended = phase_ == Phase::logout_sent;
  if (ended) {
    why = "the peer closed the connection instead of answering Logout";
  } else if (why.empty() && phase_ == Phase::awaiting_logon) {
    why =
        "the connection ended before the peer answered Logon: many peers close it when CompIDs, password, address or "
        "sequence numbers are wrong";
  } else if (why.empty()) {
    why = "connection lost";
  }
  disconnect(why, ended ? Ending::logout : Ending::lost, out);
  if (ended && config_.reset_on_logout) reset_counters(out);
}

void Session::start_over(Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ != Phase::disconnected) return;
  reset_counters(out);
}

// HeartBtInt 0: the peer's silence alone is watched.
inline MonotonicTime Session::deadline_without_heartbeats(MonotonicTime due) const noexcept {
  if (test_pending_) return std::min(due, test_deadline_);
  const bool watched = config_.check_heartbeats && config_.idle_test_interval.count() != 0;
  return watched ? std::min(due, last_received_ + config_.idle_test_interval) : due;
}

[[gnu::no_stack_protector]] MonotonicTime Session::next_deadline() const noexcept {
  MonotonicTime due = phase_deadline_;
  if (phase_ != Phase::logged_on) return due;
  if (awaits_reset() && !reset_probed_) due -= config_.logon_timeout / 2;
  if (gap_.requested_to != SeqNum{}) due = std::min(due, gap_.retry_at);
  if (replay_held_until_ != MonotonicTime{}) due = std::min(due, replay_held_until_);
  if (heartbeat_.count() == 0) return deadline_without_heartbeats(due);
  const Duration interval = heartbeat_;
  if (test_pending_) return std::min(due, test_deadline_);
  due = std::min(due, last_sent_ + interval);
  return config_.check_heartbeats ? std::min(due, last_received_ + interval * config_.test_request_percent / 100) : due;
}

void Session::on_held(Instant now) noexcept {
  last_received_ = now.monotonic;
  test_pending_ = false;
}

void Session::on_timer(Instant now, Actions& out) noexcept {
  const MonotonicTime time = now.monotonic;
  const StepCheck check{*this, out, StepCheck::Step::timer, time};
  if (time >= phase_deadline_) {
    if (phase_ == Phase::awaiting_logon)
      return disconnect("no Logon within the timeout", Ending::no_answer, out, LogonRefusalReason::logon_timeout);
    if (phase_ == Phase::logged_on) {
      return disconnect("no answer to ResetSeqNumFlag=Y within the timeout", Ending::no_answer, out);
    }
    if (phase_ == Phase::logout_sent) {
      disconnect("no answer to Logout within the timeout", violated_ ? Ending::failed : Ending::logout, out);
      if (config_.reset_on_logout) reset_counters(out);
      return;
    }
  }
  if (phase_ != Phase::logged_on) return;
  if (awaits_reset() && !reset_probed_ && time >= phase_deadline_ - config_.logon_timeout / 2) {
    // Some peers reset without an answer: the number of whatever they send next shows it.
    reset_probed_ = true;
    if (!test_pending_) return send_test_request(phase_deadline_, now, out);
  }
  if (time >= replay_held_until_) replay_held_until_ = MonotonicTime{};

  if (gap_.requested_to != SeqNum{} && time >= gap_.retry_at) {
    if (next_in_ != gap_.progress) {
      gap_.progress = next_in_;
      gap_.attempts = 0;
      gap_.retry_at = time + config_.resend_timeout;
    } else if (gap_.attempts + 1 >= config_.max_resend_attempts) {
      return send_logout(resent_garbled_noted_ ? "resent messages have a wrong CheckSum"
                                               : "resend requested repeatedly without an answer",
                         now, out);
    } else {
      const SeqNum wanted_to = gap_.wanted_to;
      NFX_ASSERT(wanted_to >= next_in_);  // a filled gap is closed when the number that fills it is counted
      const std::uint32_t attempts = gap_.attempts + 1;
      gap_ = {.attempts = attempts};
      request_resend(wanted_to, now, out);
      if (phase_ != Phase::logged_on) return;
    }
  }

  if (test_pending_) {
    if (time >= test_deadline_) disconnect("the peer is silent: TestRequest unanswered", Ending::silent, out);
    return;
  }
  const bool heartbeats = heartbeat_.count() != 0;
  const Duration interval = heartbeats ? Duration{heartbeat_} : Duration{config_.idle_test_interval};
  if (heartbeats && time >= last_sent_ + interval && !send_session_message(msg_type::heartbeat, {}, {}, now, out))
    return;
  if (!config_.check_heartbeats || interval == Duration::zero()) return;
  const Duration silence = heartbeats ? interval * config_.test_request_percent / 100 : interval;
  const Duration to_answer =
      heartbeats ? interval * (config_.heartbeat_timeout_percent - config_.test_request_percent) / 100 : interval;
  // Counted from now, not from the last message: a delay of this thread must not shorten the peer's time to answer.
  if (time >= last_received_ + silence) send_test_request(time + to_answer, now, out);
}

void Session::send_test_request(MonotonicTime answer_by, Instant now, Actions& out) noexcept {
  std::array<char, 16> buffer;
  FieldWriter body{buffer};
  body.append(Tag::TestReqID, "TEST");
  if (!send_session_message(msg_type::test_request, {}, body.view(), now, out)) return;
  test_pending_ = true;
  test_deadline_ = answer_by;
}

void Session::probe(Duration answer_within, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ != Phase::logged_on) return;
  const MonotonicTime answer_by = now.monotonic + answer_within;
  if (test_pending_) {
    test_deadline_ = std::min(test_deadline_, answer_by);
  } else {
    send_test_request(answer_by, now, out);
  }
}

}  // namespace nfx
