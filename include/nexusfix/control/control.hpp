// The control plane of an engine: commands of operators, sessions, metrics and health, over a UNIX socket and, where
// configured, over HTTP on loopback. A thread of its own; poll threads take each command between two events and are not
// touched otherwise. docs/control.md has the interface, the roles and the limits.
//
//   nfx::use_control();                      // programs made with nfx::run: before it, [control] does the rest
//   auto control = nfx::make_control(engine);  // programs with an Engine of their own
//
// Thread: made and destroyed by the owner, while the engine exists. Its thread ends with it. Cost: none without
// requests. Bounds: connections, sizes, rates and times in docs/control.md. Errors: ConfigError at start, naming the
// key of [control] and the fix; afterwards whatever a client does is its answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/engine/engine.hpp"

namespace nfx {

class Control {
 public:
  virtual ~Control() = default;
  // The port of `http`, where the configured one is 0.
  [[nodiscard]] virtual std::uint16_t http_port() const noexcept = 0;
};

// Configured by [control] of the engine's configuration; null if it configures nothing. Throws ConfigError, also in a
// build without Boost.Beast (package libboost-dev). `file` is the configuration file: paths of added sessions are
// relative to its folder, and added sessions without a store have journals beside it, as with nfx::run. Without a file,
// paths are relative to the working folder, and such sessions are in memory.
[[nodiscard]] std::unique_ptr<Control> make_control(Engine& engine, const std::string& file = {});

[[nodiscard]] bool control_supported() noexcept;

// nfx::run and run_program() start the control plane where the configuration has it.
void use_control() noexcept;

}  // namespace nfx
