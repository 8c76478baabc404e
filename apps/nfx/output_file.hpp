// Bytes to a file or to standard output, gathered and written in large pieces. A file that is not finished, because an
// exception ended its writer, is removed.
// Thread: one owner. Cost: a write per 64 KiB or flush(). Errors: ConfigError for a path that cannot be created,
// std::runtime_error for what cannot be written; both name the path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nfx::app {

struct OutputFileOptions {
  std::string path;                    // "-": standard output
  bool overwrite = false;              // else an existing file is an error
  bool secret = false;                 // only its owner may read the file, and the group if one is given
  std::optional<unsigned> group = {};  // that the secret file is given to, where this user may do so
  bool printable = false;  // lines of text: what is not printable is escaped when they go to standard output; else
                           // standard output may not be a terminal
};

class OutputFile {
 public:
  explicit OutputFile(OutputFileOptions options);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::string bytes;  // what is not written yet

  void flush();
  void flush_when_large() {
    if (bytes.size() >= 64 * 1024) flush();
  }
  // Writes these bytes over those at the beginning of a file.
  void rewrite_beginning(std::string_view begin);
  // Flushes and closes: what could not be written is an error here at the latest.
  void finish();

  [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

 private:
  void write_at(std::string_view what, std::int64_t offset);  // -1: at the end
  [[noreturn]] void fail() const;

  OutputFileOptions options_;
  int file_ = -1;  // -1: standard output, or closed
};

}  // namespace nfx::app
