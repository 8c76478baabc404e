// The requests of an application to its session, each a step of the session that the runner carries out.
#include "engine/live_session.hpp"

#include <algorithm>
#include <utility>

#include "base/call_trace.hpp"
#include "engine/session_runner.hpp"

namespace nfx {
namespace {

// A message is received when the journal has space for it and for its answer; a frame of a replica has less.
[[nodiscard]] std::size_t longest_received_of(const SessionSettings& settings, bool stored,
                                              std::size_t max_message_size) noexcept {
  if (!stored) return max_message_size;
  constexpr std::size_t of_frame = 128 * 1024, around = 64 * 1024;
  const std::size_t of_ring =
      (std::min<std::size_t>(settings.journal.ring_size, settings.journal.segment_size) - around) / 4;
  return std::min({max_message_size, of_ring, settings.is_replicated() ? of_frame : max_message_size});
}

}  // namespace

LiveSession::LiveSession(SessionRunner& owner, SessionStores& its_stores, LiveSessionOptions options)
    : runner(owner),
      stores(its_stores),
      settings(std::move(options.settings)),
      number(options.number),
      session(settings.session),
      store(stores.open(settings, options.now)),
      journal_store(store.journal()),
      stores_received(settings.store_received && journal_store != nullptr),
      version_key(settings.session.begin_string == "FIXT.1.1" ? 0 : Draft::version_key(settings.session.begin_string)),
      longest_sent(std::min(options.max_message_size, settings.send_buffer_size / 2)),
      longest_received(longest_received_of(settings, stores_received, options.max_message_size)),
      journal_room(answer_room + (stores_received ? longest_received : 0)),
      logon_rate(settings.max_logon_rate, std::uint64_t{10} * settings.max_logon_rate),
      memory({.send_buffer_size = settings.send_buffer_size, .max_message_size = options.max_message_size}),
      from_template(options.from_template) {
  session.restore(store.next_inbound(), store.next_outbound());
  reset_recorded = store.reset_asked();
  if (reset_recorded) session.restore_asked_reset();
  session.set_hook(this);
}

LiveSession::~LiveSession() {
  runner.recorder().count(runner.recorder().reading());
  runner.latencies().leave(book);
  discard_draft();
  stores.close(name, std::move(store));
}

Instant LiveSession::now() const noexcept { return runner.now(); }

std::optional<UtcTime> LiveSession::received_at() const noexcept { return runner.network().received_at(); }

// One step that sends, with its times.
template <class Event>
std::expected<SeqNum, SendError> LiveSession::send_step(Event&& event) noexcept {
  const bool timed = meter.on() && meter.times_next_send();
  const MonotonicTime began = timed ? meter.reading() : MonotonicTime{};
  auto sent = runner.step(*this, SessionRunner::admin_reserve, event);
  if (sent && meter.on()) {
    const bool in_message = runner.delivering() == this;
    const bool needs_time = timed || (!in_message && meter.group_is_empty());
    const MonotonicTime ended = needs_time ? meter.reading() : MonotonicTime{};
    if (timed) meter.send_timed(began, ended);
    in_message ? meter.sent_in_callback() : meter.sent(ended);
  }
  if (sent && journal_store != nullptr && journal_store->durability() == Durability::message) [[unlikely]] {
    if (!journal_store->wait_durable(journal_store->position())) return std::unexpected(SendError::store_failed);
  }
  return sent;
}

// Why a message of that size cannot be sent now, before its session is asked.
std::optional<SendError> LiveSession::cannot_send(std::size_t size) noexcept {
  if (!runner.loop_thread().is_this()) [[unlikely]]
    return SendError::wrong_thread;
  if (in_callback) return SendError::not_here;
  if (journal_store == nullptr) return std::nullopt;
  if (!journal_store->accepts(size)) [[unlikely]]
    return why_not_stored();
  if (size > longest_replicated && settings.is_replicated()) [[unlikely]]
    return SendError::too_long;
  return std::nullopt;
}

// The output has no space for the message: never, when nothing else is in it.
[[gnu::cold, gnu::noinline]] SendError LiveSession::why_no_room() noexcept {
  if (connection.out.empty()) return SendError::too_long;
  ++counts.send_refused;
  return SendError::would_block;
}

std::expected<SeqNum, SendError> LiveSession::do_send(const Outgoing& message) noexcept {
  NFX_TRACE();
  const std::size_t size = message.body.size() + message.header_fields.size() + header_room;
  if (const auto error = cannot_send(size)) [[unlikely]]
    return std::unexpected(*error);
  const auto sent = send_step([&](Actions& out) { return session.send(message, runner.now(), out); });
  if (!sent && sent.error() == SendError::would_block) [[unlikely]]
    return std::unexpected(why_no_room());
  return sent;
}

void LiveSession::begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields,
                              std::uint64_t version) noexcept {
  if (const auto error = cannot_send(header_room)) [[unlikely]]
    return draft.fail(*error);
  if (version != 0 && version != version_key && version_key != 0) [[unlikely]]
    return draft.fail(SendError::other_version);
  discard_draft();
  const std::span<char> room = runner.output_room(*this);
  const auto begun = session.begin(msg_type, header_fields, runner.now(), room, draft.encoder_);
  if (!begun) [[unlikely]]
    return draft.fail(begun.error());
  open_draft = &draft;
}

