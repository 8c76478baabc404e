// What a command prints, gathered and written in large pieces.
// Thread: one owner. Cost: a write per 64 KiB or flush(). Errors: what cannot be written throws std::runtime_error.
#pragma once

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nfx::app {

class Output {
 public:
  explicit Output(std::FILE* file = stdout) noexcept : file_(file) {}

  std::string text;

  void flush() {
    if (text.empty()) return;
    const bool written = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    if (!written) throw std::runtime_error("cannot write the output: " + std::generic_category().message(errno));
    text.clear();
  }
  void flush_when_large() {
    if (text.size() >= 64 * 1024) flush();
  }

 private:
  std::FILE* file_;
};

}  // namespace nfx::app
