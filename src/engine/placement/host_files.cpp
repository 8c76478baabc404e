// Reads files of a live host or of a copy below a root, with bounds.
#include "nexusfix/placement/machine.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

namespace nfx {
namespace {

constexpr std::size_t max_file_size = 4U << 20;
constexpr std::size_t max_entries = 65536;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at the start of `text`, without leading zeros.
std::string_view leading_number(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  text = text.substr(0, size);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  return text;
}

std::size_t digits_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = leading_number(a), y = leading_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      a.remove_prefix(digits_of(a));
      b.remove_prefix(digits_of(b));
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

std::filesystem::path HostFiles::path(std::string_view file) const {
  while (file.starts_with('/')) file.remove_prefix(1);
  return root_ / file;
}

std::expected<std::string, int> HostFiles::read(std::string_view file) const {
  const int fd = ::open(path(file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::unexpected(errno);
  std::string content;
  std::array<char, 16384> chunk;
  int error = 0;
  while (content.size() < max_file_size) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(fd);
  if (error != 0) return std::unexpected(error);
  return content;
}

std::expected<std::string, int> HostFiles::text(std::string_view file) const {
  auto content = read(file);
  if (content) content->erase(content->find_last_not_of(" \t\r\n") + 1);
  return content;
}

std::expected<long long, int> HostFiles::integer(std::string_view file) const {
  const auto content = text(file);
  if (!content) return std::unexpected(content.error());
  long long value = 0;
  const auto [end, error] = std::from_chars(content->data(), content->data() + content->size(), value);
  if (error != std::errc{} || end != content->data() + content->size()) return std::unexpected(EINVAL);
  return value;
}

bool HostFiles::exists(std::string_view file) const { return ::access(path(file).c_str(), F_OK) == 0; }

std::vector<std::string> HostFiles::list(std::string_view directory) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir{::opendir(path(directory).c_str()), ::closedir};
  std::vector<std::string> names;
  while (dir && names.size() < max_entries) {
    const dirent* entry = ::readdir(dir.get());  // NOLINT(concurrency-mt-unsafe): the stream has one user
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names, natural_less);
  return names;
}

std::expected<std::string, int> HostFiles::link(std::string_view file) const {
  std::array<char, 4096> target;
  const ssize_t size = ::readlink(path(file).c_str(), target.data(), target.size());
  if (size < 0) return std::unexpected(errno);
  return std::string{target.data(), static_cast<std::size_t>(size)};
}

}  // namespace nfx
