// hwloc trusts the structure of XML: a few changed bytes make it follow null pointers or fail an assertion. It also
// takes the root of another machine's files from the environment, which must not change while other threads read it. So
// a child process reads either one, checks the result and writes it as XML; this process reads only XML written by
// hwloc.
#include <fcntl.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error_text.hpp"
#include "placement/topology_internal.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_file_size = 64U << 20;
constexpr unsigned max_seconds = 20;

enum ChildExit : int { child_done = 0, child_not_understood = 1, child_too_many_cpus = 2, child_no_export = 3 };

class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string read_all(int fd, std::size_t bound) {
  std::string content;
  std::array<char, 65536> chunk;
  while (content.size() <= bound) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return content;
}

std::string read_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  const Descriptor fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (fd.get() < 0) throw TopologyError(cannot("read", file, errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) throw TopologyError(cannot("read", file, errno));
  if (S_ISDIR(status.st_mode)) throw TopologyError(cannot("read", file, EISDIR) + "; give an hwloc XML file");
  std::string content = read_all(fd.get(), max_file_size);
  if (content.size() > max_file_size) throw TopologyError(cannot("read", file, "it is larger than 64 MiB"));
  if (content.empty())
    throw TopologyError(cannot("read", file, "it is empty; 'lstopo --of xml FILE' writes a topology"));
  const std::size_t end = content.find_last_not_of(" \t\r\n");
  if (content.find("<topology") == std::string::npos && content.find("<root") == std::string::npos) {
    throw TopologyError(name + ": is not hwloc XML: it has no <topology>; 'lstopo --of xml FILE' writes one");
  }
  if (end == std::string::npos || content[end] != '>') throw TopologyError(name + ": ends in the middle of its XML");
  return content;
}

void set_limits() {
  const rlimit no_core{0, 0};
  const rlimit cpu{max_seconds, max_seconds};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &cpu);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGALRM}) ::signal(number, SIG_DFL);
  ::alarm(max_seconds);  // in case a file is a pipe
}

// XML, or, if it is empty, the root of a machine's files.
struct Source {
  std::string_view xml;
  std::string root;
};

bool choose(hwloc_topology_t topology, const Source& source) {
  if (!source.xml.empty()) {
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    return hwloc_topology_set_xmlbuffer(topology, source.xml.data(), static_cast<int>(source.xml.size() + 1)) == 0;
  }
  ::setenv("HWLOC_FSROOT", source.root.c_str(), 1);
  for (const char* component : detail::unused_components) {
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return hwloc_topology_set_type_filter(topology, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0;
}

// Runs in the child, with only memory, the files, and hwloc.
int translate(const Source& source, int out, int complaints) {
  set_limits();
  ::dup2(complaints, STDERR_FILENO);
  // hwloc reads these variables once per process; its messages are shorter after the first file.
  ::setenv("HWLOC_XML_VERBOSE", "1", 1);
  ::setenv("HWLOC_HIDE_ERRORS", "0", 1);
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return child_not_understood;
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (!choose(topology, source) || hwloc_topology_load(topology) != 0) return child_not_understood;
  // Aborts the process on an inconsistency.
  hwloc_topology_check(topology);
  if (hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(topology)) >= CpuSet::max_cpus) return child_too_many_cpus;
  char* buffer = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &buffer, &size, 0) != 0 || size <= 0) return child_no_export;
  for (std::size_t done = 0; done < static_cast<std::size_t>(size);) {
    const ssize_t wrote = ::write(out, buffer + done, static_cast<std::size_t>(size) - done);
    if (wrote <= 0) return child_no_export;
    done += static_cast<std::size_t>(wrote);
  }
  return child_done;
}

// The first meaningful line of hwloc's output; its warnings are framed with stars.
std::string complaint(int fd) {
  ::lseek(fd, 0, SEEK_SET);
  const std::string text = read_all(fd, 65536);
  std::string found;
  for (std::size_t from = 0; from < text.size() && found.size() < 300;) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line{text.data() + from, end - from};
    from = end + 1;
    while (!line.empty() && (line.front() == '*' || line.front() == ' ')) line.remove_prefix(1);
    if (line.size() < 4 || line.find("HWLOC_") != std::string_view::npos) continue;
    found += (found.empty() ? "" : "; ") + detail::printable(line);
  }
  return found;
}

// The number before the point in <topology version="3.0">; 0 if there is none.
unsigned format_of(std::string_view xml) {
  constexpr std::string_view before = "<topology version=\"";
  const std::size_t at = xml.find(before);
  unsigned format = 0;
  if (at != std::string_view::npos)
    static_cast<void>(std::from_chars(xml.data() + at + before.size(), xml.data() + xml.size(), format));
  return format;
}

[[noreturn]] void refuse(const std::filesystem::path& from, std::string_view xml, int status, int complaints) {
  constexpr unsigned known_format = HWLOC_API_VERSION >> 16;
  if (const unsigned format = format_of(xml); format > known_format) {
    const std::string known = std::to_string(known_format);
    throw TopologyError(from.string() + ": has format " + std::to_string(format) +
                        " of hwloc's XML, and this hwloc reads " + known +
                        " at most: write it with 'lstopo --export-xml-flags v" + known + " --of xml FILE'");
  }
  const std::string found = complaint(complaints);
  std::string why = from.string() + ": is not a topology that hwloc can read";
  if (WIFSIGNALED(status)) why += " (it stopped with: " + std::string{::strsignal(WTERMSIG(status))} + ')';
  if (WIFEXITED(status) && WEXITSTATUS(status) == child_too_many_cpus) {
    why += ": it has CPUs above " + std::to_string(CpuSet::max_cpus - 1) + ", the highest that any kernel knows";
  }
  throw TopologyError(found.empty() ? why : why + ": " + found);
}

std::string translated(const std::filesystem::path& from, const Source& source) {
  const Descriptor out{::memfd_create("topology", MFD_CLOEXEC)};
  const Descriptor complaints{::memfd_create("complaints", MFD_CLOEXEC)};
  if (out.get() < 0 || complaints.get() < 0) throw TopologyError("memfd_create: " + system_text(errno));
  const pid_t child = ::fork();
  if (child < 0) throw TopologyError(from.string() + ": cannot start a process to read it: " + system_text(errno));
  if (child == 0) ::_exit(translate(source, out.get(), complaints.get()));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw TopologyError(from.string() + ": waitpid: " + system_text(errno));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != child_done) refuse(from, source.xml, status, complaints.get());
  ::lseek(out.get(), 0, SEEK_SET);
  return read_all(out.get(), 8 * max_file_size);
}

}  // namespace

namespace detail {

std::string canonical_xml(const std::filesystem::path& file) {
  const std::string xml = read_file(file);
  return translated(file, {.xml = xml, .root = {}});
}

std::string xml_of_root(const std::filesystem::path& folder) {
  return translated(folder, {.xml = {}, .root = folder.string()});
}

}  // namespace detail
}  // namespace nfx
