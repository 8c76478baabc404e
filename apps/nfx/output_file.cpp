// Writes a file, or standard output.
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"

namespace nfx::app {

OutputFile::OutputFile(OutputFileOptions options) : options_(std::move(options)) {
  if (options_.path == "-") return;
  file_ = ::open(options_.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (options_.overwrite ? O_TRUNC : O_EXCL),
                 options_.secret ? 0600 : 0666);
  struct stat is{};
  if (file_ >= 0 && options_.secret && ::fstat(file_, &is) == 0 && S_ISREG(is.st_mode)) {
    // An older file keeps its mode when it is overwritten.
    const bool given = options_.group && ::fchown(file_, static_cast<uid_t>(-1), *options_.group) == 0;
    static_cast<void>(::fchmod(file_, given ? 0640 : 0600));
  }
  if (file_ >= 0) return;
  throw ConfigError(cannot("write", options_.path, errno) +
                    (errno == EEXIST ? "; give another name, or --force to overwrite it"
                                     : "; give a file in a writable folder, or - for standard output"));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : bytes(std::move(other.bytes)), options_(std::move(other.options_)), file_(std::exchange(other.file_, -1)) {}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  struct stat is{};
  if (::fstat(file_, &is) == 0 && S_ISREG(is.st_mode)) ::unlink(options_.path.c_str());
  ::close(file_);
}

void OutputFile::fail() const { throw std::runtime_error(cannot("write", options_.path, errno)); }

void OutputFile::write_at(std::string_view what, std::int64_t offset) {
  NFX_ASSERT(file_ >= 0);
  while (!what.empty()) {
    const ssize_t count = offset < 0 ? ::write(file_, what.data(), what.size())
                                     : ::pwrite(file_, what.data(), what.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    what.remove_prefix(static_cast<std::size_t>(count));
    if (offset >= 0) offset += count;
  }
}

void OutputFile::flush() {
  if (bytes.empty()) return;
  if (options_.path != "-") {
    write_at(bytes, -1);
  } else if (options_.printable) {
    print(SafeText::lines(bytes));
  } else {
    print_data(bytes);
  }
  bytes.clear();
}

void OutputFile::rewrite_beginning(std::string_view begin) {
  flush();
  write_at(begin, 0);
}

void OutputFile::finish() {
  flush();
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0) fail();
}

}  // namespace nfx::app
