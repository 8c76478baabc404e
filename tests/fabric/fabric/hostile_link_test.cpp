// A peer that greets like a link, and then writes data into the link's region that no link writes, also over records
// that were checked and wait for earlier ones: nothing outside a record is read, and the link ends or continues.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fabric/fabric_testing.hpp"
#include "fabric/link_wire.hpp"

namespace nfx::fabric::testing {
namespace {

constexpr std::uint64_t hostile_session = 77;

struct Listener : LinkEvents {
  std::vector<std::string> records;
  std::size_t longest = 0;
  std::optional<LossReason> loss;

  void on_record(RecordSeq, std::span<const std::byte> record) override {
    longest = std::max(longest, record.size());
    records.emplace_back(reinterpret_cast<const char*>(record.data()), std::min<std::size_t>(record.size(), 64));
  }
  void on_lost(LossReason reason) override { loss = reason; }
};

// A link over one rail, with the rail's other end controlled by the test.
class HostilePeerOfALink {
 public:
  HostilePeerOfALink() {
    const auto stride = static_cast<std::uint32_t>(sizeof(RecordHeader) + options_.record_size + 63) / 64 * 64;
    layout = {.rails = 1, .record_slots = options_.record_slots, .record_stride = stride};
    own_ = make_region(2 * layout.size());
    pages_ = make_region(pages_size);
    link_pages = make_region(pages_size);
    EXPECT_EQ(rail_.add_region(own_), RegionIndex{0});
    EXPECT_EQ(rail_.add_region(pages_), RegionIndex{1});
    const std::array ends{RailRef{wire_.end(0)}};
    link.emplace(ends, options_, events);
    EXPECT_EQ(link->add_region(link_pages), RegionIndex{1});
  }

  [[nodiscard]] bool come_up() {
    for (int i = 0; i < 10000 && link->rails_up() == 0; ++i) step();
    return link->rails_up() == 1;
  }

  void step() {
    now_ += 20us;
    if (rail_.state() == RailState::closed) {
      slot_is_used_ = {};
      rail_.open(now_);
    }
    wire_.step(now_);
    link->poll(now_);
    std::array<Completion, 16> space;
    for (const Completion& each : std::span{space}.first(rail_.poll(space))) {
      if (each.kind == CompletionKind::done) slot_is_used_[each.value] = false;
      if (each.kind == CompletionKind::arrived && kind_of(each.value) == NumberKind::status) answer(each.value);
    }
  }
  void steps(int count) {
    for (int i = 0; i < count && !link->lost(); ++i) step();
  }

