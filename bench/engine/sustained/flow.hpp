// One side of a flow of orders and reports between two processes: its plan and its result. The trader has `window`
// unanswered orders, or sends `rate` per second; the venue answers each with one report. Both check every message: the
// orders are numbered, and a number out of sequence is a wrong answer.
// Thread: a side runs in a separate process. C++14, so that a peer's headers can be used with it.
#pragma once

#include <cstdint>
#include <string>

namespace nfx::bench {

struct FlowPlan {
  int port_pipe = -1;      // the venue writes its port here, as two bytes; the trader already knows it
  std::uint16_t port = 0;  // trader
  std::uint32_t window = 256;
  std::uint64_t rate = 0;  // orders per second; 0: as fast as the window allows
  double warm_up_s = 1;
  double seconds = 5;
  std::string folder;      // for stores
  std::string store;       // "memory", "none", "interval", "group", "message"
  std::string dictionary;  // file
  bool spin = false;
};

struct FlowResult {
  bool right = false;
  std::uint64_t messages = 0;  // sent and received, within `seconds`
  double seconds = 0;
  std::uint64_t rss_begin_kib = 0, rss_middle_kib = 0, rss_end_kib = 0;
  std::uint64_t allocations = 0;                                  // on the poll thread, after the warm-up
  bool allocations_counted = false;                               // false if a sanitizer owns the allocator
  std::uint64_t p50_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;  // trader: from an order's due time to its report
  char problem[200] = {};
};

constexpr std::size_t flow_order_text = 60;  // size of Text(58), which pads orders and reports to their size
constexpr std::size_t flow_report_text = 40;

FlowResult run_nexusfix_venue(const FlowPlan& plan);
FlowResult run_nexusfix_trader(const FlowPlan& plan);

bool has_quickfix();
FlowResult run_quickfix_venue(const FlowPlan& plan);  // FileStore and FileLog
FlowResult run_quickfix_trader(const FlowPlan& plan);

std::uint64_t resident_kib();

}  // namespace nfx::bench
