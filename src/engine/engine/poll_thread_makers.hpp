// Makes a poll thread over each transport that a configuration can name. Each transport is compiled in its own file,
// poll_thread_<name>.cpp, which defines its makers.
// Thread: any, at the start of an engine. Errors: exceptions of the transport's constructor and its probe.
#pragma once

#include <memory>
#include <string>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

struct EngineConfig;
class PollThread;
struct PollThreadOptions;

struct TransportProbe {
  bool available = true;
  std::string text;  // which of its features are used, or why it is not available; one line, may be empty
};

struct TransportMakers {
  std::unique_ptr<PollThread> (*plain)(const PollThreadOptions& options);
  std::unique_ptr<PollThread> (*with_tls)(const PollThreadOptions& options);
  // Whether this machine supports it; null: every machine does. Throws std::invalid_argument for an option out of
  // range.
  TransportProbe (*probe)(const EngineConfig& config) = nullptr;
};

#define NFX_DECLARE_TRANSPORT(name, help) extern const TransportMakers name##_makers;
NFX_TRANSPORTS(NFX_DECLARE_TRANSPORT)
#undef NFX_DECLARE_TRANSPORT

}  // namespace nfx
