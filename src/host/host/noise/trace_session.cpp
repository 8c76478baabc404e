// A private tracing instance in tracefs, which does not disturb other users of tracing.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ranges>
#include <system_error>
#include <utility>

#include "base/error_text.hpp"
#include "host/trace_reader.hpp"
#include "placement/proc_text.hpp"

namespace nfx {
namespace {

constexpr std::string_view instance_prefix = "nexusfix_noise_";
constexpr const char* tracefs_folder = "/sys/kernel/tracing";

// Returns 0 or an errno.
int write_file(const std::string& file, std::string_view content) noexcept {
  const int fd = ::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t written = ::write(fd, content.data(), content.size());
  const int error = written < 0 ? errno : 0;
  ::close(fd);
  return error;
}

// Passes the lines of a file to `function`, because the file may be too large for memory.
template <typename Function>
void for_each_line(const std::string& file, Function function) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::string rest;
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    rest.append(chunk.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      function(std::string_view{rest}.substr(begin, end - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
  }
  ::close(fd);
  if (!rest.empty()) function(std::string_view{rest});
}

// Removes instances of processes that were killed. A running process holds its instance open, so the kernel refuses to
// remove it. Process ids cannot tell them apart: they are reused, and differ between containers.
void remove_left_behind(const std::string& tracefs) {
  for (const std::string& name : HostFiles{}.list(tracefs + "/instances")) {
    if (name.starts_with(instance_prefix)) ::rmdir((tracefs + "/instances/" + name).c_str());
  }
}

// Creates an instance and holds it open. Returns its tracing_on file, or the reason for the failure.
std::expected<int, std::string> make_instance(const std::string& folder) {
  const std::string file = folder + "/tracing_on";
  int error = 0;
  // Another process that cleans up may remove the instance before it is held open.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::mkdir(folder.c_str(), 0700) != 0) return std::unexpected(cannot("make folder", folder, errno));
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd >= 0) return fd;
    error = errno;
    ::rmdir(folder.c_str());
    if (error != ENOENT) break;
  }
  return std::unexpected(cannot("write", file, error));
}

// The user of osnoise or timerlat, whose settings hold for all instances; empty if nobody traces with them.
std::string osnoise_user(const std::string& tracefs) {
  const HostFiles files;
  std::vector<std::string> tracers{tracefs + "/current_tracer"};
  for (const std::string& name : files.list(tracefs + "/instances"))
    tracers.push_back(tracefs + "/instances/" + name + "/current_tracer");
  for (const std::string& file : tracers) {
    const std::string tracer = files.text(file).value_or("");
    if (tracer == "osnoise" || tracer == "timerlat") return file + " is " + tracer;
  }
  return {};
}

// Space for a few thousand events per second of 20 to 70 bytes each.
std::uint64_t buffer_kib(double seconds, std::size_t cpus) {
  const double wanted = 512 + 768 * seconds;
  const auto most = max_trace_bytes / 1024 / std::max<std::size_t>(cpus, 1);
  return std::max<std::uint64_t>(std::min(static_cast<std::uint64_t>(wanted), most), 64);
}

std::vector<std::string> wanted_events(const std::string& folder, bool osnoise) {
  if (osnoise) return {"osnoise/nmi_noise", "osnoise/irq_noise", "osnoise/softirq_noise", "osnoise/thread_noise"};
  std::vector<std::string> events{"sched/sched_switch", "irq/irq_handler_entry", "irq/irq_handler_exit",
                                  "irq/softirq_entry", "irq/softirq_exit"};
  const HostFiles files;
  for (const char* group : {"irq_vectors", "ipi"}) {
    for (const std::string& name : files.list(folder + "/events/" + group)) {
      // x86 has a pair of events per vector; other architectures have one pair for all vectors.
      if (name.ends_with("_entry") || name.ends_with("_exit")) events.push_back(std::string{group} + '/' + name);
    }
  }
  return events;
}

}  // namespace

std::expected<std::string, std::string> find_tracefs(const HostFiles& files) {
  const auto mounts = read_mounts(files);
  if (!mounts) return std::unexpected(cannot("read", "/proc/self/mounts", mounts.error()));
  std::string found;
  for (const Mount& mount : *mounts) {
    if (mount.type == "tracefs") found = mount.folder;
    if (mount.type == "debugfs" && found.empty() && files.exists(mount.folder + "/tracing/instances"))
      found = mount.folder + "/tracing";
  }
  if (found.empty())
    return std::unexpected(std::string{tracefs_folder} +
                           ": tracefs is not mounted; use --mount-tracefs, or mount -t tracefs tracefs " +
                           tracefs_folder);
  if (::access(files.path(found + "/instances").c_str(), W_OK | X_OK) != 0)
    return std::unexpected(cannot("write", found + "/instances", errno) + "; run as root");
  return found;
}

