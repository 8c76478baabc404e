// Decides who may log on: takes each connection until its Logon has come and gives it to the session that it names, to
// one that a template makes, or to the gateway that owns that session; or refuses it.
// Thread: one owner, the poll thread. Cost: nothing after a Logon; the session of a template is allocated here. Errors:
// none but listen()'s; a refused connection is closed, counted and reported. Bounds: LogonGate's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/handed_on.hpp"
#include "engine/logon_gate.hpp"
#include "engine/loop_commands.hpp"
#include "engine/loop_context.hpp"
#include "session/logon_check.hpp"

namespace nfx {

class SessionTable;

class Admission {
 public:
  // All outlive it.
  Admission(LoopContext& loop, LoopCommands& commands, SessionTable& sessions);

  // Before start(): where connections go whose session another gateway owns. Without it they are refused.
  void hand_on_to(HandOnQueue& queue) noexcept { hand_on_ = &queue; }
  // Opens the listeners of the configuration. Throws ConfigError naming the address that failed.
  void start();
  // Listens at an acceptor's address, unless it is open.
  void listen(const SessionSettings& settings);
  // After the last session of its address.
  void close_unused(const SessionSettings& settings) noexcept;
  [[nodiscard]] std::optional<ListenerId> listener_at(const Endpoint& endpoint) const noexcept {
    return gate_.listener_at(endpoint);
  }
  // An acceptor or a template was added, or removed: updates the addresses that are allowed.
  void expect(const SessionSettings& settings) { gate_.expect(settings); }
  void forget(const SessionSettings& settings) noexcept { gate_.forget(settings); }
  [[nodiscard]] PeerAddresses& addresses() noexcept { return gate_.addresses(); }

  // A connection without a Logon; `index` is in its ConnectionOwner. Called before a TLS handshake, and when a
  // connection may send its Logon.
  [[nodiscard]] PeerStanding standing_of(ListenerId listener, std::string_view peer);
  void accept(ListenerId listener, ConnectionId id, std::string_view peer);
  void receive(std::uint32_t index, std::span<const char> bytes);
  void on_close(std::uint32_t index, std::string_view words);
  void handshake_failed(std::string_view peer, std::string_view why);
  // Those whose time is over, and refusals that were not reported individually.
  void expire();
  // When that is due; MonotonicTime::max() when nothing is.
  [[nodiscard]] MonotonicTime deadline() const noexcept { return gate_.deadline(); }
  void report_refusal(LogonRefusal refusal);
  void stop();  // refuses all

  // A session of another thread was opened for a Logon; or a connection is given to another gateway.
  void opened(LoopCommand& command);
  void hand_on(const LoopCommand& command);
  // The connection that a second Logon has waited for is gone, or is in use. The Logon is handled again in the next
  // iteration, or refused.
  void try_again(ConnectionId waiting);
  void logon_again(ConnectionId waiting);
  void challenge_failed(ConnectionId waiting, const SessionConfig& names);

  [[nodiscard]] PollLoopCounters counters() const noexcept { return gate_.counters(); }  // from any thread

 private:
  // The session that a Logon names. Null: the connection has to be closed, unless `pending` states that its Logon
  // waits.
  [[nodiscard]] SessionDriver* find_session(PendingLogon& pending);
  [[nodiscard]] SessionDriver* session_for_logon(const MessageView& logon, PendingLogon& pending);
  [[nodiscard]] bool may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                                bool is_new) noexcept;
  [[nodiscard]] LogonFault fault_of(const SessionConfig& config, const MessageView& logon);
  void challenge(SessionDriver& session, const MessageView& logon, PendingLogon& pending);
  void receive_rest(std::uint32_t index);

  [[nodiscard]] std::optional<SessionSettings> accepted_by_template(const MessageView& logon, PendingLogon& pending);
  void answer_refused(const SessionSettings& settings, const MessageView& logon, ConnectionId id);
  [[nodiscard]] SessionDriver* make_from_template(const MessageView& logon, PendingLogon& pending);
  [[nodiscard]] SessionDriver* begin_session(LoopCommand& command);

  [[nodiscard]] bool take_proxy_header(std::uint32_t index);
  SessionDriver* not_owned_here(const SessionSettings& settings, PendingLogon& pending);

  // States why no session could be made for it. The text is copied, and valid until the next Logon is refused so.
  void note_refusal(PendingLogon& pending, LogonRefusalReason reason, std::string_view text) noexcept;
  static void state_fault(PendingLogon& pending, const LogonFault& fault) noexcept {
    pending.refused = fault.reason;
    pending.refused_text = fault.text;
  }
  // Null, with the reason in `pending`.
  static SessionDriver* refuse_logon(PendingLogon& pending, LogonRefusalReason reason,
                                     SessionDriver* names = nullptr) noexcept;
  // Closes the connection, with a report. `logon` is its first message, where there is one.
  void refuse_pending(std::uint32_t index, LogonRefusalReason reason, const MessageView* logon = nullptr,
                      std::string_view text = {});
  void drop_pending(std::uint32_t index) noexcept;
  void report_refusal_counts(bool at_end);

  LoopContext& loop_;
  LoopCommands& commands_;
  SessionTable& sessions_;
  LogonGate gate_;
  MessageView message_;                             // a Logon
  HandOnQueue* hand_on_ = nullptr;                  // null: such connections are refused
  std::array<char, clock_text_size> fault_text_{};  // of the Logon that is being checked
  std::array<char, 256> refused_text_{};            // of the Logon that is being refused
};

}  // namespace nfx
