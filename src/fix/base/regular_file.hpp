// Opens and reads files that the operator named, whatever is in their place: a FIFO, a device or a folder is refused
// before anything waits for it, and no more than a stated number of bytes is read.
// Thread: any that may block on a disk. Cost: system calls. Errors: a text that says why, without the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct FileProblem {
  std::string why;  // "No such file or directory", "it is a FIFO, not a regular file", "it is larger than 16 MiB"
  int code = 0;     // errno; 0 when the file was opened and refused
};

// The descriptor of a regular file, which the caller closes. `flags` and `mode` are those of open(2); O_CLOEXEC,
// O_NOCTTY and O_NONBLOCK are added, which change nothing for a regular file.
[[nodiscard]] std::expected<int, FileProblem> open_regular_file(const std::filesystem::path& file, int flags,
                                                                unsigned mode = 0600);

struct RegularFile {
  std::string text;
  std::uint32_t mode = 0;   // the permission bits
  std::uint32_t owner = 0;  // user
};

// All of a regular file of at most `most` bytes.
[[nodiscard]] std::expected<RegularFile, FileProblem> read_regular_file(const std::filesystem::path& file,
                                                                        std::size_t most);

}  // namespace nfx
