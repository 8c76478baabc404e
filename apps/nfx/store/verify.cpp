// nfx store verify and repair: check that every byte is intact, and repair it.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "cli/progress.hpp"
#include "command.hpp"
#include "engine/journal_check.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/forwarding_disk.hpp"
#include "store/store_commands.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

constexpr int exit_whole = 0;
constexpr int exit_torn = 1;
constexpr int exit_damaged = 2;

// `what` names the checked item; `about` follows its counts.
int report(const std::string& what, const StoredSession& session, const JournalScan& scan, const JournalCheck& checker,
           const std::string& about) {
  const bool torn = scan.damage && scan.torn;
  const bool damaged = (scan.damage && !scan.torn) || checker.found() != 0;
  SafeText out;
  out.add("{}{}, {}, {}{}\n", what,
          damaged ? ": DAMAGED"
          : torn  ? ": torn"
                  : ": ok",
          counted(scan.records, "record"), counted(checker.messages(), "message"), about);
  for (const JournalCheck::Finding& each : checker.findings())
    out.add("  {}: byte {}: {}\n", each.file, each.offset, each.what);
  if (checker.found() > JournalCheck::most_findings)
    out.add("  and {} more like these\n", checker.found() - JournalCheck::most_findings);
  if (checker.found() != 0) {
    out +=
        "  their checksums are right, so NexusFIX wrote them wrongly: please report a bug.\n"
        "  'nfx store cat' shows them; on resend such a message is gap-filled\n";
  }
  if (scan.damage) out.add("  {}\n", describe(*scan.damage, session, scan.torn));
  print(out);
  return damaged ? exit_damaged : torn ? exit_torn : exit_whole;
}

int verify_archived(const StoredSession& session, const std::string& archive) {
  int worst = exit_whole;
  for (const ArchivedSegment& segment : find_archived(session, archive)) {
    JournalCheck checker;
    // Sequence numbers must ascend only within a segment.
    if (segment.header) checker.begin_at(segment.header->next_outbound);
    const std::string what = session.identity + " " + segment.path.filename().string();
    try {
      cli::Progress progress{"verifying " + what};
      const JournalScan scan = scan_archived(posix_disk(), segment, [&](const JournalRecord& record) {
        progress.add(record.header.size);
        checker.check(record);
        return true;
      });
      progress.end();
      worst = std::max(worst, report(what, session, scan, checker, ", archived"));
    } catch (const StoreError& error) {
      std::error_code gone;
      if (!std::filesystem::exists(segment.path, gone)) continue;  // removed meanwhile because of its age
      print("{}: DAMAGED\n  {}\n", what, error.what());
      worst = exit_damaged;
    }
  }
  return worst;
}

int verify_session(const StoredSession& session) {
  JournalCheck checker;
  const auto held = holder(posix_disk(), session.folder);
  cli::Progress progress{"verifying " + session.identity};
  const JournalScan scan = scan_session(session, [&](const JournalRecord& record) {
    progress.add(record.header.size);
    checker.check(record);
    return true;
  });
  progress.end();
  std::string about = ", " + counted(scan.segments.size(), "segment") + ", " + std::to_string(scan.end) + " bytes";
  if (held) about += ", open in process " + std::to_string(*held);
  return report(session.identity, session, scan, checker, about);
}

int verify(const Place& place, const std::string& archive) {
  int worst = exit_whole;
  for (const StoredSession& session : find_sessions(place)) {
    if (!archive.empty()) {
      worst = std::max(worst, verify_archived(session, archive));
      continue;
    }
    try {
      if (!list_archive(posix_disk(), session.folder).empty()) {
        worst = std::max(worst, verify_archived(session, "all"));
      }
      worst = std::max(worst, verify_session(session));
    } catch (const JournalVersionError&) {
      throw;
    } catch (const StoreError& error) {
      print("{}: DAMAGED\n  {}\n", session.identity, error.what());
      worst = exit_damaged;
    }
  }
  return worst;
}

// A repair spends its time reading the files' bytes several times, so this counts reads as progress.
class DiskWithProgress final : public ForwardingDisk {
 public:
  explicit DiskWithProgress(std::string_view what) : ForwardingDisk(posix_disk()), progress_(what) {}

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    auto file = ForwardingDisk::open(path, mode);
    if (!file) return file;
    return std::make_unique<File>(*std::move(file), progress_);
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(std::unique_ptr<DiskFile> inner, cli::Progress& progress) noexcept
        : ForwardingFile(std::move(inner)), progress_(progress) {}
    DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      auto bytes = ForwardingFile::read(offset, into);
      if (bytes) progress_.add(*bytes);
      return bytes;
    }

   private:
    cli::Progress& progress_;
  };

  cli::Progress progress_;
};

struct RepairOptions {
  Place place;
  bool gap_fill = false;
  std::string copy;
};

int repair(const RepairOptions& options) {
  if (options.gap_fill == !options.copy.empty()) {
    throw ConfigError(
        "give --from COPY to take unreadable records from a copy of the session's folder, or --gap-fill to leave them "
        "out");
  }
  const StoredSession session = find_session(options.place);
  std::string done;
  {
    DiskWithProgress disk{"repairing " + session.identity};
    done = options.gap_fill ? repair_by_gap_fill(disk, session.folder)
                            : repair_from_copy(disk, session.folder, options.copy);
  }
  print("{}: {}\n", session.identity, done);
  return exit_done;
}

}  // namespace

cli::Command verify_command() {
  static Place place;
  static std::string archive;
  return {
      .name = "verify",
      .summary = "Read everything, and check every checksum and sequence number",
      .run = [] { return verify(place, archive); },
      .options = with(place_options(place), {archive_option(archive)}),
      .details =
          "Checks the checksum of each record, BodyLength and CheckSum of each message, that a message has the "
          "sequence number under which it is stored, and that sequence numbers ascend unless something set them. "
          "Archived segments are checked too; --archive checks only those.",
      .exit_codes =
          "0 all is as written; 1 the end is torn, as after a power loss, and the next opening truncates it: no "
          "commit is lost; 2 something committed cannot be read",
      .examples = {{.line = "nfx store verify journals", .about = "whether every byte is what was written"}},
  };
}

cli::Command repair_command() {
  static RepairOptions options;
  return {
      .name = "repair",
      .summary = "Make a damaged journal readable again",
      .run = [] { return repair(options); },
      .options =
          with(place_options(options.place), {{.names = "--gap-fill",
                                               .target = &options.gap_fill,
                                               .help = "Leave out unreadable messages; they are gap-filled on resend",
                                               .excludes = {"--from"}},
                                              {.names = "--from",
                                               .target = &options.copy,
                                               .help = "Copy of the session's folder, to take unreadable messages from",
                                               .value = "COPY",
                                               .kind = cli::Kind::folder}}),
      .details =
          "The damaged files stay next to the repaired ones as NAME.damaged. A session that a process has open is "
          "refused: stop its engine first.",
      .examples = {{.line = "nfx store repair journals/0011223344556677 --from /backup/0011223344556677"},
                   {.line = "nfx store repair journals --session 'FIX.4.4:DESK->VENUE' --gap-fill"}},
  };
}

}  // namespace nfx::app::store
