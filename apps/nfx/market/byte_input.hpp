// Reads the bytes of a file in chunks, and decompresses them if the file begins as Zstandard or gzip does. Memory does
// not depend on the file's size.
// Thread: one owner; a separate thread reads a compressed file ahead. Cost: a read per 256 KiB. Lifetime: a chunk is
// valid until the next call. Errors: std::runtime_error that names the file and the byte.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "market/decompressor.hpp"
#include "market/read_ahead.hpp"

namespace nfx::app::market {

enum class Decompress : std::uint8_t {
  ahead,      // on a separate thread; in next() for a pipe, which may never end
  by_caller,  // in next()
};

class ByteInput {
 public:
  // "-" is standard input.
  explicit ByteInput(std::string path, Decompress where = Decompress::ahead);
  ~ByteInput();
  ByteInput(const ByteInput&) = delete;
  ByteInput& operator=(const ByteInput&) = delete;

  // The next bytes; none at the end.
  [[nodiscard]] std::span<const std::byte> next();

  // Whether bytes, or the end, arrive within this time; -1: no limit.
  [[nodiscard]] bool ready(int timeout_ms) const;

  // Bytes of the file read so far, including read-ahead.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool compressed() const noexcept { return decoder_ != nullptr; }

 private:
  void fill();
  [[nodiscard]] std::size_t decompress(std::span<std::byte> out);
  [[noreturn]] void fail(const std::string& reason, std::uint64_t offset) const;

  std::string path_;
  int file_;
  std::atomic<std::uint64_t> read_ = 0;
  std::vector<std::byte> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  std::vector<std::byte> out_;
  std::unique_ptr<Decompressor> decoder_;
  std::optional<ReadAhead> ahead_;  // declared last, because it uses the members above
};

}  // namespace nfx::app::market
