// A live market data feed by a FIX session of an engine: the application whose callbacks are the feed's inputs. A
// program that also sends orders derives from it, or passes these callbacks on. Thread: the session's poll thread.
// Cost: that of FixHandler, and a copy per message while recording. Lifetime: handler, books and recorder outlive it.
// Errors: counters and state().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/engine/application.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx {
struct EngineConfig;
}

namespace nfx::market {

// Gives a configuration space for snapshots of whole books: fields, message size and send buffers.
void make_room_for_snapshots(EngineConfig& config);

// Where the handler's requests go: the session that is logged on.
class FixSessionPorts : public NoPorts {
 public:
  bool send(std::uint16_t line, std::string_view body) noexcept override;

  void use(SessionHandle* session) noexcept { session_ = session; }
  [[nodiscard]] SessionHandle* session() const noexcept { return session_; }  // null: it is not logged on

 private:
  SessionHandle* session_ = nullptr;
};

class FixSessionFeed : public Application {
 public:
  // `recorder` may be null. `ports` are those of the handler.
  FixSessionFeed(const LiveFeedOptions& options, FixSessionPorts& ports, FixHandler& handler, const FeedBooks& books,
                 Recorder* recorder)
      : ports_(ports), handler_(handler), books_(books), recorder_(recorder), lag_(options.lag_max) {}

  void on_logon(SessionHandle& session) override;
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  Duration on_turn(Instant now) override;

  [[nodiscard]] FeedState state() const noexcept {
    const FeedState state = handler_.state();
    return state == FeedState::live && lag_.outdated() ? FeedState::stale : state;
  }
  [[nodiscard]] const FeedLag& lag() const noexcept { return lag_; }
  [[nodiscard]] const LiveCounters& counters() const noexcept { return counters_; }
  // Why the session ended last, as its Logout has it.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  [[nodiscard]] FeedInput input(InputKind kind, UtcTime at, std::string_view bytes = {}) const noexcept;
  void take(const FeedInput& input);
  void note_state() noexcept;

  FixSessionPorts& ports_;
  FixHandler& handler_;
  const FeedBooks& books_;
  Recorder* recorder_;
  FeedLag lag_;
  LiveCounters counters_;
  std::uint32_t connection_ = 0;
  bool logged_on_ = false;
  bool live_ = false;
  std::string reason_;
};

}  // namespace nfx::market
