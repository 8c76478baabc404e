// nfx store rings: lists rings that killed processes left in shared memory, and removes unneeded ones.
#include <sys/stat.h>

#include "command.hpp"
#include "decode/print.hpp"
#include "store/left_rings.hpp"
#include "store/store_commands.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct RingOptions {
  Place place;  // only its ring directory is used
  std::string format = "text";
  bool remove = false;
};

// Pages of a ring that were never written take no memory. 0 if the ring is gone.
std::uint64_t memory_of(const LeftRing& ring) {
  constexpr std::uint64_t block = 512;  // the unit of st_blocks, whatever the file system
  struct stat facts{};
  return ::stat(ring.path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * block : 0;
}

std::string describe(const LeftRing& ring) {
  switch (ring.state) {
    case RingState::held:
      return "held: open in process " + (ring.pid == 0 ? std::string{"unknown"} : std::to_string(ring.pid));
    case RingState::needed:
      return "needed: " + counted(ring.lacking, "byte") +
             " are not in the files; the session's next opening writes them there";
    case RingState::written: return "left by process " + std::to_string(ring.pid) + ": everything is in the files";
    case RingState::orphaned: return "left by process " + std::to_string(ring.pid) + ": the session's folder is gone";
    case RingState::useless: return "useless: of another boot, or never finished; no opening reads it";
    case RingState::unknown: return "unknown: " + ring.why;
  }
  return {};
}

void append_text(SafeText& out, const LeftRing& ring, std::uint64_t memory, bool removed) {
  out.add("{}  {} in memory, up to {}\n", ring.path.string(), readable_size(memory), readable_size(ring.size));
  if (!ring.folder.empty()) out.add("  folder  {}\n", ring.folder);
  out.add("  state   {}{}\n", describe(ring),
          removed                      ? "; removed"
          : may_be_removed(ring.state) ? "; --remove would remove it"
                                       : "");
}

void append_json(SafeText& out, const LeftRing& ring, std::uint64_t memory, bool removed) {
  out += "{\"ring\":";
  append_json_text(out, ring.path.string());
  append_member(out, "state", to_string(ring.state));
  append_member(out, "bytes", ring.size);
  append_member(out, "memory", memory);
  if (!ring.folder.empty()) append_member(out, "folder", ring.folder);
  if (ring.pid != 0) append_member(out, "pid", ring.pid);
  if (ring.lacking != 0) append_member(out, "lacking", ring.lacking);
  if (!ring.why.empty()) append_member(out, "why", ring.why);
  out.add(",\"removed\":{}}\n", removed ? "true" : "false");
}

int show_rings(const RingOptions& options) {
  SafeText out, errors;
  std::uint64_t removed_bytes = 0, removed_count = 0, count = 0;
  for (const LeftRing& ring : list_rings(posix_disk(), options.place.ring_directory)) {
    const std::uint64_t memory = memory_of(ring);
    bool removed = false;
    if (options.remove && may_be_removed(ring.state)) {
      try {
        remove_ring(posix_disk(), ring);
        removed = true;
        ++removed_count;
        removed_bytes += memory;
      } catch (const StoreError& error) {
        errors.add("nfx: {}\n", error.what());
      }
    }
    ++count;
    if (options.format == "json") {
      append_json(out, ring, memory, removed);
    } else {
      append_text(out, ring, memory, removed);
    }
  }
  if (options.format == "text") {
    out.add("{}: {}", options.place.ring_directory, counted(count, "ring"));
    if (options.remove) out.add(", {} removed: {}", removed_count, readable_size(removed_bytes));
    out += '\n';
  }
  print(out);
  print_error(errors);
  return errors.empty() ? exit_done : exit_failed;
}

}  // namespace

cli::Command rings_command() {
  static RingOptions options;
  return {
      .name = "rings",
      .summary = "List and remove rings that killed processes left in shared memory",
      .run = [] { return show_rings(options); },
      .options = {ring_directory_option(options.place),
                  {.names = "--remove", .target = &options.remove, .help = "Remove rings that are no longer needed"},
                  format_option(options.format, "Output format; json: one object per ring and line")},
      .details =
          R"(States: held (a process has it open), needed (it has what the journal's files lack, and the session's next opening takes it from here), written (everything in it is in the files), orphaned (the folder of its session is gone), useless (of another boot of the machine, or never finished), unknown (it does not name its session).
The size is the memory that a ring takes now, and what it takes at most: pages that were never written take none.
Only written, orphaned and useless ones are removed. Run it where the engine runs: a folder that is not mounted here, or that only another container sees, looks as if it were gone.)",
      .examples = {{.line = "nfx store rings", .about = "shared memory that killed processes left"},
                   {.line = "nfx store rings --remove"}},
  };
}

}  // namespace nfx::app::store
