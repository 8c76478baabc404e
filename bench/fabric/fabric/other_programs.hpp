// Runs other programs that move bytes between two processes of this host, and parses their output. Errors:
// std::runtime_error names the program and the problem.
#pragma once

#include <cstdint>

namespace nfx::bench {

// Gb/s of one TCP connection over loopback, written in pieces of `bytes`.
[[nodiscard]] double iperf3_gbps(std::uint32_t bytes, double seconds);

// One way, in us: libfabric's fi_pingpong over provider shm with messages. A mean, because it reports no percentiles.
[[nodiscard]] double fi_pingpong_us(std::uint32_t bytes, std::uint32_t round_trips);

// Gb/s of two threads that copy pages, each between two pairs of regions of 16 MiB, as many as rails have.
[[nodiscard]] double memcpy_gbps(std::uint32_t page_bytes, double seconds);

// The time to transfer a cache line that a thread on another CPU wrote, for writing.
[[nodiscard]] double shared_line_ns();

}  // namespace nfx::bench
