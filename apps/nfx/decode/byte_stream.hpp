// The bytes of a file, of standard input, or of a file within a zip archive, decompressed.
// Thread: one owner. Lifetime: bytes are valid until the next call. Errors: std::runtime_error that names the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::app {

class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // The next bytes; none at the end.
  [[nodiscard]] virtual std::string_view next() = 0;
  // Whether bytes, or the end, arrive within this time; -1: no limit.
  [[nodiscard]] virtual bool ready(int /*timeout_ms*/) const { return true; }
};

// One log: a file, or a file in an archive.
struct LogFile {
  std::string path;  // "-": standard input
  std::string name;  // as shown: "logs.zip/venue.log"
  std::uint64_t archive_index = 0;
  bool archived = false;
};

// The files in a zip archive. In a program built without libzip, both throw and name the package.
[[nodiscard]] std::vector<LogFile> files_in_archive(const std::string& path);
[[nodiscard]] std::unique_ptr<ByteStream> open_archived(const LogFile& file);

// `read_ahead`: a compressed file is decompressed on a separate thread.
[[nodiscard]] std::unique_ptr<ByteStream> open_bytes(const LogFile& file, bool read_ahead);

}  // namespace nfx::app
