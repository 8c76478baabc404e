// Owners of many sessions over one connection to the servers, for measuring and for tests.
// Thread: one. Cost: a step of an owner for each answer and record; deadlines are checked every few milliseconds.
// Errors: nats::NatsError when the servers cannot be reached; std::runtime_error when a session cannot be owned, or
// when another gateway has fenced one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nats/nats_stream.hpp"

namespace nfx::bench {

class SessionOwners {
 public:
  struct Session {
    std::string name;
    nats::SessionIndex index{};
    nfx::cluster::OwnerState state;
    bool owns = false;
    std::uint64_t released = 0;   // records, since it owns
    std::uint64_t published = 0;  // frames that were handed to the client, repeated ones too
    std::uint64_t recovered = 0;  // records of the replay
    std::uint64_t digest = 0;     // of the bytes of those records and of the ones appended, in their order
  };

  // `gateway` identifies this run; `options` are for each owner, without its ids.
  SessionOwners(const nats::NatsOptions& client, const std::vector<std::string>& names, nfx::cluster::GatewayId gateway,
                nfx::cluster::OwnerOptions options = {});

  // Owns all of them, after the leases of others have ended.
  void own_all(Duration most);

  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
  [[nodiscard]] const Session& session(std::size_t index) const { return sessions_[index]; }
  [[nodiscard]] bool has_space(std::size_t index, std::size_t bytes) const;
  // An outbound record with the next sequence number. With `more` it is of a group, which becomes one frame where it
  // fits into one.
  void append(std::size_t index, std::string_view bytes, bool more = false);
  void end_group(std::size_t index);

  // Takes the answers that have come; `on_release`(session, records released so far).
  template <class OnRelease>
  void poll(OnRelease&& on_release) {
    stream_.poll([&](nats::SessionIndex index, const nfx::cluster::Event& event) {
      const auto at = static_cast<std::size_t>(std::to_underlying(index));
      const std::uint64_t before = sessions_[at].released;
      give(sessions_[at], event);
      if (sessions_[at].released != before) on_release(at, sessions_[at].released);
    });
    check_deadlines();
  }
  // Blocks until there is an answer, or for this time.
  void wait(Duration most) { stream_.wait(most); }

  // Gives all sessions up, so that another gateway may own them immediately.
  void retire_all(Duration most);

 private:
  void give(Session& session, const nfx::cluster::Event& event);
  void check_deadlines();

  nats::NatsStream stream_;
  std::deque<Session> sessions_;
  MonotonicTime next_check_{};
  bool is_retiring_ = false;
};

}  // namespace nfx::bench
