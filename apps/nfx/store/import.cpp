// nfx store import: imports messages and sequence numbers from QuickFIX's file stores, so that a session continues
// where it was.
#include <chrono>

#include "base/clocks.hpp"
#include "cli/progress.hpp"
#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "store/journal_flusher.hpp"
#include "store/quickfix_store.hpp"
#include "store/store_commands.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct ImportOptions {
  std::string from;
  std::string into;
  std::string session;
  std::string ring_directory = "/dev/shm";
  std::uint64_t segment_size = JournalOptions{}.segment_size;
  bool replace = false;
  bool dry_run = false;
};

struct Transfer {
  QuickfixStore from;
  std::string identity;
};

struct Tally {
  std::uint64_t taken = 0;
  std::uint64_t of_session = 0;  // messages that are never resent
  std::uint64_t uncounted = 0;   // sent numbers that QuickFIX had not counted
  std::uint64_t bad = 0;
  std::string first_bad;
};

std::vector<Transfer> plan(const ImportOptions& options) {
  std::vector<QuickfixStore> stores = find_quickfix_stores(options.from);
  std::vector<Transfer> transfers;
  std::string names;
  for (QuickfixStore& store : stores) {
    names += (names.empty() ? "" : ", ") + store.name;
    if (!options.session.empty()) {
      if (may_be(store, options.session)) transfers.push_back({std::move(store), options.session});
      continue;
    }
    std::string identity = identity_of(store);
    for (const Transfer& other : transfers) {
      if (other.identity != identity) continue;
      throw ConfigError(options.from + ": " + other.from.name + " and " + store.name + " are both of " + identity +
                        ": move one of them away");
    }
    transfers.push_back({std::move(store), std::move(identity)});
  }
  if (transfers.size() == 1 || options.session.empty()) return transfers;
  throw ConfigError(options.from + ": " + (transfers.empty() ? "none" : "more than one") +
                    " of the stores there can be \"" + options.session + "\", by their names: " + names);
}

// Writes nothing unless everything can be written.
void check_target(const ImportOptions& options, const Transfer& transfer) {
  const std::filesystem::path folder = find_session_folder(posix_disk(), options.into, transfer.identity);
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  const SessionState there = read_state({folder, transfer.identity});
  if (there.open_in) {
    throw StoreError(transfer.identity + ": " + folder.string() + " is open in process " +
                     std::to_string(*there.open_in) + ": stop that engine first");
  }
  if (there.damaged()) {
    throw StoreError(transfer.identity + ": " + folder.string() +
                     " is damaged: see 'nfx store verify', or move it away");
  }
  const bool empty = there.stored.count() == 0 && there.scan.next_inbound == first_seq_num &&
                     there.scan.next_outbound == first_seq_num;
  if (!empty && !options.replace) {
    throw ConfigError(transfer.identity + ": " + folder.string() + " is in use already (next in " +
                      std::to_string(value(there.scan.next_inbound)) + ", next out " +
                      std::to_string(value(there.scan.next_outbound)) +
                      "); --replace resets it first, or give another directory with --into");
  }
}

// Appends, and flushes when the ring is full.
void append(JournalStore& journal, JournalFlusher& flusher, std::uint64_t seq, std::string_view bytes, UtcTime time) {
  constexpr int max_turns = 100'000;
  for (int turn = 0; turn < max_turns; ++turn) {
    if (journal.accepts(bytes.size()) && journal.append_imported(SeqNum{seq}, bytes, time)) return;
    const StoreCondition condition = journal.condition();
    if (condition == StoreCondition::failed || condition == StoreCondition::full) break;
    journal.want_sync();
    flusher.turn(read_clocks());
  }
  throw StoreError("message " + std::to_string(seq) + " of " + counted(bytes.size(), "byte") + " cannot be stored: " +
                   journal.condition_text() + "; when it is longer than a segment, raise --segment-size");
}

Tally copy_messages(const QuickfixStore& from, JournalStore* journal, JournalFlusher& flusher, UtcTime created) {
  QuickfixBody body{from};
  MessageView view{32768};
  Tally tally;
  cli::Progress progress{"importing " + from.name, cli::file_size_or_zero(from.file("body").string())};
  for (const auto& [seq, where] : from.messages) {
    progress.add(where.size);
    if (seq >= from.next_out) {
      ++tally.uncounted;
      continue;
    }
    const std::string_view bytes = body.read(where);
    const WireError error = view.parse(bytes);
    if (error != WireError::none || view.get_view(Tag::MsgSeqNum) != std::to_string(seq)) {
      if (tally.bad++ == 0) {
        tally.first_bad = "message " + std::to_string(seq) + " at byte " + std::to_string(where.offset) + ' ' +
                          (bytes.empty()              ? "is after the end of the file"
                           : error != WireError::none ? "is not a valid FIX message: " + std::string{to_string(error)}
                                                      : "has another MsgSeqNum");
      }
      continue;
    }
    if (is_session_msg_type(view.msg_type())) {
      ++tally.of_session;
      continue;
    }
    const auto sent = parse_utc_timestamp(view.get_view(Tag::SendingTime));
    if (journal != nullptr) append(*journal, flusher, seq, bytes, sent ? sent->time : created);
    ++tally.taken;
  }
  return tally;
}

