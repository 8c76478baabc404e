// Reads an input on a separate thread, some chunks ahead: while one chunk is used, the next is decompressed.
// Thread: one owner; the function is called only by the separate thread. Cost: a thread and four chunks of memory; a
// lock for each chunk. Lifetime: a chunk is valid until the next call. Errors: next() throws the function's exceptions.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace nfx::app::market {

class ReadAhead {
 public:
  // `read` writes the next bytes and returns their number; 0 at the end. It must not wait for a thread that waits for
  // the destructor.
  ReadAhead(std::function<std::size_t(std::span<std::byte>)> read, std::size_t chunk_size);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next bytes; none at the end and after it.
  [[nodiscard]] std::span<const std::byte> next();

 private:
  struct Chunk {
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    std::exception_ptr error;
  };

  void run();
  [[nodiscard]] Chunk& chunk(std::uint64_t number) noexcept { return chunks_[number % chunks_.size()]; }

  std::function<std::size_t(std::span<std::byte>)> read_;
  std::array<Chunk, 4> chunks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t written_ = 0;  // chunks; all three under the mutex
  std::uint64_t used_ = 0;     // chunks that may be overwritten
  bool stop_ = false;
  bool ended_ = false;  // for the owner: next() has returned the end, or an error
  bool in_use_ = false;
  std::thread thread_;
};

}  // namespace nfx::app::market
