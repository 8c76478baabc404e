// A rail of any transport, by its name on the command line.
// Thread: the rail's. Errors: std::runtime_error with the transport's own text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/fabric/rail.hpp"

namespace nfx::app::fabric {

class BenchRail {
 public:
  virtual ~BenchRail() = default;
  [[nodiscard]] virtual nfx::fabric::RailRef ref() const noexcept = 0;
  [[nodiscard]] virtual std::string_view place() const noexcept = 0;  // the address that the other end connects to
};

// `place` is a path for a Unix socket; an end that listens over TCP uses a free port of 127.0.0.1 instead.
[[nodiscard]] std::unique_ptr<BenchRail> make_bench_rail(const std::string& provider, bool listens,
                                                         const std::string& place);

}  // namespace nfx::app::fabric