  // Writes these bytes at the offset, and then announces the number.
  void write(std::uint64_t offset, std::span<const std::byte> bytes, std::uint32_t number) {
    const auto slot = static_cast<std::uint32_t>(std::ranges::find(slot_is_used_, false) - slot_is_used_.begin());
    if (slot == slot_is_used_.size()) return;
    const std::uint64_t from = layout.size() + offset;  // the link writes into the first half
    std::ranges::copy(bytes, own_.data() + from);
    const WriteResult result = rail_.try_write({.local_offset = from,
                                                .remote_offset = offset,
                                                .length = static_cast<std::uint32_t>(bytes.size()),
                                                .number = number,
                                                .slot = slot});
    slot_is_used_[slot] = result == WriteResult::ok;
  }
  void write_record(std::uint64_t seq, const RecordHeader& header, std::string_view body, std::uint32_t number) {
    std::string bytes(sizeof header + body.size(), '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ranges::copy(body, bytes.data() + sizeof header);
    write(layout.record_in(seq), bytes_of(bytes), number);
  }
  void write_record(std::uint64_t seq, std::string_view body) {
    write_record(seq, {.seq = seq, .length = static_cast<std::uint32_t>(body.size())}, body, number_of(seq));
  }
  // A number that the link ignores, so that it reads nothing when these bytes arrive.
  void overwrite_record(std::uint64_t seq, const RecordHeader& header) {
    write_record(seq, header, {}, encode(PageNumber{.slot = 0, .generation = 200}));
  }
  void write_status(const Status& status, std::uint64_t version) {
    write(layout.status_in(0, version), std::as_bytes(std::span{&status, 1}).first(status_size(1)),
          encode_status(version));
  }
  [[nodiscard]] std::uint32_t number_of(std::uint64_t seq) const { return encode_record(seq, options_.record_slots); }
  [[nodiscard]] std::uint32_t longest_record() const { return options_.record_size; }

  static constexpr std::uint64_t pages_size = 64 * 1024;
  LinkLayout layout;
  Region link_pages;
  Listener events;
  std::optional<Link> link;
  Status last{};  // last status sent by this peer
  bool answers = true;

 private:
  // Like a link: it knows the other end, takes everything that has arrived, and grants credit for everything.
  void answer(std::uint32_t number) {
    Status theirs;
    std::memcpy(static_cast<void*>(&theirs), own_.data() + layout.status_in(0, number & version_mask), status_size(1));
    if (!answers) return;
    if (theirs.incarnation != incarnation_) last = {};
    incarnation_ = theirs.incarnation;
    last = {.session = hostile_session,
            .peer_session = theirs.session,
            .version = last.version + 1,
            .statuses = theirs.version,
            .consumed = last.consumed,
            .options = theirs.options,
            .window = 64,
            .incarnation = 1};
    write_status(last, last.version);
  }

  const LinkOptions options_ = [] {
    LinkOptions options = quick_options();
    options.session = 1;
    return options;
  }();
  FaultyWire wire_{{.delay_max = 1us}};
  RailRef rail_{wire_.end(1)};
  Region own_, pages_;
  MonotonicTime now_{1h};
  std::array<bool, 32> slot_is_used_{};
  std::uint32_t incarnation_ = 0;
};

TEST(HostileLink, a_record_that_is_as_links_write_it_is_delivered) {
  HostilePeerOfALink peer;
  ASSERT_TRUE(peer.come_up());
  peer.write_record(2, "second");
  peer.write_record(1, "first");
  peer.steps(50);
  EXPECT_EQ(peer.events.records, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(peer.events.loss, std::nullopt);
}

TEST(HostileLink, a_record_that_changes_while_it_waits_for_an_earlier_one_ends_the_link) {
  for (const RecordHeader& changed :
       {RecordHeader{.seq = 2, .length = 0xffffffff}, RecordHeader{.seq = 2, .length = 201},
        RecordHeader{.seq = 3, .length = 6}, RecordHeader{.seq = 0, .length = 0}}) {
    HostilePeerOfALink peer;
    ASSERT_TRUE(peer.come_up());
    peer.write_record(2, "second");
    peer.steps(20);
    ASSERT_TRUE(peer.events.records.empty());
    peer.overwrite_record(2, changed);
    peer.steps(20);
    peer.write_record(1, "first");
    peer.steps(50);
    EXPECT_EQ(peer.events.loss, LossReason::protocol) << changed.seq << ' ' << changed.length;
    EXPECT_EQ(peer.events.records, std::vector<std::string>{"first"}) << changed.seq << ' ' << changed.length;
  }
}

TEST(HostileLink, a_record_with_a_length_a_number_or_a_kind_of_no_link_is_not_delivered) {
  for (const RecordHeader& wrong :
       {RecordHeader{.seq = 1, .length = 201}, RecordHeader{.seq = 1, .length = 0xffffffff},
        RecordHeader{.seq = 17, .length = 1}, RecordHeader{.seq = 1, .length = 1, .kind = RecordKind{7}},
        RecordHeader{.seq = 1, .length = 1, .kind = RecordKind{255}}}) {
    HostilePeerOfALink peer;
    ASSERT_TRUE(peer.come_up());
    peer.write_record(1, wrong, "x", peer.number_of(1));
    peer.steps(50);
    EXPECT_TRUE(peer.events.records.empty()) << wrong.seq << ' ' << wrong.length;
    EXPECT_FALSE(peer.link->lost()) << "its rail is closed, and opened again";
    EXPECT_EQ(peer.link->counters().rails_closed, 1U);
  }
}

TEST(HostileLink, a_status_that_acknowledges_what_was_not_sent_closes_its_rail) {
  for (const auto change :
       {+[](Status& status) { status.arrived = 1; }, +[](Status& status) { status.acknowledged = 1; },
        +[](Status& status) { status.statuses = 1000; }, +[](Status& status) { status.arrived = ~std::uint64_t{0}; },
        +[](Status& status) { status.incarnation = 9; }, +[](Status& status) { status.session = 5; }}) {
    HostilePeerOfALink peer;
    ASSERT_TRUE(peer.come_up());
    peer.answers = false;
    Status status = peer.last;
    ++status.version;
    change(status);
    peer.write_status(status, status.version);
    peer.steps(20);
    EXPECT_EQ(peer.link->counters().rails_closed, 1U);
    EXPECT_EQ(peer.link->last_acknowledged(), RecordSeq{0});
  }
}

// Notes about transfers, records, statuses and numbers with any bytes, next to the link's own transfers.
TEST(HostileLink, any_bytes_in_any_order_read_and_write_nothing_beside_their_place) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random{seed};
  const auto any = [&random](std::uint64_t small) {
    const std::uint64_t choice = random() % 8;
    return choice == 0 ? random() : choice == 1 ? small - 2 + random() % 4 : random() % small;
  };
  int ended = 0, delivered = 0;
  constexpr int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    HostilePeerOfALink peer;
    ASSERT_TRUE(peer.come_up()) << "seed " << seed;
    const PageRange range{.region = RegionIndex{1}, .page_size = 1024, .pages = 16};
    EXPECT_TRUE(peer.link->receive(TransferId{1}, range));
    EXPECT_TRUE(peer.link->send(TransferId{2}, range));
    std::uint64_t seq = 1;
    for (int i = 0; i < 60 && !peer.link->lost(); ++i) {
      switch (random() % 12) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const std::uint64_t at = seq + random() % 3;
          peer.write_record(at, std::string(random() % (peer.longest_record() + 1), 'r'));
          seq += at == seq ? 1 : 0;
          break;
        }
        case 4:
        case 5: {
          TransferNote note{.id = any(4),
                            .offset = any(1 << 16),
                            .page_size = static_cast<std::uint32_t>(any(2048)),
                            .pages = static_cast<std::uint32_t>(any(64)),
                            .first = static_cast<std::uint32_t>(any(16)),
                            .query = static_cast<std::uint32_t>(any(3)),
                            .slot = static_cast<std::uint8_t>(any(4)),
                            .generation = static_cast<std::uint8_t>(any(2)),
                            .region = static_cast<std::uint8_t>(any(2)),
                            .result = static_cast<TransferResult>(any(4))};
          std::string body(sizeof note + random() % 32, '\xff');
          std::memcpy(body.data(), &note, sizeof note);
          peer.write_record(seq,
                            {.seq = seq,
                             .length = static_cast<std::uint32_t>(body.size()),
                             .kind = static_cast<RecordKind>(random() % record_kinds)},
                            body, peer.number_of(seq));
          ++seq;
          break;
        }
        case 6:
        case 7:
        case 8: {
          const std::uint64_t at = seq + random() % 3;
          peer.overwrite_record(at, {.seq = random() % 4 == 0 ? any(8) : at,
                                     .length = static_cast<std::uint32_t>(any(300)),
                                     .kind = static_cast<RecordKind>(random() % 2 == 0 ? 0 : any(record_kinds))});
          break;
        }
        case 9: {
          const std::array<std::byte, 8> bytes{};
          peer.write(0, bytes,
                     encode(PageNumber{.slot = static_cast<std::uint32_t>(any(4)) & 0x3f,
                                       .generation = static_cast<std::uint32_t>(any(2)) & 0xff,
                                       .page = static_cast<std::uint32_t>(any(16)) & 0xffff}));
          break;
        }
        default: {
          const std::array<std::byte, 8> bytes{};
          peer.write(0, bytes, static_cast<std::uint32_t>(random()));
        }
      }
      peer.steps(3);
    }
    ASSERT_LE(peer.events.longest, peer.longest_record()) << "seed " << seed;
    ended += peer.events.loss || peer.link->counters().rails_closed != 0 ? 1 : 0;
    delivered += peer.events.records.empty() ? 0 : 1;
  }
  EXPECT_GT(ended, rounds / 2);
  EXPECT_GT(delivered, 0) << "nothing was tested";
}

}  // namespace
}  // namespace nfx::fabric::testing
