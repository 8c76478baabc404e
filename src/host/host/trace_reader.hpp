// What the kernel did on a CPU while a thread could not run on it: events of tracefs, and the cause of each stall.
// Thread: any; a TraceSession has one owner. Cost: parsing allocates; while a session traces, each event costs the
// traced CPU some hundred nanoseconds. Errors: texts that name the file and what it reported. Bounds: kernel memory of
// a session is at most max_trace_bytes; what does not fit overwrites the oldest events and is counted. Source:
// Documentation/trace/ftrace.rst and events.rst; fields as the events' "format" files print them.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/hiccup_meter.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"

namespace nfx {

enum class NoiseKind : std::uint8_t {
  timer,        // the tick, or a timer that ran out
  interrupt,    // of a device
  softirq,      // deferred work, on the way back from an interrupt
  ipi,          // another CPU requested something
  kernel,       // other vectors and NMIs
  task,         // another thread had the CPU
  migration,    // the thread itself was moved to another CPU
  hypervisor,   // nothing happened here, and the kernel counted stolen time
  unexplained,  // nothing happened here: hypervisor, system management mode or the processor itself
  not_traced,   // the trace does not reach back to it
};

[[nodiscard]] std::string_view to_string(NoiseKind kind) noexcept;

struct TraceEvent {
  enum class Edge : std::uint8_t { entry, exit, change };  // change: of the task

  std::int64_t time_ns = 0;  // since TickClock's origin
  int cpu = 0;
  NoiseKind kind = NoiseKind::task;
  Edge edge = Edge::entry;
  std::string name;  // "36 virtio1-req.0", "NET_RX", "call_function_single"; of a change: the task that has the CPU now
  int thread_id = 0;         // of a change: the task that has the CPU now
  int thread_id_before = 0;  // and the one that had it
  std::string name_before;
};

// Reads trace text line by line, as per_cpu/cpuN/trace and trace_pipe print it.
class TraceParser {
 public:
  explicit TraceParser(TickClock clock) : clock_(std::move(clock)) {}

  // One line without its end. Events of other kinds are skipped; lines that are not events are counted.
  void line(std::string_view text);
  void text(std::string_view text);

  std::vector<TraceEvent> events;
  std::uint64_t lost = 0;  // from "[LOST n EVENTS]"
  std::uint64_t not_understood = 0;

 private:
  TickClock clock_;
};

// Why a thread could not run on its CPU.
struct NoiseCause {
  NoiseKind kind = NoiseKind::unexplained;
  std::string name;                  // empty where the kind is enough
  std::uint64_t share_ns = 0;        // of the stall, that the trace saw this cause take
  std::uint64_t unaccounted_ns = 0;  // of the stall, in which the trace saw nothing

  // "task kworker/1:2", "timer".
  [[nodiscard]] std::string text() const;
};

struct AttributionContext {
  std::set<int> own_threads;               // what these do on a CPU is not a cause
  std::set<int> overwritten;               // CPUs whose oldest events are gone
  std::map<int, std::uint64_t> stolen_ns;  // per CPU, as the kernel counted it
  std::uint64_t slack_ns = 0;              // by how much event times may be off
  std::uint64_t overhead_ns = 50'000;      // time without events that belongs to the events around it
  std::uint64_t steal_resolution_ns = 10'000'000;
};

// One cause per stall: what took most of it. Time that no event accounts for is added to the events in the stall, as
// their entry and exit, unless it exceeds both their own time and the overhead. Then, and where there is no event at
// all, it counts as the hypervisor's, up to the stolen time, largest stalls first.
[[nodiscard]] std::vector<NoiseCause> attribute(std::span<const HiccupGap> gaps, std::span<const TraceEvent> events,
                                                const AttributionContext& context);

// Where tracefs is and may be written to. Error: a text with file and reason.
[[nodiscard]] std::expected<std::string, std::string> find_tracefs(const HostFiles& files);
// Mounts tracefs in a mount namespace of the calling thread's own, so that no other process sees it and it goes with
// the process, however that ends. Threads started later see it too.
[[nodiscard]] std::expected<std::string, std::string> mount_private_tracefs();

inline constexpr std::uint64_t max_trace_bytes = std::uint64_t{256} << 20;

// A trace instance of our own: it disturbs no other user of tracefs. Removed by the destructor; those that killed
// ended processes left are removed by the next start().
class TraceSession {
 public:
  struct Options {
    std::string tracefs;
    CpuSet cpus;
    bool tsc = false;  // times as TSC values
    double seconds = 10;
  };
  [[nodiscard]] static std::expected<TraceSession, std::string> start(const Options& options);

  TraceSession(TraceSession&& other) noexcept;
  TraceSession& operator=(TraceSession&& other) = delete;
  ~TraceSession();

  void stop() noexcept;

  struct Result {
    std::vector<TraceEvent> events;
    std::set<int> overwritten;
    std::uint64_t lost = 0;
    std::uint64_t not_understood = 0;
  };
  [[nodiscard]] Result read(const TickClock& clock) const;

  // The trace_clock in use and the events that could not be had.
  [[nodiscard]] const std::string& clock() const noexcept { return clock_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  TraceSession() = default;

  std::string folder_;  // empty: moved from
  std::string clock_;
  CpuSet cpus_;
  int switch_ = -1;  // tracing_on; open, so that no process removes the instance
  std::vector<std::string> notes_;
};

}  // namespace nfx
