// Data that waits for a peer, and its limit.
#include "publish/stream_server.hpp"

#include <stdexcept>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {
namespace {

EpollOptions epoll_options(const StreamServerOptions& options) {
  EpollOptions made;
  made.max_connections = 2 * options.connections;
  made.max_listeners = 1;
  return made;
}

}  // namespace

StreamServer::StreamServer(const StreamServerOptions& options)
    : options_(options), plain_(epoll_options(options)), transport_(plain_) {
  const auto listening = transport_.listen(options.listen, options.socket);
  if (!listening) throw std::runtime_error(listening.error().text());
  port_ = transport_.local_endpoint(*listening)->port;
}

StreamServer::Connection* StreamServer::find(ConnectionId id) noexcept {
  const std::size_t slot = slot_of(id);
  if (slot >= connections_.size() || connections_[slot].id != id) return nullptr;
  return &connections_[slot];
}

bool StreamServer::is_open(ConnectionId id) noexcept {
  const Connection* const connection = find(id);
  return connection != nullptr && !connection->closing;
}

void StreamServer::add(ConnectionId id) {
  const std::size_t slot = slot_of(id);
  if (slot >= connections_.size()) connections_.resize(slot + 1);
  connections_[slot] = {};
  connections_[slot].id = id;
  ++count_;
}

bool StreamServer::remove(ConnectionId id) noexcept {
  Connection* const connection = find(id);
  if (connection == nullptr) return false;
  const bool report = !connection->closing;
  if (connection->sent < connection->unsent.size()) --waiting_;
  *connection = {};
  NFX_ASSERT(count_ > 0);
  --count_;
  return report;
}

bool StreamServer::send(ConnectionId id, std::string_view bytes) {
  Connection* const connection = find(id);
  if (connection == nullptr || connection->closing) return false;
  const bool waits = connection->sent < connection->unsent.size();
  if (!waits) {
    const SendResult result = transport_.try_send(id, bytes);
    if (result.closed) return false;  // on_close follows
    if (result.sent == bytes.size()) return true;
    bytes.remove_prefix(result.sent);
    connection->unsent.clear();
    connection->sent = 0;
    ++waiting_;
  }
  if (connection->unsent.size() - connection->sent + bytes.size() > options_.unsent) {
    ++slow_peers_;
    --waiting_;
    connection->unsent.clear();
    connection->sent = 0;
    transport_.close(id);
    remove(id);
    dropped_.push_back(id);
    return false;
  }
  if (connection->sent > options_.unsent) connection->unsent.erase(0, std::exchange(connection->sent, 0));
  connection->unsent += bytes;
  return true;
}

void StreamServer::send_waiting(ConnectionId id) {
  Connection* const connection = find(id);
  if (connection == nullptr || connection->sent == connection->unsent.size()) return;
  const SendResult result = transport_.try_send(id, std::string_view{connection->unsent}.substr(connection->sent));
  connection->sent += result.sent;
  if (connection->sent < connection->unsent.size()) return;
  --waiting_;
  connection->unsent.clear();
  connection->sent = 0;
  if (!connection->closing) return;
  transport_.close(id);
  remove(id);
}

void StreamServer::close(ConnectionId id) noexcept {
  Connection* const connection = find(id);
  if (connection == nullptr) return;
  connection->closing = true;
  if (connection->sent < connection->unsent.size()) return;  // send_waiting() closes it
  transport_.close(id);
  remove(id);
}

}  // namespace nfx::market
