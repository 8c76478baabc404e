// A fuzz target's description for the replay, and code that the targets share.
// Thread: one. Errors: a requirement that is not met prints its name and the input's text, and aborts.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// How the replay parses the seeds and mutates inputs. libFuzzer only uses the seeds.
enum class FuzzFormat : std::uint8_t {
  fix,   // '|' in a seed means SOH, and half of the inputs get a header and a trailer
  text,  // lines; the seed is the file without its last newline
};

struct FuzzTarget {
  FuzzFormat format = FuzzFormat::fix;
  std::size_t control_size = 0;     // control bytes at the front that are not part of the message
  std::uint64_t mutations = 50000;  // in a replay; fewer for a slow target
  std::size_t max_input_size = 2048;
};
extern "C" const FuzzTarget nfx_fuzz_target;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace nfx::fuzz {

inline void require(bool condition, const char* what, std::string_view text) {
  if (condition) return;
  std::fprintf(stderr, "not true: %s\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::size_t lines_of(std::string_view text) {
  std::size_t lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

// The number after "NAME:", or 0 if there is none.
inline std::size_t line_in(std::string_view error, std::string_view name) {
  if (!error.starts_with(name) || !error.substr(name.size()).starts_with(':')) return 0;
  error.remove_prefix(name.size() + 1);
  std::size_t line = 0;
  const auto [end, failed] = std::from_chars(error.data(), error.data() + error.size(), line);
  return failed == std::errc{} && end != error.data() + error.size() && *end == ':' ? line : 0;
}

// An in-memory file without a folder, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
    require(fd_ >= 0, "a memory file is made", "");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  void write(std::string_view bytes) const {
    const bool done =
        ::ftruncate(fd_, 0) == 0 && ::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    require(done, "a memory file is written", "");
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  int fd_;
  std::string path_;
};

}  // namespace nfx::fuzz
