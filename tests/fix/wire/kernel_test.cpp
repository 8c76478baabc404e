// Every kernel of this machine gives the result of a plain definition of a field.
#include "wire/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/fix_text.hpp"
#include "wire/scan.hpp"

namespace nfx {
namespace {

struct Found {
  std::int32_t tag;
  std::uint32_t offset;
  std::uint32_t length;
  bool operator==(const Found&) const = default;
};

struct Outcome {
  WireError error = WireError::none;
  std::vector<Found> fields;
};

template <class Arrays>
Outcome index_into(auto index_fields, std::string_view message, std::uint32_t capacity, bool& needs_wide) {
  const std::uint32_t room = capacity + kernels::array_padding;
  std::vector<typename Arrays::tag_type> tags(room);
  std::vector<typename Arrays::position_type> begins(room), ends(room);
  const auto result =
      index_fields(message.data(), message.size(), Arrays{tags.data(), begins.data(), ends.data(), capacity});
  needs_wide = result.needs_wide;
  Outcome outcome{result.error, {}};
  for (std::uint32_t i = 0; i < result.count; ++i) {
    outcome.fields.push_back({static_cast<std::int32_t>(tags[i]), begins[i], std::uint32_t{ends[i]} - begins[i]});
  }
  if (result.error == WireError::none && !needs_wide) {
    EXPECT_EQ(test::check_sum_of(message).substr(3, 3),
              test::check_sum_of(std::string(1, static_cast<char>(result.sum))).substr(3, 3));
  }
  return outcome;
}

// The results of every kernel of this machine for the message, narrow and wide; they must be equal.
Outcome index(std::string_view message, std::uint32_t capacity = 64) {
  bool needs_wide = false;
  const Outcome wide =
      index_into<kernels::WideFieldArrays>(kernels::scalar.index_wide_fields, message, capacity, needs_wide);
  bool scalar_needs_wide = false;
  const Outcome narrow =
      index_into<kernels::FieldArrays>(kernels::scalar.index_fields, message, capacity, scalar_needs_wide);
  if (!scalar_needs_wide) {
    EXPECT_EQ(narrow.error, wide.error);
    EXPECT_EQ(narrow.fields, wide.fields);
  }
  for (const kernels::KernelTable* table : kernels::available_kernels()) {
    const Outcome other = index_into<kernels::WideFieldArrays>(table->index_wide_fields, message, capacity, needs_wide);
    EXPECT_EQ(other.error, wide.error) << table->name << testing::PrintToString(message);
    EXPECT_EQ(other.fields, wide.fields) << table->name << testing::PrintToString(message);
    const Outcome small = index_into<kernels::FieldArrays>(table->index_fields, message, capacity, needs_wide);
    EXPECT_EQ(needs_wide, scalar_needs_wide) << table->name << testing::PrintToString(message);
    EXPECT_EQ(small.error, narrow.error) << table->name << testing::PrintToString(message);
    EXPECT_EQ(small.fields, narrow.fields) << table->name << testing::PrintToString(message);
  }
  return wide;
}

// The rules of a field written down as plainly as possible, one byte at a time.
Outcome index_plainly(std::string_view message, std::uint32_t capacity = 64) {
  Outcome outcome;
  std::size_t at = 0;
  while (at < message.size()) {
    const std::size_t soh_at = message.find('\x01', at);
    if (soh_at == std::string_view::npos) break;
    const std::string_view field = message.substr(at, soh_at - at);
    const std::size_t equals = field.find('=');
    std::string_view digits = field.substr(0, equals);
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    const bool numeric = digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (equals == std::string_view::npos || digits.empty() || digits.size() > 10 || !numeric) {
      outcome.error = WireError::bad_tag;
      return outcome;
    }
    const std::int64_t tag = (negative ? -1 : 1) * std::stoll(std::string{digits});
    if (tag > INT32_MAX || tag < INT32_MIN) {
      outcome.error = WireError::bad_tag;
      return outcome;
    }
    const std::size_t value_at = at + equals + 1;
    std::size_t end = soh_at;
    if (!outcome.fields.empty()) {
      const Found& before = outcome.fields.back();
      const Tag data_tag = data_tag_of(Tag{before.tag});
      if (data_tag != Tag{0} && value(data_tag) == tag) {
        const std::string length{message.substr(before.offset, before.length)};
        const bool good =
            !length.empty() && length.size() <= 9 && length.find_first_not_of("0123456789") == std::string::npos;
        end = good ? value_at + std::stoull(length) : message.size();
        if (end >= message.size() || message[end] != '\x01') {
          outcome.error = WireError::bad_data_length;
          return outcome;
        }
      }
    }
    if (outcome.fields.size() == capacity) {
      outcome.error = WireError::too_many_fields;
      return outcome;
    }
    outcome.fields.push_back({static_cast<std::int32_t>(tag), static_cast<std::uint32_t>(value_at),
                              static_cast<std::uint32_t>(end - value_at)});
    at = end + 1;
  }
  if (at != message.size() || message.empty()) outcome.error = WireError::truncated;
  return outcome;
}

// The lowest and highest numbers, and FIX 5.0 SP2's numbers far away from all others, in every kernel.
TEST(Kernels, every_length_field_lets_its_data_hold_soh_and_equals) {
  std::size_t pairs = 0;
  for (std::int32_t tag = 1; tag <= 65535; ++tag) {
    const Tag data = data_tag_of(Tag{tag});
    if (data == Tag{0}) continue;
    ++pairs;
    const std::string front = "58=x\x01" + std::to_string(tag) + "=5\x01" + std::to_string(value(data)) + "=";
    const Outcome outcome = index(front +
                                  "a\x01"
                                  "9=b\x01"
                                  "60=y\x01");
    ASSERT_EQ(outcome.error, WireError::none) << tag;
    ASSERT_EQ(outcome.fields.size(), 4U) << tag;
    EXPECT_EQ(outcome.fields[2], (Found{value(data), static_cast<std::uint32_t>(front.size()), 5})) << tag;
  }
  EXPECT_EQ(pairs, 83U);
}

TEST(kernel, finds_every_field_of_a_message) {
  const std::string text = test::with_soh("8=F|-1=a|0=|49=x=y|");
  const std::vector<Found> expected{{8, 2, 1}, {-1, 7, 1}, {0, 11, 0}, {49, 15, 3}};
  const Outcome outcome = index(text);
  EXPECT_EQ(outcome.error, WireError::none);
  EXPECT_EQ(outcome.fields, expected);
}

TEST(kernel, equals_the_plain_reading_on_random_fields) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr std::string_view pieces[] = {"8=",
                                         "95=3\x01"
                                         "96=",
                                         "95=",
                                         "96=",
                                         "354=12\x01",
                                         "355=",
                                         "90=0\x01"
                                         "91=",
                                         "\x01",
                                         "\x01",
                                         "=",
                                         "a",
                                         "0",
                                         "12",
                                         "-",
                                         "|",
                                         "2147483647=",
                                         "2147483648=",
                                         "-2147483648=",
                                         "49x=",
                                         "5001=value\x01",
                                         "20001=u\x01",
                                         "65535=v\x01",
                                         "65536=w\x01",
                                         "000000049=zeros\x01",
                                         "a longer value that fills the rest of a block of 64 bytes\x01",
                                         "10=000\x01"};
  for (int i = 0; i < 100000; ++i) {
    std::string text;
    if (i % 2 != 0)
      text =
          "8=FIX.4.4\x01"
          "9=100\x01"
          "35=D\x01"
          "49=SENDER\x01"
          "56=TARGET\x01"
          "34=177\x01"
          "52=20240102\x01";
    for (auto n = random.below(14); n > 0; --n) text += pieces[random.below(std::size(pieces))];
    const std::uint32_t capacity = i % 2 != 0 ? 14 : 6;
    const Outcome got = index(text, capacity), expected = index_plainly(text, capacity);
    ASSERT_EQ(got.error, expected.error) << testing::PrintToString(text);
    ASSERT_EQ(got.fields, expected.fields) << testing::PrintToString(text);
  }
}

TEST(kernel, scans_to_the_first_soh_at_every_length_and_place) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string bytes(size, '\x02');
    EXPECT_EQ(scan_soh_scalar(bytes) - bytes.data(), static_cast<std::ptrdiff_t>(size));
    for (std::size_t at = size; at-- > 0;) {
      bytes[at] = '\x01';  // later ones remain: the first counts
      EXPECT_EQ(scan_soh_scalar(bytes) - bytes.data(), static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(scan_soh(bytes), scan_soh_scalar(bytes));
    }
  }
}