std::expected<std::string, std::string> mount_private_tracefs() {
  if (::access(tracefs_folder, F_OK) != 0)
    return std::unexpected(cannot("read", tracefs_folder, errno) + "; this kernel has no tracefs");
  if (::unshare(CLONE_NEWNS) != 0)
    return std::unexpected("unshare(CLONE_NEWNS): " + system_text(errno) + "; run as root");
  // Later mounts are visible only in this namespace.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return std::unexpected("mount --make-rslave /: " + system_text(errno));
  if (::mount("tracefs", tracefs_folder, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0 && errno != EBUSY)
    return std::unexpected(cannot("mount", tracefs_folder, errno));
  return std::string{tracefs_folder};
}

std::string OsnoiseTracer::set(const std::string& file, std::string_view value) {
  auto found = HostFiles{}.text(file);
  if (!found) return cannot("read", file, found.error());
  changed_.push_back({file, *std::move(found)});
  const int error = write_file(file, value);
  return error == 0 ? std::string{} : cannot("write", file, error);
}

std::expected<OsnoiseTracer, std::string> OsnoiseTracer::start(const std::string& tracefs, const std::string& instance,
                                                               const CpuSet& cpus) {
  const std::string available = HostFiles{}.text(tracefs + "/available_tracers").value_or("");
  if (!(' ' + available + ' ').contains(" osnoise ")) return std::unexpected("this kernel has no such tracer");
  if (std::string user = osnoise_user(tracefs); !user.empty()) return std::unexpected(std::move(user));
  OsnoiseTracer tracer;
  const std::string options = tracefs + "/osnoise/options";
  if (!HostFiles{}.exists(options))
    return std::unexpected(options + ": no such file; osnoise without its own threads needs Linux 6.2");
  for (const auto& [file, value] : {std::pair{options, std::string{"NO_OSNOISE_WORKLOAD"}},
                                    {tracefs + "/osnoise/cpus", cpus.to_list()},
                                    {instance + "/current_tracer", std::string{"osnoise"}}}) {
    if (std::string error = tracer.set(file, value); !error.empty()) return std::unexpected(std::move(error));
  }
  return tracer;
}

OsnoiseTracer::~OsnoiseTracer() {
  for (const Setting& setting : changed_ | std::views::reverse) {
    // The kernel takes one option at a time.
    for (std::string_view rest = setting.found, word = next_word(rest); !word.empty(); word = next_word(rest))
      write_file(setting.file, word);
  }
}

std::expected<TraceSession, std::string> TraceSession::start(const Options& options) {
  remove_left_behind(options.tracefs);
  TraceSession session;
  const std::string folder =
      options.tracefs + "/instances/" + std::string{instance_prefix} + std::to_string(::getpid());
  const auto held = make_instance(folder);
  if (!held) return std::unexpected(held.error());
  session.folder_ = folder;
  session.cpus_ = options.cpus;
  session.switch_ = *held;
  session.stop();
  for (const char* clock : {options.tsc ? "x86-tsc" : "mono_raw", "mono_raw"}) {
    const int error = write_file(folder + "/trace_clock", clock);
    session.clock_ = clock;
    if (error == 0) break;
    if (std::string_view{clock} == "mono_raw") return std::unexpected(cannot("write", folder + "/trace_clock", error));
  }
  if (const int error = write_file(folder + "/tracing_cpumask", options.cpus.to_mask()); error != 0)
    return std::unexpected(cannot("write", folder + "/tracing_cpumask", error));
  // Starts with the minimum for all CPUs, because the buffers of CPUs that are not measured use memory as well.
  write_file(folder + "/buffer_size_kb", "4");
  const std::string size = std::to_string(buffer_kib(options.seconds, options.cpus.size()));
  for (const int cpu : options.cpus.members()) {
    const std::string file = folder + "/per_cpu/cpu" + std::to_string(cpu) + "/buffer_size_kb";
    if (const int error = write_file(file, size); error != 0) return std::unexpected(cannot("write", file, error));
  }
  auto osnoise = options.pinned ? OsnoiseTracer::start(options.tracefs, folder, options.cpus)
                                : std::unexpected(std::string{"it measures pinned threads only"});
  if (osnoise) {
    session.osnoise_.emplace(*std::move(osnoise));
  } else {
    session.notes_.push_back("not traced with osnoise: " + osnoise.error());
  }
  for (const std::string& event : wanted_events(folder, session.osnoise())) {
    const std::string file = folder + "/events/" + event + "/enable";
    if (const int error = write_file(file, "1"); error != 0)
      session.notes_.push_back("not traced: " + cannot("write", file, error));
  }
  if (::write(session.switch_, "1", 1) != 1) return std::unexpected(cannot("write", folder + "/tracing_on", errno));
  return session;
}

TraceSession::TraceSession(TraceSession&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      clock_(std::move(other.clock_)),
      cpus_(std::move(other.cpus_)),
      switch_(std::exchange(other.switch_, -1)),
      notes_(std::move(other.notes_)),
      osnoise_(std::move(other.osnoise_)) {}

TraceSession::~TraceSession() {
  if (folder_.empty()) return;
  stop();
  osnoise_.reset();
  if (switch_ >= 0) ::close(switch_);
  ::rmdir(folder_.c_str());
}

void TraceSession::stop() noexcept {
  if (switch_ >= 0) static_cast<void>(::pwrite(switch_, "0", 1, 0) == 1);
}

TraceSession::Result TraceSession::read(const TickClock& clock) const {
  Result result;
  TickClock times = clock;
  // The parser interprets times without a decimal point as ticks of this clock.
  times.tsc = clock.tsc && clock_ == "x86-tsc";
  TraceParser parser{times};
  for (const int cpu : cpus_.members()) {
    const std::string folder = folder_ + "/per_cpu/cpu" + std::to_string(cpu);
    for_each_line(folder + "/trace", [&](std::string_view line) { parser.line(line); });
    for_each_line(folder + "/stats", [&](std::string_view line) {
      const bool overrun = line.starts_with("overrun: ");
      if (!overrun && !line.starts_with("dropped events: ")) return;
      const std::string_view digits = line.substr(line.rfind(' ') + 1);
      std::uint64_t count = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), count);
      result.lost += count;
      if (overrun && count > 0) result.overwritten.insert(cpu);
    });
  }
  result.lost += parser.lost;
  result.not_understood = parser.not_understood;
  result.events = std::move(parser.events);
  return result;
}

}  // namespace nfx
