// Computes the throughput of a program that writes pages over many network cards, by discrete events. It models threads
// that poll and post, cards that send one page after the other, switches shared by cards, and one cache line that
// threads with a shared counter pass around. It shows where a rate comes from; the list at the end has the
// simplifications.
// Thread: any; pure, the same arguments give the same result. Cost: some 20 ns for each simulated poll; allocates.
// Lifetime: values. Errors: none; arguments below their minimum are assertions.
//
// Not modelled: NUMA nodes and their links, the receiver's threads, packet headers and losses on the network, caches
// and page tables of the cards, CPU frequency, and threads that share CPUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx::fabric {

struct SimulatedMachine {
  std::size_t groups = 8;
  std::size_t rails_per_group = 4;
  double link_gbps = 100;    // of a card; at least 0.001
  double switch_gbps = 0;    // of a group; 0: no limit
  double answer_ns = 15000;  // from the last bit of a page to its completion
  std::size_t queue = 256;   // pages that a card takes until it is full; at least 1
  std::uint64_t page_bytes = 65536;
};

// Times of the polling thread. The defaults were measured over libfabric's provider shm on the machine that
// docs/fabric.md names; `bench_fabric --only costs` measures them.
struct SimulatedCosts {
  double poll_ns = 26;          // one completion queue, with or without an entry
  double completion_ns = 3;     // in addition, for each entry
  double post_ns = 830;         // a page that the card takes
  double refused_post_ns = 38;  // a page that the card refuses
  double shared_line_ns = 61;   // transfer of a line that another thread wrote
  double connect_ns = 200'000;  // first page of a card; assumed, the others are measured
  double unpinned_factor = 1;   // factor on all of these for a thread that the kernel moves; 1: no effect was seen
};

// The options of the published chapters.
struct SimulatedProgram {
  std::size_t rails = 32;        // in use
  bool thread_per_group = true;  // otherwise one thread for all
  bool pinned = true;
  bool sharded = true;    // otherwise all threads write the same counters for each page
  bool lazy = true;       // a full card is tried once in a batch, not once for each page
  bool warmed_up = true;  // connected before the measurement starts
  std::size_t batch = 16;
  std::size_t window = 256;  // maximum number of pages in flight on a card
};

enum class Bottleneck : std::uint8_t { threads, links, switches, window };

[[nodiscard]] std::string_view to_string(Bottleneck what) noexcept;

struct SimulatedRun {
  double gbps = 0;
  std::uint64_t pages = 0;
  double thread_busy = 0;  // share of the threads' time spent on pages, not on empty polls
  double link_busy = 0;    // of the cards in use
  double shared_wait = 0;  // share of the threads' time spent waiting for the shared line
  Bottleneck bottleneck = Bottleneck::threads;
};

[[nodiscard]] SimulatedRun simulate(const SimulatedMachine& machine, const SimulatedCosts& costs,
                                    const SimulatedProgram& program, double duration_ns);

// The published steps, each with its measured rate on a machine with thirty-two cards of 100 Gb/s.
struct LadderStep {
  int chapter = 0;
  std::string_view name;
  std::string_view change;
  double published_gbps = 0;
  SimulatedProgram program;
};

inline constexpr std::size_t ladder_steps = 8;
[[nodiscard]] const std::array<LadderStep, ladder_steps>& published_ladder() noexcept;

// The posting cost with which the model gives `gbps`, everything else unchanged. Negative if there is none, because
// something else is slower.
[[nodiscard]] double implied_post_ns(const SimulatedMachine& machine, const SimulatedCosts& costs,
                                     const SimulatedProgram& program, double gbps, double duration_ns);

}  // namespace nfx::fabric