void report(const ImportOptions& options, const Transfer& transfer, const Tally& tally) {
  const QuickfixStore& from = transfer.from;
  SafeText out;
  out.add("{}  from {} ({}){}\n", transfer.identity, from.name, to_string(from.kind),
          options.dry_run ? ", not written: --dry-run" : "");
  out.add("  next in {}, next out {}", from.next_in, from.next_out);
  if (from.created) out.add(", since {}", nanosecond_stamp(*from.created));
  out.add("\n  {} imported", counted(tally.taken, "message"));
  if (tally.of_session != 0) {
    out.add("; {} left out, because they are never resent", counted(tally.of_session, "session message"));
  }
  out += '\n';
  if (tally.uncounted != 0) {
    out.add("  {} left out: stored under sequence numbers from {} on, which QuickFIX had not counted as sent\n",
            counted(tally.uncounted, "message"), from.next_out);
  }
  if (tally.bad != 0) {
    out.add("  {} LEFT OUT, to be gap-filled on resend: {}: {}\n", counted(tally.bad, "message"),
            from.file("body").string(), tally.first_bad);
  }
  for (const std::string& note : from.notes) out.add("  note: {}\n", note);
  print(out);
}

// Reads the result back, because the user is about to rely on it.
void check_result(const Transfer& transfer, const std::filesystem::path& folder, const Tally& tally) {
  const SessionState there = read_state({folder, transfer.identity});
  const bool same = !there.damaged() && value(there.scan.next_inbound) == transfer.from.next_in &&
                    value(there.scan.next_outbound) == transfer.from.next_out && there.stored.count() == tally.taken;
  if (!same) {
    throw StoreError(folder.string() + ": the written store differs when it is read back: next in " +
                     std::to_string(value(there.scan.next_inbound)) + ", next out " +
                     std::to_string(value(there.scan.next_outbound)) + ", " + counted(there.stored.count(), "message") +
                     "; remove it");
  }
}

Tally transfer_one(const ImportOptions& options, const Transfer& transfer) {
  const QuickfixStore& from = transfer.from;
  const UtcTime now = read_utc();
  const UtcTime created = from.created.value_or(now);
  JournalFlusher flusher;
  if (options.dry_run) return copy_messages(from, nullptr, flusher, created);
  JournalOptions journal_options;
  journal_options.directory = options.into;
  journal_options.ring_directory = options.ring_directory;
  journal_options.segment_size = options.segment_size;
  Tally tally;
  {
    JournalStore journal{posix_disk(), journal_options, transfer.identity, now};
    flusher.add(journal);
    journal.reset(created);
    tally = copy_messages(from, &journal, flusher, created);
    const std::string reason = "from " + (from.folder / from.name).string() + " of " +
                               std::string{to_string(from.kind)} + ", " + counted(tally.taken, "message");
    // The messages may already have set the number; the second record names the source of everything.
    const bool there = journal.next_outbound() == SeqNum{from.next_out};
    const bool set = (there || journal.set_number({false, SeqNum{from.next_out}, RecordFlag::imported, reason}, now)) &&
                     journal.set_number({true, SeqNum{from.next_in}, RecordFlag::imported, reason}, now);
    flusher.remove(journal);
    if (!set || !journal.sync(now)) throw StoreError(transfer.identity + ": " + journal.condition_text());
  }
  check_result(transfer, find_session_folder(posix_disk(), options.into, transfer.identity), tally);
  return tally;
}

int import_stores(const ImportOptions& options) {
  const std::vector<Transfer> transfers = plan(options);
  for (const Transfer& transfer : transfers) check_target(options, transfer);
  bool lost = false;
  for (const Transfer& transfer : transfers) {
    const Tally tally = transfer_one(options, transfer);
    report(options, transfer, tally);
    lost = lost || tally.bad != 0;
  }
  return lost ? exit_failed : exit_done;
}

}  // namespace

cli::Command import_command() {
  static ImportOptions options;
  return {
      .name = "import",
      .summary = "Import messages and sequence numbers from QuickFIX's file stores",
      .run = [] { return import_stores(options); },
      .options = {{.names = "QUICKFIX_DIR",
                   .target = &options.from,
                   .help = "The FileStorePath of QuickFIX, QuickFIX/J or QuickFIX/Go",
                   .required = true,
                   .kind = cli::Kind::folder},
                  {.names = "--into",
                   .target = &options.into,
                   .help = "Directory of the NexusFIX store; created when missing",
                   .value = "STORE",
                   .required = true,
                   .kind = cli::Kind::folder},
                  {.names = "--session",
                   .target = &options.session,
                   .help = "Only this session: FIX.4.4:SENDER->TARGET[:QUALIFIER]",
                   .value = "IDENTITY"},
                  {.names = "--replace",
                   .target = &options.replace,
                   .help = "Reset sessions that have messages or sequence numbers already"},
                  {.names = "--dry-run", .target = &options.dry_run, .help = "Only report what would be done"},
                  {.names = "--segment-size",
                   .target = &options.segment_size,
                   .help = "Bytes of a segment file, as in the engine's configuration",
                   .range = {{65536, 1 << 30}}},
                  {.names = "--ring-directory",
                   .target = &options.ring_directory,
                   .help = "Folder of the rings of the engine's journals",
                   .kind = cli::Kind::folder}},
      .details =
          R"(Stop QuickFIX first: nothing shows whether it still writes. Both sequence numbers and the time of their last reset are imported, so the peer sees no reset. Application messages are imported for resends; session messages are not, as they are never resent.
The session's identity comes from the messages, or from the files' names; where both are ambiguous, as with hyphens in CompIDs, --session has to specify it. QuickFIX's files are only read. What was written is read back and compared.)",
      .exit_codes =
          "0 done, 1 failed, or messages had to be left out because QuickFIX's files are damaged, 2 wrong usage",
      .examples = {{.line = "nfx store import /var/lib/quickfix --into journals --dry-run"},
                   {.line = "nfx store import /var/lib/quickfix --into journals --session 'FIX.4.4:MY-DESK->VENUE'"}},
  };
}

}  // namespace nfx::app::store
