// Bytes that a peer should not send: every truncation, every flipped bit, and messages next to unmapped memory, parsed
// with every kernel that this machine supports.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "differential/guarded_memory.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/fix_text.hpp"
#include "wire/kernels/kernels.hpp"
#include "wire/scan.hpp"

namespace nfx {
namespace {

using test::Against;
using test::GuardedMemory;

constexpr std::size_t memory_size = 4096;
constexpr Against both_sides[] = {Against::page_in_front, Against::page_behind};

std::string market_data(int entries) {
  std::string body =
      "35=W|34=12|49=FEED|52=20240315-12:00:01.123|56=BUYER|55=EUR/USD|268=" + std::to_string(entries) + '|';
  for (int i = 0; i < entries; ++i) {
    body += std::string{"269="} + (i % 2 == 0 ? '0' : '1') + "|270=1.0" + std::to_string(8340 + i);
    body += "|271=" + std::to_string(1000 * (i + 1)) + "|290=" + std::to_string(i / 2 + 1) + '|';
  }
  return test::frame(body);
}

constexpr std::size_t block_border_sizes[] = {63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 511, 512, 513};

// A message with exactly this many bytes, so that its last block is full, one byte short, or has one byte.
std::string message_of_size(std::size_t size) {
  const std::string start = test::with_soh("35=0|49=BUYER|58=");
  const std::size_t around = std::string_view{"8=FIX.4.4|9=|10=000|"}.size();
  std::string message;
  for (std::size_t digits = 2; digits <= 3 && message.size() != size; ++digits) {
    const std::size_t body_size = size - around - digits;
    message = test::frame_bytes(start + std::string(body_size - start.size() - 1, 't') + '\x01');
  }
  EXPECT_EQ(message.size(), size);
  return message;
}

std::vector<std::string> make_samples() {
  std::vector<std::string> samples{test::logon, test::order, test::data_message, test::parties};
  samples.push_back(test::frame("35=0|34=2|"));
  samples.push_back(market_data(10));
  // Tags of five digits and more, alone and across the border of a block.
  samples.push_back(
      test::frame("35=D|10000=a|20001=custom|65535=last of 16 bits|00055=padded|12345=b|54321=c|9999=four|"
                  "33333=three|44444=four|"));
  samples.push_back(
      test::frame("35=D|65536=beyond|20001=custom|2147483647=largest|-1=minus|0000000055=padded|58=end|"));
  // Data as long as blocks, full of separators, and with a length that has leading zeros.
  const std::string data = test::with_soh("|=1=|10=000|8=FIX.4.4|") + std::string(100, '\x01') + std::string(30, '=');
  samples.push_back(test::frame_bytes(test::with_soh("35=B|95=") + std::to_string(data.size()) +
                                      test::with_soh("|96=") + data + test::with_soh("|354=0003|355=a=b|58=behind|")));
  // Many fields in one block.
  samples.push_back(
      test::frame("35=D|1=a|2=b|3=c|4=d|5=e|6=f|7=g|1=h|2=i|3=j|4=k|5=l|6=m|7=n|1=o|2=p|3=q|4=r|5=|6=|7=|"));
  samples.push_back(test::frame("35=B|58=" + std::string(600, '=') + "|58=" + std::string(70, 'x') + '|'));
  for (const std::size_t size : block_border_sizes) samples.push_back(message_of_size(size));
  return samples;
}

const std::vector<std::string>& samples() {
  static const std::vector<std::string> all = make_samples();
  return all;
}

// Names, because addresses in the names of tests would differ from run to run.
std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const kernels::KernelTable* table : kernels::available_kernels()) names.emplace_back(table->name);
  return names;
}

const kernels::KernelTable& kernel_named(std::string_view name) {
  const kernels::KernelTable* found = &kernels::scalar;
  for (const kernels::KernelTable* table : kernels::available_kernels()) {
    if (name == table->name) found = table;
  }
  EXPECT_EQ(found->name, name);
  return *found;
}

