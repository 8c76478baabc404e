// Takes the place of two functions of libnats.
#ifdef NFX_WITH_NATS
#include "nats/checked_input.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <string_view>

#include "nats/server_bytes.hpp"

namespace nfx::nats {
namespace {

std::atomic<bool> checked{false};

// A connection has its own thread, and does not reconnect.
struct Reading {
  const natsConnection* connection = nullptr;
  ServerBytes bytes;
};
thread_local Reading reading;

struct Connecting {
  bool active = false;
  natsStatus failed = NATS_OK;
  std::size_t bytes = 0;
};
thread_local Connecting connecting;
constexpr std::size_t connecting_bytes_max = std::size_t{128} << 10;

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

using Parse = natsStatus(natsConnection*, char*, int);
using Read = natsStatus(void*, char*, std::size_t, int*);

natsStatus parse(natsConnection* connection, char* bytes, int size) {
  static Parse* const of_libnats = next<Parse>("natsParser_Parse");
  if (of_libnats == nullptr || size < 0) return NATS_PROTOCOL_ERROR;
  if (reading.connection != connection) reading = {connection, {}};
  checked.store(true, std::memory_order_relaxed);
  if (!reading.bytes.take({bytes, static_cast<std::size_t>(size)})) return NATS_PROTOCOL_ERROR;
  return of_libnats(connection, bytes, size);
}

natsStatus read(void* socket, char* bytes, std::size_t most, int* got) {
  static Read* const of_libnats = next<Read>("natsSock_Read");
  if (of_libnats == nullptr) return NATS_IO_ERROR;
  if (!connecting.active) return of_libnats(socket, bytes, most, got);
  if (connecting.failed != NATS_OK) return NATS_CONNECTION_CLOSED;
  const natsStatus status = of_libnats(socket, bytes, most, got);
  if (status != NATS_OK) {
    connecting.failed = status;
    return status;
  }
  connecting.bytes += got != nullptr ? static_cast<std::size_t>(*got) : most;
  if (connecting.bytes > connecting_bytes_max) connecting.failed = NATS_PROTOCOL_ERROR;
  return NATS_OK;
}

}  // namespace

bool input_is_checked() noexcept { return checked.load(std::memory_order_relaxed); }

ConnectingThread::ConnectingThread() noexcept { connecting = {.active = true}; }
ConnectingThread::~ConnectingThread() { connecting = {}; }

natsStatus ConnectingThread::status_of(natsStatus status) const noexcept {
  return status != NATS_OK && connecting.failed == NATS_TIMEOUT ? NATS_TIMEOUT : status;
}

}  // namespace nfx::nats

// NOLINTBEGIN(readability-identifier-naming,misc-use-internal-linkage): the names of libnats
extern "C" {
[[gnu::visibility("default"), gnu::used]] natsStatus natsParser_Parse(natsConnection* connection, char* bytes,
                                                                      int size) {
  return nfx::nats::parse(connection, bytes, size);
}
[[gnu::visibility("default"), gnu::used]] natsStatus natsSock_Read(void* socket, char* bytes, std::size_t most,
                                                                   int* got) {
  return nfx::nats::read(socket, bytes, most, got);
}
}
// NOLINTEND(readability-identifier-naming,misc-use-internal-linkage)
#endif
