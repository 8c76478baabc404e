// open(2) with O_NONBLOCK and fstat(2) before the first read(2), so that only a regular file is ever read.
#include "base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/error_text.hpp"

namespace nfx {
namespace {

[[nodiscard]] FileProblem problem_of(int code) { return {system_text(code), code}; }

[[nodiscard]] std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a FIFO, not a regular file";
  if (S_ISSOCK(mode)) return "it is a socket, not a regular file";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "it is a device, not a regular file";
  return S_ISREG(mode) ? "" : "it is not a regular file";
}

[[nodiscard]] std::string size_text(std::size_t bytes) {
  constexpr std::size_t mib = std::size_t{1} << 20, kib = 1024;
  if (bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
  return bytes % kib == 0 ? std::to_string(bytes / kib) + " KiB" : std::to_string(bytes) + " bytes";
}

struct CheckedFile {
  int fd = -1;
  struct stat facts{};
};

[[nodiscard]] std::expected<CheckedFile, FileProblem> open_checked(const std::filesystem::path& file, int flags,
                                                                   unsigned mode) {
  CheckedFile opened;
  opened.fd = ::open(file.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
  if (opened.fd < 0) {
    const int code = errno;
    // A FIFO without a reader, and a socket, cannot be opened at all; the kind of file is more helpful than the error.
    struct stat facts{};
    if (code == ENXIO && ::stat(file.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
      return std::unexpected(FileProblem{std::string{kind_of(facts.st_mode)}, code});
    return std::unexpected(problem_of(code));
  }
  const int code = ::fstat(opened.fd, &opened.facts) == 0 ? 0 : errno;
  if (code == 0 && S_ISREG(opened.facts.st_mode)) return opened;
  ::close(opened.fd);
  if (code != 0) return std::unexpected(problem_of(code));
  return std::unexpected(FileProblem{std::string{kind_of(opened.facts.st_mode)}});
}

}  // namespace

std::expected<int, FileProblem> open_regular_file(const std::filesystem::path& file, int flags, unsigned mode) {
  auto opened = open_checked(file, flags, mode);
  if (!opened) return std::unexpected(std::move(opened.error()));
  return opened->fd;
}

std::expected<RegularFile, FileProblem> read_regular_file(const std::filesystem::path& file, std::size_t most) {
  auto opened = open_checked(file, O_RDONLY, 0);
  if (!opened) return std::unexpected(std::move(opened.error()));
  // The size may be wrong: files of /proc have none, and another process may append meanwhile.
  constexpr std::size_t step = 64 * 1024;
  const auto announced = static_cast<std::size_t>(std::max<off_t>(opened->facts.st_size, 0));
  RegularFile result{.text = {}, .mode = opened->facts.st_mode & 07777U, .owner = opened->facts.st_uid};
  int code = 0;
  std::size_t size = 0;
  if (announced <= most) result.text.resize(announced + 1);
  while (announced <= most && size <= most) {
    if (size == result.text.size()) result.text.resize(size + step);
    const ssize_t got = ::read(opened->fd, result.text.data() + size, result.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) code = errno;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(opened->fd);
  if (code != 0) return std::unexpected(problem_of(code));
  if (announced > most || size > most) return std::unexpected(FileProblem{"it is larger than " + size_text(most)});
  result.text.resize(size);
  return result;
}

}  // namespace nfx
