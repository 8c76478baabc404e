// The bytes of a file in chunks, decompressed if it begins as a Zstandard frame. Memory does not depend on the file.
// Thread: one owner. Cost: a read per 256 KiB. Lifetime: a chunk is valid until the next call. Errors:
// std::runtime_error that names the file and the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "market/zstd_decoder.hpp"

namespace nfx::app::market {

class ByteInput {
 public:
  // "-" is standard input.
  explicit ByteInput(std::string path);
  ~ByteInput();
  ByteInput(const ByteInput&) = delete;
  ByteInput& operator=(const ByteInput&) = delete;

  // The next bytes; none at the end.
  [[nodiscard]] std::span<const std::byte> next();

  // Bytes of the file read so far.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool compressed() const noexcept { return decoder_.has_value(); }

 private:
  void fill();
  [[nodiscard]] std::span<const std::byte> decompress();
  [[noreturn]] void fail(const std::string& reason, std::uint64_t offset) const;

  std::string path_;
  int file_;
  std::uint64_t read_ = 0;
  std::vector<std::byte> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  std::vector<std::byte> out_;
  std::optional<ZstdDecoder> decoder_;
};

}  // namespace nfx::app::market
