// An experimental index in a header outside of this tree (CMake: NFX_BENCH_INDEX_PEER), with an interface of plain
// functions: the file that includes it is compiled for an instruction set that the rest of the program must not use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nfx::bench {

// Messages as a corpus keeps them: message i is bytes[offsets[i]] to bytes[offsets[i + 1]].
struct PeerCorpus {
  const char* bytes;
  const std::uint32_t* offsets;
};

struct PeerOrder {
  const std::uint32_t* messages;
  std::size_t count;
};

struct PeerField {
  int tag;
  std::size_t offset;
  std::size_t size;
};

// Reads a time stamp; nanoseconds since 1970. The header has no function for it, so the product's is lent to it.
using PeerReadTime = std::int64_t (*)(const char* text, std::size_t size) noexcept;

// False when the benchmark was built without the header, or this machine cannot run it.
bool index_peer_available() noexcept;

// Number of fields, summed up over the messages; and the same with typed reads.
std::uint64_t index_peer_count(const PeerCorpus& corpus, PeerOrder order) noexcept;
std::uint64_t index_peer_read_reports(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept;
std::uint64_t index_peer_read_orders(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept;
std::uint64_t index_peer_read_entries(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept;

// For checking: the fields of one message, at most `capacity` of them; their number, or -1 when it refuses the message.
int index_peer_fields(const char* message, std::size_t size, PeerField* fields, int capacity) noexcept;

}  // namespace nfx::bench
