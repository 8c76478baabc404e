// Reads files in large pieces.
#include "market/byte_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/error_text.hpp"

namespace nfx::app::market {
namespace {

constexpr std::size_t chunk_size = 256 * 1024;  // fits into a core's cache
constexpr std::string_view zstd_magic = "\x28\xB5\x2F\xFD";
constexpr std::string_view gzip_magic = "\x1F\x8B\x08";

[[nodiscard]] bool is_regular_file(int file) noexcept {
  struct stat status{};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

ByteInput::ByteInput(std::string path, Decompress where)
    : path_(std::move(path)), file_(path_ == "-" ? STDIN_FILENO : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) throw std::runtime_error(cannot("read", path_, errno));
  in_.resize(chunk_size);
  // A pipe may deliver the first bytes in pieces.
  while (in_end_ < zstd_magic.size()) {
    const std::size_t before = in_end_;
    fill();
    if (in_end_ == before) break;
  }
  const std::string_view begin{reinterpret_cast<const char*>(in_.data()), in_end_};
  if (begin.starts_with(zstd_magic) || begin.starts_with(gzip_magic)) {
    try {
      decoder_ = begin.starts_with(zstd_magic) ? make_zstd_decompressor() : make_gzip_decompressor();
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path_ + ": " + error.what());
    }
    if (where == Decompress::ahead && is_regular_file(file_)) {
      ahead_.emplace([this](std::span<std::byte> out) { return decompress(out); }, chunk_size);
    } else {
      out_.resize(chunk_size);
    }
  }
}

ByteInput::~ByteInput() {
  ahead_.reset();
  if (file_ > STDIN_FILENO) ::close(file_);
}

void ByteInput::fail(const std::string& reason, std::uint64_t offset) const {
  throw std::runtime_error(path_ + ": " + reason + " at byte " + std::to_string(offset));
}

// Reads once, up to the available bytes.
void ByteInput::fill() {
  if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
  for (;;) {
    const ssize_t count = ::read(file_, in_.data() + in_end_, in_.size() - in_end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw std::runtime_error(cannot("read", path_, system_text(errno) + " at byte " + std::to_string(read_)));
    in_end_ += static_cast<std::size_t>(count);
    read_ += static_cast<std::uint64_t>(count);
    return;
  }
}

bool ByteInput::ready(int timeout_ms) const {
  if (ahead_ || in_begin_ != in_end_) return true;
  pollfd wait{file_, POLLIN, 0};
  int result;
  do {
    result = ::poll(&wait, 1, timeout_ms);
  } while (result < 0 && errno == EINTR);
  return result != 0;
}

std::span<const std::byte> ByteInput::next() {
  if (ahead_) return ahead_->next();
  if (decoder_) return {out_.data(), decompress(out_)};
  if (in_begin_ == in_end_) fill();
  const std::span<const std::byte> chunk{in_.data() + in_begin_, in_end_ - in_begin_};
  in_begin_ = in_end_;
  return chunk;
}

// The next bytes; 0 at the end.
std::size_t ByteInput::decompress(std::span<std::byte> out) {
  for (;;) {
    if (in_begin_ == in_end_) fill();
    const bool ended = in_begin_ == in_end_;
    const std::uint64_t offset = read_ - (in_end_ - in_begin_);
    Decompressor::Step step;
    try {
      step = decoder_->decode({in_.data() + in_begin_, in_end_ - in_begin_}, out);
    } catch (const std::runtime_error& error) {
      fail("cannot be decompressed (" + std::string{error.what()} + ')', offset);
    }
    in_begin_ += step.consumed;
    if (step.produced != 0) return step.produced;
    if (ended) {
      if (!decoder_->between_frames()) fail("ends within compressed data", read_);
      return 0;
    }
  }
}

}  // namespace nfx::app::market
