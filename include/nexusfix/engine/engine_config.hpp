// Everything the engine is told before it runs, from a TOML file or filled in by a program.
// Errors: ConfigError, one line that names file, line, key and what to write instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/store/memory_message_store.hpp"
#include "nexusfix/transport/transport.hpp"

namespace nfx {

struct SessionSettings {
  SessionConfig session;
  std::shared_ptr<const Dictionary> dictionary;  // keeps what session.dictionary points to

  Endpoint listen;                                       // acceptor: where it is expected; sessions may share one
  std::vector<Endpoint> connect;                         // initiator: tried in turn until one exchanges Logons
  std::chrono::milliseconds reconnect_delay{1000};       // after the first failure; doubles each time
  std::chrono::milliseconds reconnect_delay_max{60000};  // with jitter of up to half of it subtracted

  std::size_t send_buffer_size = 1024 * 1024;  // bytes encoded but not yet taken by the kernel
  MemoryStoreOptions store;
  SeqNum next_inbound = first_seq_num;  // where the numbers stand at start, as agreed with the peer
  SeqNum next_outbound = first_seq_num;
  bool prefault = false;          // touch the store's memory before the first message, all of it
  std::uint32_t poll_thread = 0;  // below EngineConfig::poll_threads
};

struct EngineConfig {
  std::uint32_t poll_threads = 1;
  IdleMode idle = IdleMode::block;
  std::size_t max_message_size = 64 * 1024;
  std::uint32_t max_fields = 512;  // per message

  // Connections that have not logged on yet.
  std::uint32_t max_pending_logons = 64;
  std::chrono::milliseconds pending_logon_timeout{10000};
  std::size_t pending_logon_bytes = 4096;

  std::vector<SessionSettings> sessions;
};

// "FIX.4.4:OURS->THEIRS", as messages and logs name a session.
[[nodiscard]] std::string identity(const SessionConfig& session);

class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads [engine], [defaults] and one [[session]] per session. Relative dictionary paths count from the file's folder,
// then from the installed dictionaries. Thread: any, before run.
[[nodiscard]] EngineConfig load_config(const std::filesystem::path& file);
[[nodiscard]] EngineConfig parse_config(std::string_view toml, std::string_view name,
                                        const std::filesystem::path& folder);

// What load_config checks of any configuration: identities unique, acceptors with an address, and so on.
void check_config(const EngineConfig& config);

// One line per key: section, key, type, default, meaning. For --help and the documentation.
[[nodiscard]] std::string config_reference();

}  // namespace nfx