std::string with_flipped_bit(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

// Each test runs once with every kernel in use.
class hostile_bytes : public testing::TestWithParam<std::string> {
 protected:
  hostile_bytes() { kernels::use_kernels(kernel_named(GetParam())); }
  ~hostile_bytes() override { kernels::use_kernels(before_); }

 private:
  const kernels::KernelTable& before_ = kernels::kernels();
};

INSTANTIATE_TEST_SUITE_P(every_kernel, hostile_bytes, testing::ValuesIn(kernel_names()),
                         [](const auto& test_info) { return test_info.param; });

void expect_values_inside(const MessageView& view, std::string_view message) {
  for (std::uint32_t i = 0; i < view.size(); ++i) {
    const std::string_view value = view[i].value;
    ASSERT_GE(value.data(), message.data());
    ASSERT_LT(value.data() + value.size(), message.data() + message.size()) << "SOH follows every value";
    ASSERT_EQ(value.data()[value.size()], '\x01');
  }
}

TEST_P(hostile_bytes, whole_messages_of_all_sizes_are_accepted_on_both_sides_of_unmapped_memory) {
  GuardedMemory memory{memory_size};
  MessageView view;
  for (const std::string& sample : samples()) {
    for (const Against against : both_sides) {
      const std::string_view placed = memory.place(sample, against);
      ASSERT_EQ(view.parse(placed), WireError::none) << testing::PrintToString(sample);
      expect_values_inside(view, placed);
    }
  }
}

TEST_P(hostile_bytes, no_truncation_of_a_message_is_a_message) {
  MessageView view;
  for (const std::string& sample : samples()) {
    for (std::size_t size = 0; size < sample.size(); ++size) {
      const std::string_view cut = std::string_view{sample}.substr(0, size);
      ASSERT_NE(view.parse(cut), WireError::none) << size;
      ASSERT_EQ(view.size(), 0u);
      ASSERT_NE(view.parse_leniently(cut), WireError::none) << size;
      expect_values_inside(view, cut);
    }
    ASSERT_EQ(view.parse(sample), WireError::none);
  }
}

// A flipped bit of the body changes the sum by a power of two below 256, which is never a multiple of 256. A flipped
// bit in the digits of CheckSum changes the digits but not the sum, and one in "10=" or the last SOH leaves no CheckSum
// at the end. So none can be accepted.
TEST_P(hostile_bytes, no_single_flipped_bit_goes_unnoticed) {
  MessageView view;
  for (const std::string& sample : samples()) {
    for (std::size_t bit = 0; bit < sample.size() * 8; ++bit) {
      const std::string flipped = with_flipped_bit(sample, bit);
      ASSERT_NE(view.parse(flipped), WireError::none) << bit;
      ASSERT_NE(view.parse_leniently(flipped), WireError::none) << bit;
      expect_values_inside(view, flipped);
    }
  }
}

// The error of a message, and the number of fields before it, must not depend on the machine.
struct Verdict {
  WireError error;
  std::vector<Field> fields;
};

Verdict verdict_with(const kernels::KernelTable& table, MessageView& view, std::string_view bytes) {
  const kernels::KernelTable& before = kernels::kernels();
  kernels::use_kernels(table);
  Verdict verdict{view.parse_leniently(bytes), {}};
  for (std::uint32_t i = 0; i < view.size(); ++i) verdict.fields.push_back(view[i]);
  kernels::use_kernels(before);
  return verdict;
}

void expect_as_scalar(std::string_view bytes) {
  static MessageView view;
  const Verdict expected = verdict_with(kernels::scalar, view, bytes);
  const Verdict got = verdict_with(kernels::kernels(), view, bytes);
  ASSERT_EQ(got.error, expected.error) << testing::PrintToString(bytes);
  ASSERT_EQ(got.fields.size(), expected.fields.size()) << testing::PrintToString(bytes);
  for (std::size_t i = 0; i < got.fields.size(); ++i) {
    ASSERT_EQ(got.fields[i].tag, expected.fields[i].tag) << i << testing::PrintToString(bytes);
    ASSERT_EQ(got.fields[i].value.data(), expected.fields[i].value.data()) << i << testing::PrintToString(bytes);
    ASSERT_EQ(got.fields[i].value.size(), expected.fields[i].value.size()) << i << testing::PrintToString(bytes);
  }
}

TEST_P(hostile_bytes, flipped_bits_and_truncations_are_read_as_the_scalar_kernel_reads_them) {
  GuardedMemory memory{memory_size};
  for (const std::string& sample : samples()) {
    for (std::size_t bit = 0; bit < sample.size() * 8; ++bit)
      expect_as_scalar(memory.place(with_flipped_bit(sample, bit), both_sides[bit / 8 % 2]));
    for (std::size_t size = 0; size <= sample.size(); ++size)
      for (const Against against : both_sides) {
        expect_as_scalar(memory.place(std::string_view{sample}.substr(0, size), against));
        expect_as_scalar(memory.place(std::string_view{sample}.substr(sample.size() - size), against));
      }
    if (HasFatalFailure()) return;
  }
}

TEST_P(hostile_bytes, no_flipped_bit_hides_the_message_after_for_long) {
  // A broken BodyLength may swallow the second copy, but the framer resynchronises at the fourth at the latest.
  for (const std::string* sample : {&test::logon, &test::order, &test::data_message, &test::parties}) {
    for (std::size_t bit = 0; bit < sample->size() * 8; ++bit) {
      std::string stream = with_flipped_bit(*sample, bit);
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

TEST_P(hostile_bytes, nothing_is_read_outside_of_the_buffer) {
  GuardedMemory memory{memory_size};
  MessageView view;
  for (const std::string& sample : samples()) {
    for (std::size_t size = 0; size <= sample.size(); ++size) {
      for (const Against against : both_sides) {
        const std::string_view bytes = memory.place(std::string_view{sample}.substr(0, size), against);
        const bool whole = size == sample.size();
        ASSERT_EQ(view.parse(bytes) == WireError::none, whole) << size;
        ASSERT_EQ(view.parse_leniently(bytes) == WireError::none, whole) << size;
        ASSERT_EQ(next_frame(bytes).status, whole ? FrameStatus::complete : FrameStatus::need_more) << size;
        ASSERT_EQ(scan_soh_scalar(bytes), scan_soh(bytes)) << size;
        ASSERT_EQ(test::check_sum_of(bytes).substr(3, 3),
                  test::check_sum_of(std::string(1, static_cast<char>(check_sum(bytes)))).substr(3, 3))
            << size;
      }
    }
  }
}

// Tags are read backwards from their '=', and the first one has no SOH before it.
TEST_P(hostile_bytes, nothing_is_read_before_a_first_tag_of_many_digits) {
  GuardedMemory memory{memory_size};
  MessageView view;
  const std::string rest =
      test::with_soh("=a|65536=beyond 16 bits|58=a value that is long enough for blocks of 64 bytes|");
  for (std::size_t digits = 1; digits <= 12; ++digits) {
    const std::string text = std::string(digits, '1') + rest;
    const std::string_view bytes = memory.place(text, Against::page_in_front);
    EXPECT_EQ(view.parse(bytes), digits <= 10 ? WireError::header_order : WireError::bad_tag) << digits;
    expect_as_scalar(bytes);
  }
}

TEST_P(hostile_bytes, a_message_is_read_alike_whatever_is_before_it) {
  MessageView view;
  const std::string text =
      test::with_soh("|612345=a|65536=beyond 16 bits|58=a value that is long enough for blocks of 64|");
  const std::string_view message = std::string_view{text}.substr(2);  // after a SOH and a digit
  EXPECT_EQ(view.parse_leniently(message), WireError::header_order);
  ASSERT_EQ(view.size(), 3u);
  EXPECT_EQ(view.tag_at(0), Tag{12345});
  expect_as_scalar(message);
}

TEST_P(hostile_bytes, mutated_messages_at_both_ends_of_memory_are_survived) {
  GuardedMemory memory{memory_size};
  MessageView view{64};
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr std::string_view alphabet = "\x01=0123456789-8FIX";
  for (int i = 0; i < 50000; ++i) {
    std::string bytes = samples()[random.below(samples().size())];
    for (auto n = random.below(4); n > 0; --n)
      bytes[random.below(bytes.size())] = alphabet[random.below(alphabet.size())];
    bytes.resize(random.below(bytes.size() + 1));
    const std::string_view placed = memory.place(bytes, both_sides[i % 2]);
    if (view.parse(placed) == WireError::none) {
      ASSERT_EQ(test::check_sum_of(placed.substr(0, placed.size() - 7)), placed.substr(placed.size() - 7));
    }
    (void)view.parse_leniently(placed);
    expect_values_inside(view, placed);
    const Frame f = next_frame(placed);
    const bool incomplete = f.status == FrameStatus::need_more || f.status == FrameStatus::too_large;
    ASSERT_EQ(f.size > placed.size(), incomplete);
  }
}

TEST_P(hostile_bytes, the_encoder_writes_nothing_after_its_buffer) {
  GuardedMemory memory{memory_size};
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