std::expected<SeqNum, SendError> LiveSession::send_draft(Draft& draft) noexcept {
  NFX_ASSERT(open_draft == &draft);
  open_draft = nullptr;  // the step below does not discard it
  Encoder& encoder = draft.encoder_;
  const auto result = [&]() -> std::expected<SeqNum, SendError> {
    if (!encoder.fields().ok()) [[unlikely]] {
      if (encoder.fields().fault().error != WriteError::no_space) return std::unexpected(SendError::bad_message);
      return std::unexpected(why_no_room());
    }
    if (const auto error = cannot_send(encoder.fields().size() + header_room)) [[unlikely]]
      return std::unexpected(*error);
    return send_step([&](Actions& out) { return session.finish(encoder, runner.now(), out); });
  }();
  draft.fail(result ? SendError::discarded : result.error());
  return result;
}

void LiveSession::end_draft(Draft& draft) noexcept {
  NFX_ASSERT(open_draft == &draft);
  open_draft = nullptr;
}

void LiveSession::flush() noexcept {
  NFX_REQUIRE(runner.loop_thread().is_this());
  discard_draft();
  if (!in_callback) runner.flush(runner.network(), *this);
}

std::expected<SeqNum, SendError> LiveSession::do_reject_business(const MessageView& refused,
                                                                 BusinessRejectReason reason,
                                                                 std::string_view text) noexcept {
  if (const auto error = cannot_send(text.size() + 2 * header_room)) [[unlikely]]
    return std::unexpected(*error);
  return runner.step(*this, 0,
                     [&](Actions& out) { return session.reject_business(refused, reason, text, runner.now(), out); });
}

void LiveSession::logout(std::string_view text) noexcept {
  NFX_REQUIRE(runner.loop_thread().is_this());
  if (in_callback) return;
  enabled = false;
  const bool unkept = journal_store != nullptr && !runner.can_record_numbers(*this);
  if (unkept) ends_because = EndReason::store;
  if (connection.connecting || unkept) return drop_connection();
  reconnect.cancel();
  runner.rearm(*this);
  runner.step(*this, 0, [&](Actions& out) { session.logout(text, runner.now(), out); });
}

void LiveSession::logon() noexcept {
  NFX_REQUIRE(runner.loop_thread().is_this());
  if (in_callback) return;
  callback_failed = false;
  if (std::exchange(enabled, true) || is_acceptor()) return;
  // A connection whose Logout is still under way is followed by the next one when it ends.
  if (connection.exists()) return;
  reconnect.connect_at(runner.now().monotonic);
  runner.apply_schedule(*this);
  runner.rearm(*this);
}

void LiveSession::reset_sequence_numbers() noexcept {
  NFX_REQUIRE(runner.loop_thread().is_this());
  if (in_callback) return;
  if (!session.logged_on()) return;
  runner.step(*this, 0, [&](Actions& out) {
    // FIX 4.0 has no such reset, which is a notice.
    if (session.reset_numbers(runner.now(), out) == OperatorResult::not_possible)
      session.reset_sequence_numbers(runner.now(), out);
  });
  note_logon();
}

void LiveSession::drop_connection() noexcept {
  NFX_REQUIRE(runner.loop_thread().is_this());
  if (in_callback || !connection.exists()) return;
  if (ends_because == EndReason::none) ends_because = EndReason::dropped;
  connection.out = SendGate{memory.output()};
  runner.close_connection(*this);
  if (connection.connecting) return runner.detach(*this);  // the session was not given this connection yet
  runner.step(*this, 0, [&](Actions& out) { session.on_disconnect({}, runner.now(), out); });
}

void LiveSession::on_sending(SessionMessage& message) noexcept {
  Authenticator* const authenticator = runner.authenticator();
  if (authenticator == nullptr) return;
  in_callback = true;
  try {
    authenticator->on_session_message_sending(*this, message);
  } catch (...) {
    message.cancel("internal error");  // a Logon without what the program computes is not sent
    runner.callback_threw(*this, "on_session_message_sending");
  }
  in_callback = false;
}

// The journal does not accept a message now.
[[gnu::cold, gnu::noinline]] SendError LiveSession::why_not_stored() noexcept {
  ++counts.send_refused;
  switch (journal_store->condition()) {
    case StoreCondition::good:
    case StoreCondition::busy: return SendError::would_block;
    case StoreCondition::full:
      if (!store_trouble) runner.check_stores_soon();
      return SendError::store_full;
    case StoreCondition::failed: return SendError::store_failed;
  }
  return SendError::would_block;
}

}  // namespace nfx
