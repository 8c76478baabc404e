// A connection to nats-servers, and what both users of it need: an owner's client, and what an operator does.
// Thread: one, but for what libnats calls. Errors: NatsError, with the address, and what to change.
#pragma once

#include <nats/nats.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/nats/nats_stream.hpp"

namespace nfx::nats {

using Json = nlohmann::json;

struct Destroy {
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

// Its subscriptions end with it, and not before: libnats 3.4 writes into one that is destroyed while its message is
// received. Closing the connection ends the thread that receives.
struct NatsStream::Connection {
  // To any of the servers; to leave one, to the first that answers of those after it, and of itself at last.
  explicit Connection(const NatsOptions& with, const std::string& leaving = {});
  ~Connection() { natsConnection_Close(handle.get()); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // An operator's request and its answer.
  [[nodiscard]] Json ask(const std::string& subject, const Json& body);
  // Gives each message that a direct get of the stream returns.
  void read_batch(const std::string& stream, const Json& request, const std::function<void(natsMsg*)>& each);
  [[nodiscard]] std::string where() const;   // the addresses, without users and passwords
  [[nodiscard]] std::string server() const;  // the address of the one that it is connected to; empty: none
  [[nodiscard]] std::int64_t timeout_ms() const;

  const NatsOptions options;
  Owned<natsConnection> handle;
  std::vector<Owned<natsSubscription>> subscriptions;
  std::string batch_inbox;                    // of all reads; empty before the first one
  natsSubscription* batch_answers = nullptr;  // to it
  std::uint64_t batches = 0;
};

void require(natsStatus status, const std::string& what);
[[nodiscard]] std::string new_inbox();
[[nodiscard]] bool is_token(std::string_view name);

// Of a message.
[[nodiscard]] std::uint64_t number_of(std::string_view text);
[[nodiscard]] std::string_view data_of(const natsMsg* message);
[[nodiscard]] std::string_view header_of(natsMsg* message, const char* key);

// What no server answers is an object without members.
[[nodiscard]] Json json_of(std::string_view text);
[[nodiscard]] std::uint64_t number_in(const Json& json, const char* key);
[[nodiscard]] std::string text_in(const Json& json, const char* key);
[[nodiscard]] Json object_in(const Json& json, const char* key);
// The answer to a publish whose expected last sequence is another one.
[[nodiscard]] bool is_wrong_last_sequence(const Json& answer);

}  // namespace nfx::nats
