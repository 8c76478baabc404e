// The loop that calls a flusher, and its end.
#include "store/flusher_thread.hpp"

#include <algorithm>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {

FlusherThread::FlusherThread(JournalFlusher& flusher, FlusherThreadOptions options)
    : flusher_(flusher), options_(std::move(options)) {
  NFX_REQUIRE(options_.longest_wait > Duration::zero());
  thread_ = std::thread{[this] { run(); }};
}

FlusherThread::~FlusherThread() {
  stop_.store(true);
  flusher_.wake();
  thread_.join();
}

void FlusherThread::run() {
  if (options_.begin) options_.begin();
  flusher_.wait_for_memory_elsewhere();
  while (!stop_.load()) {
    const Duration next = flusher_.turn(read_clocks());
    if (options_.also) options_.also(read_clocks());
    flusher_.wait(std::min(next, options_.longest_wait));
  }
}

}  // namespace nfx
