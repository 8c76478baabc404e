// The stores that a session can have, and their options. To add one, write its row here, its header into
// session_store.hpp, and how it is opened into src/engine/engine/session_stores.cpp, where the compiler reports the
// missing case. The value of `store`, its help, its documentation and what a SessionStore holds are made from the rows.
// Thread: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

// The name, the class, which meets MessageStore, and for the help of the key what it is.
#define NFX_STORES(row)                                                 \
  row(memory, MemoryMessageStore, "only as long as the process runs. ") \
      row(journal, JournalStore, "in files, so that they survive the process. ")

namespace nfx {

// Where sent messages and sequence numbers of a session are stored.
#define NFX_STORE_KIND(name, type, help) name,
enum class StoreKind : std::uint8_t {
  unset,  // memory; `nfx serve` makes it journal
  NFX_STORES(NFX_STORE_KIND)
};
#undef NFX_STORE_KIND

// The limits of a store in memory.
struct MemoryStoreOptions {
  std::size_t retain_messages = 65536;          // numbers back from the last one appended; 0 stores no message
  std::size_t retain_bytes = 16 * 1024 * 1024;  // below 4 GiB
};

// Where a journal is, how large its parts are, and its durability.

class JournalReplica;

// The guarantee of the journal at the time when bytes are sent to the peer.
enum class Durability : std::uint8_t {
  none,  // written to the file now and then, synced only at the end: survives the end of the process, not a power loss
  interval,    // synced every sync_interval: a power loss costs at most that much
  group,       // nothing is sent before it is synced; one sync serves all that gathered meanwhile, of all sessions
  message,     // as group, and send() itself returns only when its message is synced
  replicated,  // as interval on the disk, and nothing is sent before a replica has stored it
  async,       // the same, up to a limit of messages and bytes before the replica has stored them
};

// Nothing is sent that a replica, or the rules of one, have not released; see journal_replica.hpp.
[[nodiscard]] constexpr bool is_replicated(Durability durability) noexcept {
  return durability >= Durability::replicated;
}

[[nodiscard]] std::string_view to_string(Durability durability) noexcept;

// How segments from before a reset of the sequence numbers are treated.
enum class Archive : std::uint8_t {
  keep,    // they move to the folder archive/, without their unused end, within archive_bytes and archive_age
  remove,  // they are deleted
};

[[nodiscard]] std::string_view to_string(Archive archive) noexcept;

struct JournalOptions {
  std::string directory;                          // of all sessions. Each has a folder in it
  std::string ring_directory = "/dev/shm";        // a tmpfs: its pages must never be written back to a disk
  std::uint64_t segment_size = 64 * 1024 * 1024;  // bytes of a file, header included; 64 KiB to 1 GiB
  std::uint32_t ring_size = 4 * 1024 * 1024;      // a power of two, 64 KiB to 1 GiB: what may wait for the flusher
  Durability durability = Durability::interval;
  Duration sync_interval = std::chrono::milliseconds{10};
  std::size_t retain_messages = std::size_t{1} << 20;  // numbers back from the last that can be resent
  std::uint64_t retain_bytes = 0;      // of segments, archived ones included; the oldest go. 0: all stay
  std::chrono::seconds retain_age{0};  // of whole segments; 0: any
  Archive archive = Archive::keep;
  std::uint64_t archive_bytes = std::uint64_t{4} << 30;  // of archived segments; the oldest are deleted. 0: all stay
  std::chrono::seconds archive_age = std::chrono::days{90};  // since a segment was archived; 0: any
  // Zeros are written to space that was reserved, so that a sync that a session waits for writes no metadata. A
  // recording does without: nothing waits for its syncs, and the disk writes half as much.
  bool zeros_ahead = true;
  // Takes as little of disk and memory as it can until the session has many messages, and returns what it does not need
  // when it is closed: for sessions that anybody may begin.
  bool lean = false;
  // A session whose disk is full keeps its connection until then, and then logs out. 0: immediately.
  std::chrono::seconds full_timeout{30};
  // Required by a journal with a replicated durability.
  std::shared_ptr<JournalReplica> replica = nullptr;
};

}  // namespace nfx
