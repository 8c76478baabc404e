// Selects the archived segments of --archive.

#include "nexusfix/config/engine_config.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::store {

cli::Option archive_option(std::string& archive) {
  return {.names = "--archive",
          .target = &archive,
          .help = "Archived segment, named as in 'nfx store ls'; all: all of them",
          .value = "NAME"};
}

std::vector<ArchivedSegment> find_archived(const StoredSession& session, const std::string& archive) {
  std::vector<ArchivedSegment> there = list_archive(posix_disk(), session.folder);
  if (archive == "all" && !there.empty()) return there;
  std::string names;
  constexpr std::size_t most = 20;
  std::size_t named = 0;
  for (ArchivedSegment& segment : there) {
    if (segment.path.filename() == archive || segment.path.stem() == archive) return {std::move(segment)};
    if (named++ < most) names += (names.empty() ? "" : ", ") + segment.path.filename().string();
  }
  if (there.empty()) {
    throw ConfigError(session.folder.string() + ": nothing of " + session.identity +
                      " is archived; leave out --archive");
  }
  if (named > most) names += " and " + std::to_string(named - most) + " more";
  throw ConfigError(session.folder.string() + ": no segment \"" + archive + "\" is archived; archived are " + names);
}

std::vector<JournalScan> scan_chosen(const StoredSession& session, const std::string& archive,
                                     const std::function<bool(const JournalRecord&)>& visit) {
  std::vector<JournalScan> scans;
  if (archive.empty()) {
    scans.push_back(scan_session(session, visit));
    return scans;
  }
  for (const ArchivedSegment& segment : find_archived(session, archive)) {
    scans.push_back(scan_archived(posix_disk(), segment, visit));
  }
  return scans;
}

}  // namespace nfx::app::store
