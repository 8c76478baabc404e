// Bytes a peer should not send: every truncation, every flipped bit, and messages right in front of unmapped memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>

#include "base/seeded.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/scan.hpp"
#include "wire/fix_text.hpp"

namespace nfx {
namespace {

const std::string* const samples[] = {&test::logon, &test::order, &test::data_message, &test::parties};

void expect_values_inside(const MessageView& view, std::string_view message) {
  for (std::uint32_t i = 0; i < view.size(); ++i) {
    const std::string_view value = view[i].value;
    ASSERT_GE(value.data(), message.data());
    ASSERT_LT(value.data() + value.size(), message.data() + message.size()) << "SOH follows every value";
    ASSERT_EQ(value.data()[value.size()], '\x01');
  }
}

TEST(hostile_bytes, no_truncation_of_a_message_is_a_message) {
  MessageView view;
  for (const std::string* sample : samples) {
    for (std::size_t size = 0; size < sample->size(); ++size) {
      const std::string_view cut = std::string_view{*sample}.substr(0, size);
      ASSERT_NE(view.parse(cut), WireError::none) << size;
      ASSERT_EQ(view.size(), 0u);
      ASSERT_NE(view.parse_leniently(cut), WireError::none) << size;
      expect_values_inside(view, cut);
    }
    ASSERT_EQ(view.parse(*sample), WireError::none);
  }
}

// One flipped bit changes the sum by a power of two, which is never a multiple of 256.
TEST(hostile_bytes, no_single_flipped_bit_goes_unnoticed) {
  MessageView view;
  for (const std::string* sample : samples) {
    for (std::size_t bit = 0; bit < sample->size() * 8; ++bit) {
      std::string flipped = *sample;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      ASSERT_NE(view.parse(flipped), WireError::none) << bit;
      ASSERT_NE(view.parse_leniently(flipped), WireError::none) << bit;
      expect_values_inside(view, flipped);
    }
  }
}

TEST(hostile_bytes, no_flipped_bit_hides_the_message_behind_for_long) {
  // A broken BodyLength may swallow the second copy, but by the fourth at the latest the framer is in step again.
  for (const std::string* sample : samples) {
    for (std::size_t bit = 0; bit < sample->size() * 8; ++bit) {
      std::string stream = *sample;
      stream[bit / 8] = static_cast<char>(stream[bit / 8] ^ (1 << bit % 8));
      while (stream.size() < 12 * sample->size()) stream += *sample;
      std::string_view rest = stream;
      std::size_t last_complete = 0;
      while (!rest.empty()) {
        const Frame f = next_frame(rest);
        ASSERT_TRUE(f.status == FrameStatus::complete || f.status == FrameStatus::garbled) << bit;
        last_complete = f.status == FrameStatus::complete ? f.size : 0;
        rest.remove_prefix(f.size);
      }
      ASSERT_EQ(last_complete, sample->size()) << bit;
    }
  }
}

// Memory whose last byte is followed by a page that cannot be touched.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (size + page - 1) / page * page;
    mapped_ = usable_ + page;
    base_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + usable_, page, PROT_NONE) != 0) std::abort();
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(base_, mapped_); }

  // A copy that ends where the unmapped page begins.
  [[nodiscard]] std::string_view place(std::string_view bytes) {
    char* const at = base_ + usable_ - bytes.size();
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    return {at, bytes.size()};
  }
  [[nodiscard]] std::span<char> last(std::size_t size) { return {base_ + usable_ - size, size}; }

 private:
  char* base_ = nullptr;
  std::size_t usable_ = 0;
  std::size_t mapped_ = 0;
};

TEST(hostile_bytes, nothing_is_read_behind_the_end_of_the_buffer) {
  GuardedMemory memory{4096};
  MessageView view;
  for (const std::string* sample : samples) {
    for (std::size_t size = 0; size <= sample->size(); ++size) {
      const std::string_view bytes = memory.place(std::string_view{*sample}.substr(0, size));
      const bool whole = size == sample->size();
      EXPECT_EQ(view.parse(bytes) == WireError::none, whole);
      EXPECT_EQ(view.parse_leniently(bytes) == WireError::none, whole);
      EXPECT_EQ(next_frame(bytes).status, whole ? FrameStatus::complete : FrameStatus::need_more);
      EXPECT_EQ(scan_soh_scalar(bytes), scan_soh(bytes));
      EXPECT_EQ(test::check_sum_of(bytes).substr(3, 3),
                test::check_sum_of(std::string(1, static_cast<char>(check_sum(bytes)))).substr(3, 3));
    }
  }
}

TEST(hostile_bytes, mutated_messages_at_the_end_of_memory_are_survived) {
  GuardedMemory memory{4096};
  MessageView view{64};
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr std::string_view alphabet = "\x01=0123456789-8FIX";
  for (int i = 0; i < 50000; ++i) {
    std::string bytes = *samples[random.below(std::size(samples))];
    for (auto n = random.below(4); n > 0; --n)
      bytes[random.below(bytes.size())] = alphabet[random.below(alphabet.size())];
    bytes.resize(random.below(bytes.size() + 1));
    const std::string_view placed = memory.place(bytes);
    if (view.parse(placed) == WireError::none) {
      ASSERT_EQ(test::check_sum_of(placed.substr(0, placed.size() - 7)), placed.substr(placed.size() - 7));
    }
    (void)view.parse_leniently(placed);
    expect_values_inside(view, placed);
    const Frame f = next_frame(placed);
    ASSERT_EQ(f.size > placed.size(), f.status == FrameStatus::need_more);
  }
}

TEST(hostile_bytes, the_encoder_writes_nothing_behind_its_buffer) {
  GuardedMemory memory{4096};
  for (std::size_t size = 0; size < 120; ++size) {
    Encoder encoder{memory.last(size)};
    encoder.begin("FIX.4.4", "D");
    encoder.fields()
        .append(Tag::MsgSeqNum, 12345)
        .append_data(Tag::RawDataLength, Tag::RawData, "some data")
        .append(Tag::Text, "text");
    const std::string_view message = encoder.finish();
    MessageView view;
    EXPECT_TRUE(message.empty() || view.parse(message) == WireError::none) << size;
  }
}

}  // namespace
}  // namespace nfx
