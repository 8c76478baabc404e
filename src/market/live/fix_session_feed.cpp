// Callbacks of the engine as inputs of the handler.
#include "nexusfix/live/fix_handler.hpp"

#include <algorithm>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::market {

void make_room_for_snapshots(EngineConfig& config) {
  config.max_fields = std::max<std::uint32_t>(config.max_fields, 32768);
  config.max_message_size = std::max<std::size_t>(config.max_message_size, 1u << 20);
  for (SessionSettings& each : config.sessions)
    each.send_buffer_size = std::max(each.send_buffer_size, 2 * config.max_message_size);
}

bool FixSessionPorts::send(std::uint16_t, std::string_view body) noexcept {
  return session_ != nullptr && session_->send({.msg_type = "V", .body = body}).has_value();
}

FeedInput FixSessionFeed::input(InputKind kind, UtcTime at, std::string_view bytes) const noexcept {
  return {kind, StampSource::program, FixLines::session, connection_, at, bytes};
}

void FixSessionFeed::take(const FeedInput& given) {
  ++counters_.inputs;
  if (recorder_ != nullptr) record(*recorder_, given);
  handler_.take(given);
  note_state();
}

void FixSessionFeed::on_logon(SessionHandle& session) {
  ports_.use(&session);
  ++connection_;
  logged_on_ = true;
  take(input(InputKind::opened, session.now().utc));
}

Handled FixSessionFeed::on_message(SessionHandle& session, const MessageView& message) {
  FeedInput received = input(InputKind::received, session.now().utc, message.bytes());
  if (const auto stamp = session.received_at()) {
    received.at = *stamp;
    received.stamp = StampSource::kernel;
  }
  ++counters_.inputs;
  if (recorder_ != nullptr) record(*recorder_, received);
  handler_.take(received, message);
  lag_.update(books_.newest(), session.now().utc, counters_);
  note_state();
  return Handled::done;
}

void FixSessionFeed::on_logout(SessionHandle& session, std::string_view reason) {
  reason_ = reason;
  if (!logged_on_) return;  // a Logon that was refused
  logged_on_ = false;
  ports_.use(nullptr);
  take(input(InputKind::closed, session.now().utc));
}

Duration FixSessionFeed::on_turn(Instant now) {
  if (FeedClock::of(now.utc) >= handler_.due_at()) {
    ++counters_.clock_inputs;
    take(input(InputKind::clock, now.utc));
  }
  const MonotonicTime due = handler_.due_at();
  if (due == MonotonicTime::max()) return Duration::max();
  return std::max(due - FeedClock::of(now.utc), Duration::zero());
}

void FixSessionFeed::note_state() noexcept {
  const bool live = state() == FeedState::live;
  if (live == live_) [[likely]]
    return;
  ++(live ? counters_.became_live : counters_.stopped_live);
  live_ = live;
}

}  // namespace nfx::market
