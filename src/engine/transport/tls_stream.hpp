// One end of an encrypted connection without a network: converts ciphertext to plaintext and back.
// Thread: one owner. Cost: one pass of the cipher per byte and one copy on the way out. This code does not allocate
// after construction, except for input that has to wait (OpenSSL allocates during handshakes). Lifetime: input is
// borrowed until it is read completely or stored. Bounded: pending ciphertext takes at most send_buffer bytes and a
// reserve for messages of the protocol itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/tls_facts.hpp"

namespace nfx {

class TlsContext;

namespace detail {

enum class TlsSide : std::uint8_t { client, server };

class TlsStream {
 public:
  enum class Status : std::uint8_t {
    wants_input,  // all input is consumed
    blocked,      // pending output has to be sent first
    done,         // for handshake: finished; for read: `out` is full, there may be more
    ended,        // the peer sent close_notify
    failed,       // failure() has the reason
  };
  struct Read {
    std::size_t size = 0;  // bytes of plaintext, to be used before `status`
    Status status = Status::wants_input;
  };

  // The minimum of send_buffer: a record of 16 KiB and its overhead.
  static constexpr std::size_t min_send_buffer = 24 * 1024;

  // `name` is the peer that a client connects to. Throws TlsError if OpenSSL has no memory.
  TlsStream(const TlsContext& context, TlsSide side, std::string_view name, std::size_t send_buffer);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Appends input for handshake and read, after stored input.
  void feed(std::span<const char> ciphertext);
  // Copies the remaining input, whose memory is about to be reused.
  void keep_input();
  // Frees everything; afterwards the stream can only be destroyed.
  void discard() noexcept;
  // Forgets the input. Called when it is consumed, or no longer needed.
  void drop_input() noexcept;

  [[nodiscard]] Status handshake() noexcept;
  [[nodiscard]] Read read(std::span<char> out) noexcept;

  // Encrypts as much as fits into the buffer, and returns how many bytes.
  [[nodiscard]] std::size_t write(std::span<const char> plaintext) noexcept;
  // Sends close_notify.
  void send_close_notify() noexcept;

  // Pending ciphertext; sent() removes the bytes that were sent.
  [[nodiscard]] std::span<const char> outgoing() const noexcept {
    return {out_.get() + out_begin_, out_end_ - out_begin_};
  }
  void sent(std::size_t size) noexcept;
  // Whether there is enough space to resume a writer.
  [[nodiscard]] bool has_room() const noexcept { return out_end_ - out_begin_ <= send_buffer_ / 2; }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] TlsFacts facts() const;
  // Null if the peer presented no certificate, or if it was not verified.
  [[nodiscard]] std::unique_ptr<TlsPeer> peer() const;

 private:
  struct Ssl;  // OpenSSL's callbacks and objects

  [[nodiscard]] Status status_of(int result) noexcept;
  [[gnu::cold, gnu::noinline]] void fail() noexcept;
  [[gnu::cold, gnu::noinline]] void count_cleansed(std::size_t size) noexcept;

  std::unique_ptr<Ssl> ssl_;
  std::size_t send_buffer_;
  std::size_t capacity_;
  std::unique_ptr<char[]> out_;
  std::size_t out_begin_ = 0;
  std::size_t out_end_ = 0;
  std::span<const char> in_;
  std::vector<char> kept_;
  std::size_t cleansed_ = 0;  // plaintext that OpenSSL has erased after it was read
  bool failed_ = false;
  std::string failure_;
};

}  // namespace detail
}  // namespace nfx
