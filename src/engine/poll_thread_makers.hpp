// Makes a poll thread over each transport that the engine knows; each is compiled in a file of its own.
#pragma once

#include <memory>

namespace nfx {

class PollThread;
struct PollThreadOptions;

[[nodiscard]] std::unique_ptr<PollThread> make_epoll_thread(const PollThreadOptions& options);
[[nodiscard]] std::unique_ptr<PollThread> make_epoll_tls_thread(const PollThreadOptions& options);
[[nodiscard]] std::unique_ptr<PollThread> make_io_uring_thread(const PollThreadOptions& options);
[[nodiscard]] std::unique_ptr<PollThread> make_io_uring_tls_thread(const PollThreadOptions& options);

}  // namespace nfx
