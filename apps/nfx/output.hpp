// Output of a command: the types and functions of log/print.hpp, and a text that is collected and written in large
// pieces.
// Thread: one owner. Cost: a write per 64 KiB or flush(). Errors: a failed write throws std::runtime_error.
#pragma once

#include "log/print.hpp"

namespace nfx::app {

class Output {
 public:
  SafeText text;

  void flush() {
    if (text.empty()) return;
    print(text);
    text.clear();
  }
  void flush_when_large() {
    if (text.size() >= 64 * 1024) flush();
  }
};

}  // namespace nfx::app
