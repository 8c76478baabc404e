// A connection to one of several nats-servers, and what both users of it need: an owner's client, and what an operator
// does. Thread: one, but for what libnats calls. Errors: NatsError, with the address, and what to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nats/link.hpp"
#include "nats/nats_stream.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::nats {

using Json = nlohmann::json;

// To one of the servers. One that is lost or left is followed by the next one that answers.
struct NatsStream::Connection {
  using Use = std::function<void(Link&)>;  // subscribes

  // Connects, in an order of chance; NatsError when a server refuses, NatsTimeout when none answers.
  Connection(const NatsOptions& with, Use use);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Continues with connecting, where that is necessary. Does not block.
  void tend();
  // Connects where the server is lost; NatsError when none answers until then.
  Link& open(MonotonicTime until);
  // tend() connects to another server. This one remains until then, and where no other one answers.
  void leave() { leaves_ = true; }
  [[nodiscard]] bool leaves() const { return leaves_; }
  [[nodiscard]] const Link& link() const { return *link_; }  // lost or not

  // An operator's request and its answer.
  [[nodiscard]] Json ask(const std::string& subject, const Json& body);
  // Gives each message that a direct get of the stream returns.
  void read_batch(const std::string& stream, const Json& request, const std::function<void(natsMsg*)>& each);
  [[nodiscard]] std::string where() const;  // the addresses, without users and passwords
  [[nodiscard]] std::int64_t timeout_ms() const;

  const NatsOptions options;

 private:
  void begin_attempt();
  void end_attempt();
  void note_failure(const std::string& text, bool is_telling);

  const Use use_;
  std::vector<std::string> urls_;
  std::size_t next_ = 0;  // of urls_, to connect to
  std::unique_ptr<Link> link_;
  std::unique_ptr<Attempt> attempt_;
  bool leaves_ = false;
  // Since a connection was wanted.
  std::size_t failures_ = 0;
  std::string failure_;
  bool refused_ = false;  // by a server, or by a file: that does not pass by itself
  MonotonicTime attempt_at_{};
};

[[nodiscard]] std::string new_inbox();
[[nodiscard]] bool is_token(std::string_view name);

// The number in a message's header or data.
[[nodiscard]] std::uint64_t number_of(std::string_view text);
[[nodiscard]] std::string_view data_of(const natsMsg* message);
[[nodiscard]] std::string_view header_of(natsMsg* message, const char* key);

// An object without members for text that no server sends, and for JSON nested deeper than 64 levels.
[[nodiscard]] Json json_of(std::string_view text);
[[nodiscard]] std::uint64_t number_in(const Json& json, const char* key);
[[nodiscard]] std::string text_in(const Json& json, const char* key);
[[nodiscard]] Json object_in(const Json& json, const char* key);
// The answer to a publish whose expected last sequence is another one.
[[nodiscard]] bool is_wrong_last_sequence(const Json& answer);

}  // namespace nfx::nats
