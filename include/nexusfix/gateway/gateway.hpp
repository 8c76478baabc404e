// A gateway of a cluster: an engine that has the replicated sessions this process owns at the time. It becomes their
// owner, gives their records to the stream of NATS, has their bytes sent when the stream has them, and ends a
// session that another gateway owns now. docs/cluster.md has the rules, the settings and the limits.
//
//   nfx::use_cluster();                              // programs made with nfx::run: before it, [cluster] does the rest
//   auto gateway = nfx::make_gateway(engine, lines);  // programs with an Engine of their own
//
// Thread: the owner makes it after Engine::start() and destroys it once Engine::run() has returned and while the engine
// exists. It has two threads, on the housekeeping CPUs, and one more where it hands connections on. Cost: none for
// sessions that are not replicated. Bounds: each session's ring, and one frame in flight. Errors: ConfigError and
// NatsError at start, naming what to fix; afterwards lines in the log.
#pragma once

#include <memory>

#include "nexusfix/engine/engine.hpp"
#include "nexusfix/log/line_log.hpp"

namespace nfx {

class Gateway {
 public:
  virtual ~Gateway() = default;
  // Sessions that this process owns and serves now. From any thread.
  [[nodiscard]] virtual std::size_t owned() const noexcept = 0;
};

// By [cluster] of the engine's configuration. Null: nothing is configured there. `lines` outlives it.
[[nodiscard]] std::unique_ptr<Gateway> make_gateway(Engine& engine, LineLog& lines);

// nfx::run and run_program() start the gateway where the configuration has it.
void use_cluster() noexcept;

}  // namespace nfx
