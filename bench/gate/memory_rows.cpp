// store: JournalStore::append, written and synced between the timed blocks. queue: SpscRing from and to one thread.
#include <array>
#include <chrono>

#include "gate/gate_rows.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"

namespace nfx::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t store_block = 32;

class StoreRow final : public GateRow {
 public:
  explicit StoreRow(const GateInputs& inputs)
      : messages_(inputs.reports),
        store_(posix_disk(), options_of(inputs), "FIX.4.4:VENUE->TRADER", now_.utc),
        ring_(ring_size + 1024) {
    store_.prefault();
    flusher_.add(store_);
  }
  ~StoreRow() override { flusher_.remove(store_); }

  void check() override { check_blocks(gate_messages / store_block); }
  void prepare() override {
    dealt_ = deal_.next(store_block);
    const std::uint64_t waiting = blocks_++ % 8;
    // Does the flusher's work on this thread, so that only append is timed.
    if (waiting == 0 || !store_.accepts(store_block * 512)) {
      constexpr int turns_limit = 10'000;
      for (int i = 0; i < turns_limit; ++i) {
        now_.utc += 20ms;
        now_.monotonic += 20ms;
        if (flusher_.turn(now_) > Duration::zero() && store_.accepts(store_block * 512)) break;
      }
    }
    first_ = next_;
  }
  void work() override {
    for (const std::uint32_t i : dealt_) {
      kept_ += store_.append(SeqNum{next_}, messages_[i], now_.utc) ? 1 : 0;
      ++next_;
      store_.set_next_outbound(SeqNum{next_});
    }
  }
  void verify() override {
    wrong_unless(kept_ == next_ - 1, "a message was not appended");
    for (std::uint32_t i = 0; i < store_block; ++i)
      wrong_unless(store_.read(SeqNum{first_ + i}) == messages_[dealt_[i]], "the journal gives back another message");
  }
  void reference() override {
    for (const std::uint32_t i : dealt_) {
      if (at_ + messages_[i].size() > ring_size) at_ = 0;
      keep(reference_by_bytes(messages_[i], std::span{ring_}.subspan(at_)));
      at_ += messages_[i].size();
    }
  }

 private:
  static constexpr std::uint32_t ring_size = 1024 * 1024;
  static JournalOptions options_of(const GateInputs& inputs) {
    JournalOptions options;
    options.directory = inputs.folder / "journal";
    options.durability = Durability::interval;
    options.ring_size = ring_size;
    options.segment_size = 4 * 1024 * 1024;
    options.retain_messages = 8192;
    options.retain_bytes = 12 * 1024 * 1024;
    options.archive = Archive::remove;
    std::filesystem::create_directories(options.directory);
    return options;
  }

  const Corpus& messages_;
  Instant now_{UtcTime{1'795'000'000s}, MonotonicTime{1000s}};
  JournalStore store_;
  JournalFlusher flusher_;
  std::vector<char> ring_;
  std::size_t at_ = 0;
  Deal deal_{gate_messages};
  Order dealt_;
  std::uint64_t blocks_ = 0, next_ = 1, first_ = 1, kept_ = 0;
};

class QueueRow final : public GateRow {
 public:
  static constexpr std::uint32_t block = 512;  // records

  explicit QueueRow(const GateInputs&) {}
  void check() override { check_blocks(4); }
  void prepare() override {
    for (Record& record : in_)
      for (std::uint64_t& word : record) word = random_.next();
  }
  void work() override {
    constexpr std::uint32_t burst = 64;
    for (std::uint32_t begin = 0; begin < block; begin += burst) {
      for (std::uint32_t i = begin; i < begin + burst; ++i) moved_ += ring_.try_push(in_[i]) ? 1 : 0;
      for (std::uint32_t i = begin; i < begin + burst; ++i) moved_ += ring_.try_pop(out_[i]) ? 1 : 0;
    }
  }
  void verify() override {
    wrong_unless(std::exchange(moved_, 0) == 2 * block && in_ == out_, "the ring gave other records than it took");
  }
  void reference() override {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < block; ++i) {
      std::memcpy(&out_[i], &in_[i], sizeof(Record));
      for (const std::uint64_t word : out_[i]) sum = (sum ^ word) * 0x100000001B3;
    }
    keep(sum);
  }

 private:
  using Record = std::array<std::uint64_t, 4>;
  SpscRing<Record, 1024> ring_;
  std::array<Record, block> in_{}, out_{};
  std::uint64_t moved_ = 0;
  Random random_{5};
};

}  // namespace

std::vector<GateEntry> memory_gate_entries() {
  return {{"store", 1, "JournalStore::append of one report, synced by interval",
           "copy into a ring and byte-wise hash of the same reports", store_block, 16, make_row<StoreRow>},
          {"queue", 1, "SpscRing, one record of 32 bytes in and out on one thread",
           "copy and word-wise hash of the same records", QueueRow::block, 16, make_row<QueueRow>}};
}

}  // namespace nfx::bench
