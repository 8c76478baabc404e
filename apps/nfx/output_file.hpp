// Writes bytes to a file or to standard output, in large pieces. If an exception prevents finish(), the file is
// removed.
// Thread: one owner. Cost: a write per 64 KiB or flush(). Errors: ConfigError for a path that cannot be created,
// std::runtime_error for a failed write; both name the path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nfx::app {

struct OutputFileOptions {
  std::string path;                    // "-": standard output
  bool overwrite = false;              // otherwise an existing file is an error
  bool secret = false;                 // readable only by its owner, and by the group if one is given
  std::optional<unsigned> group = {};  // group of a secret file, if this user may set it
  bool printable = false;  // lines of text, escaped on standard output; otherwise that must not be a terminal
};

class OutputFile {
 public:
  explicit OutputFile(OutputFileOptions options);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::string bytes;  // bytes not yet written

  void flush();
  void flush_when_large() {
    if (bytes.size() >= 64 * 1024) flush();
  }
  // Overwrites the beginning of a file with these bytes.
  void rewrite_beginning(std::string_view begin);
  // Flushes and closes: at the latest, this reports failed writes.
  void finish();

  [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

 private:
  void write_at(std::string_view what, std::int64_t offset);  // -1: appends
  [[noreturn]] void fail() const;

  OutputFileOptions options_;
  int file_ = -1;  // -1: standard output, or closed
};

}  // namespace nfx::app
