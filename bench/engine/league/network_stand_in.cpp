// A stand-in for the network, preloaded into an engine: what it sends on a TCP connection is copied to memory, as bytes
// are handed to a network card without the kernel. It begins with the first send of at least NFX_LEAGUE_FROM bytes; the
// shorter Logon goes through the kernel. The memory is the file NFX_LEAGUE_BYTES, of NFX_LEAGUE_ROOM bytes: the number
// of bytes kept, and the bytes. Thread: any, but one sends at a time.
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

std::size_t room = 0;
char* kept = nullptr;
int taken = -1;  // the descriptor whose bytes are kept

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets any
const char* setting(const char* name) { return std::getenv(name); }

bool takes_first(int fd, std::size_t size) {
  static const char* const from = setting("NFX_LEAGUE_FROM");
  if (from == nullptr || taken >= 0 || size < std::strtoull(from, nullptr, 10)) return false;
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return false;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return false;
  room = std::strtoull(setting("NFX_LEAGUE_ROOM"), nullptr, 10);
  const int file = ::open(setting("NFX_LEAGUE_BYTES"), O_RDWR | O_CLOEXEC);
  void* const memory = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) std::abort();
  kept = static_cast<char*>(memory);
  taken = fd;
  return true;
}

bool takes(int fd, std::size_t size) { return fd == taken || takes_first(fd, size); }

ssize_t keep(const void* bytes, std::size_t size) {
  auto& used = *reinterpret_cast<std::uint64_t*>(kept);
  if (sizeof used + used + size > room) std::abort();
  std::memcpy(kept + sizeof used + used, bytes, size);
  used += size;
  return static_cast<ssize_t>(size);
}

std::size_t size_of(const iovec* parts, std::size_t count) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += parts[i].iov_len;
  return size;
}

ssize_t keep(const iovec* parts, std::size_t count) {
  ssize_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += keep(parts[i].iov_base, parts[i].iov_len);
  return size;
}

}  // namespace

extern "C" {

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  if (takes(fd, size)) return keep(bytes, size);
  static const auto real = next<decltype(&::send)>("send");
  return real(fd, bytes, size, flags);
}

ssize_t sendto(int fd, const void* bytes, size_t size, int flags, const sockaddr* to, socklen_t length) {
  if (takes(fd, size)) return keep(bytes, size);
  static const auto real = next<decltype(&::sendto)>("sendto");
  return real(fd, bytes, size, flags, to, length);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (takes(fd, size_of(message->msg_iov, message->msg_iovlen))) return keep(message->msg_iov, message->msg_iovlen);
  static const auto real = next<decltype(&::sendmsg)>("sendmsg");
  return real(fd, message, flags);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (takes(fd, size)) return keep(bytes, size);
  static const auto real = next<decltype(&::write)>("write");
  return real(fd, bytes, size);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  const auto number = static_cast<std::size_t>(count);
  if (takes(fd, size_of(parts, number))) return keep(parts, number);
  static const auto real = next<decltype(&::writev)>("writev");
  return real(fd, parts, count);
}
}
