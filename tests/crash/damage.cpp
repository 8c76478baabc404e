// Flips a bit of a journal: verify must find it, repair must lose only what it reports, and both parties continue.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "base/clocks.hpp"
#include "modes.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"

namespace nfx::crash {
namespace {

namespace fs = std::filesystem;

// The content of a journal before it was damaged.
struct Original {
  std::map<std::uint64_t, std::string> messages;
  SeqNum next_inbound{};
  SeqNum next_outbound{};
};

struct Flip {
  fs::path file;
  std::uint64_t offset = 0;
  unsigned bit = 0;

  [[nodiscard]] std::string text() const {
    return "bit " + std::to_string(bit) + " of byte " + std::to_string(offset) + " in " + file.string();
  }
};

Original read_original(const fs::path& folder) {
  Original original;
  const JournalScan scan = scan_journal(posix_disk(), folder, [&](const JournalRecord& record) {
    if (record.header.kind == RecordKind::message) original.messages[record.header.seq] = record.body;
    return true;
  });
  original.next_inbound = scan.next_inbound;
  original.next_outbound = scan.next_outbound;
  return original;
}

Flip flip_a_bit(const fs::path& folder, Random& random) {
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator{folder}) {
    if (each.path().extension() == ".nfxj") files.push_back(each.path());
  }
  std::ranges::sort(files);
  Flip flip{files.at(random() % files.size()), 0, static_cast<unsigned>(random() % 8)};
  flip.offset = random() % fs::file_size(flip.file);
  std::fstream file{flip.file, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(static_cast<std::streamoff>(flip.offset));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(flip.offset));
  file.put(static_cast<char>(byte ^ (1 << flip.bit)));
  if (!file.flush()) throw std::runtime_error("cannot write " + flip.file.string());
  return flip;
}

// Every readable message must equal the original. Returns the number of unreadable ones.
std::size_t lost_messages(const JournalStore& store, const Original& original, const Flip& flip) {
  std::size_t lost = 0;
  for (const auto& [seq, bytes] : original.messages) {
    const auto kept = store.read(SeqNum{seq});
    if (!kept) {
      ++lost;
    } else if (*kept != bytes) {
      throw AuditFailure("message " + std::to_string(seq) + " is read wrong after a flip of " + flip.text());
    }
  }
  return lost;
}

class DamageRun {
 public:
  explicit DamageRun(const CrashOptions& options)
      : options_(options), random_(options.seed), scratch_(options.folder / "scratch") {}

  void run() {
    make_journals();
    for (std::uint32_t i = 0; i < options_.cycles; ++i) one_flip();
    if (!options_.quiet) {
      std::printf(
          "%u bits flipped in a journal of %zu messages: %u harmless, %u refused with file and offset and repaired, "
          "%zu messages given up at most, %u sessions resumed\n",
          options_.cycles, original_.messages.size(), harmless_, refused_, most_lost_, gone_on_);
    }
  }

 private:
  void make_journals() {
    Pair pair{options_, random_, true};
    pair.trader_options.orders = 3000;
    pair.trader_options.text_size = 300;
    do {
      static_cast<void>(pair.settle_and_audit());
      exchange_ = pair.exchange_options;
      trader_ = pair.trader_options;
      identity_ = identity(party_session(trader_).session);
      original_ = read_original(session_folder(trader_.store, identity_));
    } while (original_.messages.size() < 1500);  // several segments
  }

  void one_flip() {
    fs::remove_all(scratch_);
    fs::create_directories(scratch_);
    fs::copy(trader_.folder, scratch_ / "trader", fs::copy_options::recursive);
    const fs::path folder = session_folder(scratch_ / "trader" / "store", identity_);
    const Flip flip = flip_a_bit(folder, random_);
    const JournalScan scan = scan_journal(posix_disk(), folder);
    std::string refusal;
    try {
      check_harmless(flip);
    } catch (const StoreError& error) {
      refusal = error.what();
    }
    if (refusal.empty()) {
      if (scan.damage && !scan.torn) throw AuditFailure("opened in spite of damage found by the scan: " + flip.text());
      ++harmless_;
      return;
    }
    ++refused_;
    check_refusal(refusal, scan, flip);
    check_repair(folder, flip);
    if (refused_ % refused_for_one_session == 1) go_on();
  }

  JournalOptions journal_options() const {
    JournalOptions options = party_session(trader_).journal;
    options.directory = scratch_ / "trader" / "store";
    options.ring_directory = scratch_;
    return options;
  }

  void check_harmless(const Flip& flip) const {
    const JournalStore store{posix_disk(), journal_options(), identity_, read_utc()};
    if (store.next_inbound() != original_.next_inbound || store.next_outbound() != original_.next_outbound)
      throw AuditFailure("the sequence numbers changed without an error after a flip of " + flip.text());
    if (lost_messages(store, original_, flip) != 0)
      throw AuditFailure("messages are gone without an error after a flip of " + flip.text());
  }

  static void check_refusal(const std::string& refusal, const JournalScan& scan, const Flip& flip) {
    if (!scan.damage) throw AuditFailure("refused (" + refusal + "), but the scan finds nothing: " + flip.text());
    constexpr std::uint64_t longest_record = 8192;
    const bool names_place =
        refusal.contains(scan.damage->file) && refusal.contains(std::to_string(scan.damage->offset));
    const bool right_place = fs::path{scan.damage->file}.filename() == flip.file.filename() &&
                             scan.damage->offset <= flip.offset && flip.offset < scan.damage->offset + longest_record;
    if (!names_place || !right_place)
      throw AuditFailure("refused in other words or for another place than the flip of " + flip.text() + ": " +
                         refusal);
  }

  void check_repair(const fs::path& folder, const Flip& flip) {
    const std::string done = repair_by_gap_fill(posix_disk(), folder);
    const JournalStore store{posix_disk(), journal_options(), identity_, read_utc()};
    if (store.next_outbound() < original_.next_outbound) {
      throw AuditFailure("numbers would be used again after the repair (" + done + "): next out is " +
                         std::to_string(value(store.next_outbound())) + ", was " +
                         std::to_string(value(original_.next_outbound)) + "; flip of " + flip.text());
    }
    if (store.next_inbound() > original_.next_inbound)
      throw AuditFailure("messages of the peer would be passed over after the repair (" + done + "): " + flip.text());
    most_lost_ = std::max(most_lost_, lost_messages(store, original_, flip));
  }

  // Runs both parties with the repaired journal and the unchanged exchange.
  void go_on() {
    fs::copy(exchange_.folder, scratch_ / "exchange", fs::copy_options::recursive);
    CrashOptions options = options_;
    options.folder = scratch_;
    Pair pair{options, random_, true};
    static_cast<void>(pair.settle_and_audit({.repaired = true}));
    ++gone_on_;
  }

  static constexpr std::uint32_t refused_for_one_session = 10;

  const CrashOptions& options_;
  Random random_;
  fs::path scratch_;
  PartyOptions exchange_, trader_;
  std::string identity_;
  Original original_;
  std::uint32_t harmless_ = 0, refused_ = 0, gone_on_ = 0;
  std::size_t most_lost_ = 0;
};

}  // namespace

void run_damage(const CrashOptions& options) { DamageRun{options}.run(); }

}  // namespace nfx::crash
