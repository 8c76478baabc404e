// Counters of transports.
// Thread: the transport's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx {

struct TransportCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused_full = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t linger_cut_short = 0;
  std::uint64_t linger_flooded = 0;
  std::uint64_t epoll_waits = 0;
  std::uint64_t ring_enters = 0;
  std::uint64_t buffers_empty = 0;

  friend bool operator==(const TransportCounters&, const TransportCounters&) = default;
};

template <>
inline constexpr auto counter_rows<TransportCounters> = std::to_array<CounterRow<TransportCounters>>({
    {&TransportCounters::accepted, "nfx_transport_accepted_total", "TCP connections accepted."},
    {&TransportCounters::refused_full, "nfx_transport_refused_total",
     "TCP connections accepted and closed immediately because the connection table was full."},
    {&TransportCounters::accept_pauses, "nfx_transport_accept_pauses_total",
     "Times that accepting paused because the process had no file descriptor or memory left."},
    {&TransportCounters::linger_cut_short, "nfx_transport_linger_cut_short_total",
     "Closed connections given up before the peer had closed its side or taken all bytes."},
    {&TransportCounters::linger_flooded, "nfx_transport_linger_flooded_total",
     "Closed connections reset because the peer sent more than linger_bytes afterwards."},
    {&TransportCounters::epoll_waits, "nfx_transport_epoll_waits_total", "Calls of epoll_wait."},
    {&TransportCounters::ring_enters, "nfx_transport_ring_enters_total", "io_uring: polls that called the kernel."},
    {&TransportCounters::buffers_empty, "nfx_transport_buffers_empty_total",
     "io_uring: receives that found no buffer and were started again."},
});
static_assert(rows_are_complete<TransportCounters>());

struct TlsCounters {
  std::uint64_t handshakes = 0;
  std::uint64_t handshakes_failed = 0;
  std::uint64_t handshakes_late = 0;
  std::uint64_t handshakes_evicted = 0;
  std::uint64_t handshakes_delayed = 0;
  std::uint64_t refused = 0;
  std::uint64_t truncated = 0;
  std::uint64_t linger_cut_short = 0;

  friend bool operator==(const TlsCounters&, const TlsCounters&) = default;
};

template <>
inline constexpr auto counter_rows<TlsCounters> = std::to_array<CounterRow<TlsCounters>>({
    {&TlsCounters::handshakes, "nfx_tls_handshakes_total", "TLS handshakes that succeeded."},
    {&TlsCounters::handshakes_failed, "nfx_tls_handshakes_failed_total",
     "TLS handshakes that failed or took too long."},
    {&TlsCounters::handshakes_late, "nfx_tls_handshakes_late_total",
     "TLS handshakes that did not finish within their time limit."},
    {&TlsCounters::handshakes_evicted, "nfx_tls_handshakes_evicted_total",
     "TLS handshakes given up for a newer one, because max_tls_handshakes or the limit of the address or network was "
     "reached; part of nfx_tls_handshakes_failed_total."},
    {&TlsCounters::handshakes_delayed, "nfx_tls_handshakes_delayed_total",
     "Steps of TLS handshakes that waited because too many others were with the handshake thread."},
    {&TlsCounters::refused, "nfx_tls_refused_total",
     "Connections accepted and closed immediately before a TLS handshake: no session allows the address."},
    {&TlsCounters::truncated, "nfx_tls_truncated_total",
     "TLS connections that ended without the peer's close_notify: bytes may be missing."},
    {&TlsCounters::linger_cut_short, "nfx_tls_linger_cut_short_total",
     "Closed TLS connections given up while bytes were waiting to be sent."},
});
static_assert(rows_are_complete<TlsCounters>());

}  // namespace nfx
