// The files in which a Linux host describes itself, /proc and /sys, read below a root: "/" for this host, or a folder
// that holds copies of another's (made by hand, or by `nfx host collect`).
// Thread: any; no state but the root. Cost: system calls. Errors: errno values, so that "is not there" (ENOENT) and
// "may not be read" (EACCES, EPERM) stay two things. Bounds: a file is read up to 4 MiB, a directory up to 65,536
// entries.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

class HostFiles {
 public:
  explicit HostFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  // Whether this is the machine we run on.
  [[nodiscard]] bool live() const { return root_ == "/"; }
  // The real path of "/proc/cmdline".
  [[nodiscard]] std::filesystem::path path(std::string_view file) const;

  // The whole content; `text` without blanks and line ends after it.
  [[nodiscard]] std::expected<std::string, int> read(std::string_view file) const;
  [[nodiscard]] std::expected<std::string, int> text(std::string_view file) const;
  [[nodiscard]] std::expected<long long, int> integer(std::string_view file) const;  // EINVAL: not an integer

  [[nodiscard]] bool exists(std::string_view file) const;
  // Names in a directory, without "." and "..", sorted with numbers as numbers (cpu2 before cpu10); empty when none.
  [[nodiscard]] std::vector<std::string> list(std::string_view directory) const;
  // The target of a symbolic link, unchanged.
  [[nodiscard]] std::expected<std::string, int> link(std::string_view file) const;

 private:
  std::filesystem::path root_;
};

// cpu2 before cpu10.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace nfx