TEST(kernel, no_other_byte_looks_like_soh) {
  for (int other = 0; other < 256; ++other) {
    if (other == 1) continue;
    std::string bytes(16, static_cast<char>(other));
    EXPECT_EQ(scan_soh_scalar(bytes), bytes.data() + bytes.size()) << other;
    bytes[6] = '\x01';
    EXPECT_EQ(scan_soh_scalar(bytes), bytes.data() + 6) << other;
  }
}

TEST(kernel, sums_bytes_modulo_256_at_every_length) {
  std::string bytes;
  unsigned expected = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    ASSERT_EQ(check_sum(bytes), expected % 256) << i;
    bytes += static_cast<char>(255 - i % 7);
    expected += 255 - i % 7;
  }
}

TEST(kernel, every_instruction_set_scans_alike_by_its_name) {
  const std::string names = available_kernel_names();
  std::string bytes(300, '\x02');
  bytes[200] = '\x01';
  for (std::size_t begin = 0; begin < bytes.size(); begin += 7) {
    const std::span<const char> rest{bytes.data() + begin, bytes.size() - begin};
    for (const kernels::KernelTable* table : kernels::available_kernels()) {
      EXPECT_NE(names.find(table->name), std::string::npos) << names;
      EXPECT_EQ(scan_soh(table->name, rest), scan_soh_scalar(rest)) << table->name << ' ' << begin;
    }
  }
  EXPECT_EQ(scan_soh("mmx", bytes), std::nullopt);
}

TEST(kernel, the_one_in_use_is_one_of_those_there_are) {
  EXPECT_NE(available_kernel_names().find(active_kernel_name()), std::string::npos);
}

}  // namespace
}  // namespace nfx
