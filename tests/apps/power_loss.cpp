// Preloaded into a program: keeps a copy of each file's synced content, so that a test can remove the unsynced part, as
// a power loss does. After fdatasync(fd) has succeeded, the file NFX_SYNCED/<inode> holds the content of fd's file at
// the time of the call, without later writes.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// True if the file `to` contains all of `from`.
bool copy(int from, const std::string& to) {
  const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return false;
  std::vector<char> piece(256 * 1024);
  off_t at = 0;
  bool whole = false;
  for (;;) {
    const ssize_t got = pread(from, piece.data(), piece.size(), at);
    whole = got == 0;
    if (got <= 0 || pwrite(out, piece.data(), static_cast<std::size_t>(got), at) != got) break;
    at += got;
  }
  close(out);
  return whole;
}

}  // namespace

extern "C" int fdatasync(int fd) {
  static auto* const real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fdatasync"));
  static const char* const folder = std::getenv("NFX_SYNCED");
  struct stat facts{};
  if (folder == nullptr || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return real(fd);
  const std::string kept = std::string{folder} + '/' + std::to_string(facts.st_ino);
  const std::string next = kept + ".next";
  if (!copy(fd, next)) {
    std::perror("power_loss: cannot keep what is synced");
    std::abort();
  }
  const int result = real(fd);
  if (result == 0 && std::rename(next.c_str(), kept.c_str()) != 0) std::abort();
  return result;
}
