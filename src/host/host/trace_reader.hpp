// The kernel's activity on a CPU while a thread could not run there: events of tracefs, and the cause of each stall.
// Thread: any; a TraceSession has one owner. Cost: parsing allocates; while a session traces, each event costs the
// traced CPU some hundred nanoseconds. Errors: texts that name the file and the error. Bounds: kernel memory of a
// session is at most max_trace_bytes; when it is full, new events overwrite the oldest ones, which are counted. Source:
// Documentation/trace/ftrace.rst and events.rst; fields as in the events' "format" files.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
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
  timer,        // the tick or an expired timer
  interrupt,    // of a device
  softirq,      // deferred work after an interrupt
  ipi,          // sent by another CPU
  nmi,          // only where osnoise is the tracer
  kernel,       // other vectors
  task,         // another thread ran on the CPU
  migration,    // the thread itself was moved to another CPU
  hardware,     // no event here, and all that the kernel does is traced: hypervisor, firmware or processor
  unexplained,  // no event here, and NMIs are not traced
  not_traced,   // before the start of the trace
};

[[nodiscard]] std::string_view to_string(NoiseKind kind) noexcept;

struct TraceEvent {
  // change: a task switch; whole: it took duration_ns, without what interrupted it, and ends here.
  enum class Edge : std::uint8_t { entry, exit, change, whole };

  std::int64_t time_ns = 0;  // since TickClock's origin
  int cpu = 0;
  NoiseKind kind = NoiseKind::task;
  Edge edge = Edge::entry;
  std::string name;   // "36 virtio1-req.0", "NET_RX", "call_function_single"; for a change, the task that runs now
  int thread_id = 0;  // for a change: the task that runs now; for a whole task: itself
  int thread_id_before = 0;  // and the task that ran before
  std::string name_before;
  std::uint64_t duration_ns = 0;
};

// Parses trace text line by line, in the format of per_cpu/cpuN/trace and trace_pipe.
class TraceParser {
 public:
  explicit TraceParser(TickClock clock) : clock_(std::move(clock)) {}

  // Takes one line without its newline. Skips events of other kinds, and counts lines that are not events.
  void line(std::string_view text);
  void text(std::string_view text);

  std::vector<TraceEvent> events;
  std::uint64_t lost = 0;  // sum of "[LOST n EVENTS]"
  std::uint64_t not_understood = 0;

 private:
  TickClock clock_;
};

// Why a thread could not run on its CPU.
struct NoiseCause {
  NoiseKind kind = NoiseKind::unexplained;
  std::string name;                  // empty if the kind says enough
  std::uint64_t share_ns = 0;        // part of the stall that the trace attributes to this cause
  std::uint64_t unaccounted_ns = 0;  // part of the stall without any event

  // "task kworker/1:2", "timer".
  [[nodiscard]] std::string text() const;
};

struct AttributionContext {
  std::set<int> own_threads;           // threads of the measurement, which are never a cause
  std::set<int> overwritten;           // CPUs whose oldest events were overwritten
  bool all_sources = false;            // all that the kernel does is traced
  std::uint64_t slack_ns = 0;          // error of event times
  std::uint64_t overhead_ns = 50'000;  // time without events that is attributed to the events around it
};

// Returns one cause per stall: the one that took most of it. Time that no event accounts for is added to the events in
// the stall, as the cost of their entry and exit, unless it exceeds both their own time and the overhead.
[[nodiscard]] std::vector<NoiseCause> attribute(std::span<const HiccupGap> gaps, std::span<const TraceEvent> events,
                                                const AttributionContext& context);

// The folder of a writable tracefs. Error: a text with file and reason.
[[nodiscard]] std::expected<std::string, std::string> find_tracefs(const HostFiles& files);
// Mounts tracefs in a private mount namespace of the calling thread. No other process sees the mount, and it disappears
// when the process ends. Threads started later see it too.
[[nodiscard]] std::expected<std::string, std::string> mount_private_tracefs();

inline constexpr std::uint64_t max_trace_bytes = std::uint64_t{256} << 20;

// The osnoise tracer of an instance, without its own threads: the kernel measures what interrupts the thread of a CPU,
// NMIs included, and records each interruption with its own time. Settings that it changes are put back by the
// destructor, in reverse order. Error: why it cannot be used; nothing is changed then.
class OsnoiseTracer {
 public:
  [[nodiscard]] static std::expected<OsnoiseTracer, std::string> start(const std::string& tracefs,
                                                                       const std::string& instance, const CpuSet& cpus);

  OsnoiseTracer(OsnoiseTracer&&) noexcept = default;
  OsnoiseTracer& operator=(OsnoiseTracer&&) = delete;
  ~OsnoiseTracer();

 private:
  struct Setting {
    std::string file;
    std::string found;
  };
  OsnoiseTracer() = default;
  // Returns an error or an empty text.
  [[nodiscard]] std::string set(const std::string& file, std::string_view value);

  std::vector<Setting> changed_;
};

// A private trace instance, which disturbs no other user of tracefs. The destructor removes it; the next start()
// removes instances that killed processes left behind.
class TraceSession {
 public:
  struct Options {
    std::string tracefs;
    CpuSet cpus;
    bool tsc = false;     // times are TSC values
    bool pinned = false;  // the measured threads are: they are traced with osnoise, if possible
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

  // The trace_clock in use, whether osnoise records, and notes about what was not available.
  [[nodiscard]] const std::string& clock() const noexcept { return clock_; }
  [[nodiscard]] bool osnoise() const noexcept { return osnoise_.has_value(); }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  TraceSession() = default;

  std::string folder_;  // empty: moved from
  std::string clock_;
  CpuSet cpus_;
  int switch_ = -1;  // tracing_on; open, so that no process removes the instance
  std::vector<std::string> notes_;
  std::optional<OsnoiseTracer> osnoise_;
};

}  // namespace nfx
