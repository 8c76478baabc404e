// Counts the journals of template sessions in a folder, and removes journals that have not been used for long.
#include "store/template_stores.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "store/journal_bytes.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_scan.hpp"
#include "store/journal_space.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

// The initial size of a new journal, until the next scan: two segments, one of them with its first step.
constexpr std::uint64_t bytes_of_new = 2 * segment_header_size + first_step_of(true) + start_size;

struct Use {
  std::uint64_t bytes = 0;
  UtcTime last{};
};

// The time of a journal's last sync, from the commit marks of its segments.
UtcTime last_use_of(DiskFile& file) {
  std::string page(segment_header_size, '\0');
  if (file.read(0, page).value_or(0) != page.size()) return {};
  SegmentHeader header;
  std::memcpy(&header, page.data(), sizeof header);
  const auto mark = last_mark(page);
  return from_ns(std::max(header_is_whole(header) ? header.begun_ns : 0, mark ? mark->time_ns : 0));
}

void add_files(Disk& disk, const fs::path& folder, Use& use) {
  for (const std::string& name : disk.list(folder).value_or(std::vector<std::string>{})) {
    const auto ordinal = segment_ordinal(name);
    if (!ordinal && !read_archived_name(name)) continue;
    const auto file = disk.open(folder / name, OpenMode::read);
    if (!file) continue;
    use.bytes += (*file)->size().value_or(0);
    if (ordinal) use.last = std::max(use.last, last_use_of(**file));
  }
}

}  // namespace

void TemplateStores::look(const JournalOptions& journal, Folder& folder, UtcTime now) {
  const fs::path store = journal.directory;
  folder.looked = now;
  folder.stores = folder.bytes = 0;
  for (const std::string& name : disk_.list(store).value_or(std::vector<std::string>{})) {
    const fs::path each = store / name;
    if (name.find_first_not_of("0123456789abcdef") != std::string::npos || !disk_.exists(each / template_mark))
      continue;
    Use use;
    add_files(disk_, each, use);
    add_files(disk_, each / archive_folder, use);
    const bool is_old = limits_.age.count() != 0 && use.last != UtcTime{} && now - use.last > limits_.age;
    if (is_old && remove_journal(disk_, each, journal.ring_directory)) continue;
    ++folder.stores;
    folder.bytes += use.bytes;
  }
}

void TemplateStores::admit(const JournalOptions& journal, std::string_view identity, UtcTime now) {
  const std::lock_guard lock(mutex_);
  const fs::path store = journal.directory;
  Folder& folder = folders_[journal.directory];
  if (folder.looked == UtcTime{} || now - folder.looked > look_every) look(journal, folder, now);
  if (disk_.exists(find_session_folder(disk_, store, identity))) return;
  const auto refuse = [&](const std::string& what, const char* key) {
    const bool first = !std::exchange(folder.refusing, true);
    throw StoreRefusal(store.string() + " has " + what + " of sessions from templates, as many as " + key +
                           " allows: a CompID without a journal is refused; raise it, or remove journals that nobody "
                           "uses",
                       first);
  };
  if (limits_.stores != 0 && folder.stores >= limits_.stores)
    refuse(std::to_string(folder.stores) + " journals", "max_dynamic_stores");
  if (limits_.bytes != 0 && folder.bytes + bytes_of_new > limits_.bytes)
    refuse(std::to_string(folder.bytes) + " bytes of journals", "max_dynamic_store_bytes");
  folder.refusing = false;
  ++folder.stores;
  folder.bytes += bytes_of_new;
}

// Removes the last segment first, like JournalWriter::discard(): after a kill, the journal only ends earlier.
bool remove_journal(Disk& disk, const fs::path& folder, const fs::path& ring_directory) {
  const auto lock = disk.lock(folder / lock_name);
  if (!lock) return false;
  const fs::path archive = folder / archive_folder;
  for (const fs::path& each : {archive, folder}) {
    if (!disk.exists(each)) continue;
    const auto names = disk.list(each);
    if (!names) return false;
    for (const std::string& name : std::views::reverse(*names)) {
      const bool is_segment = segment_ordinal(name) || read_archived_name(name) || name.ends_with(unfinished_suffix);
      if (is_segment && !disk.remove(each / name)) return false;
    }
    if (!disk.sync_folder(each)) return false;
  }
  if (disk.exists(archive) && !disk.remove_folder(archive)) return false;
  if (const fs::path ring = ring_path(ring_directory, folder); disk.exists(ring)) (void)disk.remove(ring);
  if (disk.exists(folder / template_mark)) (void)disk.remove(folder / template_mark);
  (void)disk.remove(folder / lock_name);
  return disk.remove_folder(folder).has_value();
}

}  // namespace nfx
