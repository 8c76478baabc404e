// A note in the folder of a journal: its session continued with the journal alone, because the cluster did not answer.
// What the journal has after that was sent, although the stream does not have it. Thread: one at a time. Cost: a file
// and two syncs. Errors: write() throws StoreError; a note that cannot be read has no effect.
#pragma once

#include <filesystem>
#include <optional>

#include "cluster/frame.hpp"
#include "nexusfix/base/time.hpp"
#include "store/disk.hpp"

namespace nfx::gateway {

struct AloneNote {
  UtcTime began{};             // the sequence numbers of that time
  cluster::Counters counters;  // the stream has at most these from this gateway
  friend bool operator==(const AloneNote&, const AloneNote&) = default;

  // Durable when it returns.
  static void write(Disk& disk, const std::filesystem::path& folder, const AloneNote& note);
  [[nodiscard]] static std::optional<AloneNote> read(Disk& disk, const std::filesystem::path& folder);
  // No error: a note that remains has no effect on a journal whose records the stream has.
  static void remove(Disk& disk, const std::filesystem::path& folder) noexcept;
};

}  // namespace nfx::gateway
