// Opens and reads files named by the operator. A FIFO, a device or a folder is refused without blocking, and the number
// of bytes read is limited.
// Thread: any that may block on a disk. Cost: system calls. Errors: a text that gives the reason, without the path.
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
  int code = 0;     // errno; 0 if the file was opened and refused
};

// Returns the descriptor of a regular file; the caller closes it. `flags` and `mode` are as for open(2). Adds
// O_CLOEXEC, O_NOCTTY and O_NONBLOCK, which change nothing for a regular file.
[[nodiscard]] std::expected<int, FileProblem> open_regular_file(const std::filesystem::path& file, int flags,
                                                                unsigned mode = 0600);

struct RegularFile {
  std::string text;
  std::uint32_t mode = 0;   // the permission bits
  std::uint32_t owner = 0;  // user id
};

// Reads a regular file of at most `most` bytes.
[[nodiscard]] std::expected<RegularFile, FileProblem> read_regular_file(const std::filesystem::path& file,
                                                                        std::size_t most);

}  // namespace nfx
