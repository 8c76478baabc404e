// Scans of a journal that its engine is writing.
#include "control/store_view.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "log/message_text.hpp"
#include "store/journal_archive.hpp"

namespace nfx::control {

StoreView store_view(Disk& disk, JournalStatus journal) {
  StoreView view{.journal = std::move(journal)};
  const auto names = disk.list(view.journal.folder);
  if (!names) throw StoreError(names.error().text());
  for (const std::string& name : *names) {
    if (!name.ends_with(".nfxj")) continue;
    const auto file = disk.open(view.journal.folder / name, OpenMode::read);
    if (!file) continue;  // archived meanwhile
    ++view.segments.files;
    view.segments.bytes += (*file)->size().value_or(0);
  }
  for (const ArchivedSegment& each : list_archive(disk, view.journal.folder)) {
    ++view.archived.files;
    view.archived.bytes += each.size;
  }
  return view;
}

StoreVerification verify_store(Disk& disk, const JournalStatus& journal, JournalPosition from) {
  StoreVerification result{.from = from};
  JournalCheck check;
  const JournalScan begin = scan_journal(disk, journal.folder, [](const JournalRecord&) { return false; }, from);
  if (!begin.segments.empty()) check.begin_at(begin.segments.back().header.next_outbound);
  std::string file;
  std::optional<JournalPosition> rest;
  const auto visit = [&](const JournalRecord& record) {
    if (*record.file != file) {
      if (!file.empty() && record.position - from >= verified_bytes) {
        rest = record.position;
        return false;
      }
      file = *record.file;
      ++result.segments;
    }
    ++result.records;
    check.check(record);
    return true;
  };
  JournalScan scan = scan_journal_in_use(disk, journal.folder, visit, from);
  result.to = rest.value_or(scan.end);
  result.complete = !rest;
  result.messages = check.messages();
  result.damage = std::move(scan.damage);
  result.torn = scan.torn;
  result.found = check.found();
  result.findings = check.findings();
  return result;
}

std::vector<RecentMessage> store_tail(Disk& disk, const JournalStatus& journal, std::size_t most) {
  struct Kept {
    RecordHeader header;
    std::string body;
    std::size_t size;
  };
  std::deque<Kept> last;
  const auto visit = [&](const JournalRecord& record) {
    if (record.header.kind != RecordKind::message) return true;
    last.push_back({record.header, std::string{record.body.substr(0, RecentMessages::most_bytes)}, record.body.size()});
    if (last.size() > most) last.pop_front();
    return true;
  };
  const JournalPosition from = journal.position > tail_bytes ? journal.position - tail_bytes : 0;
  static_cast<void>(scan_journal_in_use(disk, journal.folder, visit, from));
  std::vector<RecentMessage> messages;
  for (const Kept& each : last) {
    messages.push_back({.number = each.header.seq,
                        .time = UtcTime{Duration{each.header.time_ns}},
                        .direction = Direction::out,
                        .size = each.size,
                        .cut = each.body.size() < each.size,
                        .fields = shown_fields(each.body)});
  }
  return messages;
}

}  // namespace nfx::control
