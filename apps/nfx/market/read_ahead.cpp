// Decompressing a day takes as long as its books; with two processors both run at the same time.
#include "market/read_ahead.hpp"

#include <pthread.h>

#include <utility>

namespace nfx::app::market {

ReadAhead::ReadAhead(std::function<std::size_t(std::span<std::byte>)> read, std::size_t chunk_size)
    : read_(std::move(read)) {
  for (Chunk& each : chunks_) each.bytes.resize(chunk_size);
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "nfx-read-ahead");
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::run() {
  for (std::uint64_t number = 0;; ++number) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return stop_ || number - used_ < chunks_.size(); });
      if (stop_) return;
    }
    Chunk& next = chunk(number);
    try {
      next.size = read_(next.bytes);
    } catch (...) {
      next.size = 0;
      next.error = std::current_exception();
    }
    const bool last = next.size == 0;
    {
      const std::lock_guard lock{mutex_};
      written_ = number + 1;
    }
    changed_.notify_all();
    if (last) return;
  }
}

std::span<const std::byte> ReadAhead::next() {
  if (ended_) return {};
  std::unique_lock lock{mutex_};
  if (std::exchange(in_use_, true)) {
    ++used_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return written_ > used_; });
  lock.unlock();
  const Chunk& next = chunk(used_);
  ended_ = next.size == 0;
  if (next.error) std::rethrow_exception(next.error);
  return {next.bytes.data(), next.size};
}

}  // namespace nfx::app::market
