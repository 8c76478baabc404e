// Fuzz target for all code that reads a peer's bytes: framer, parser, typed reads, groups. For any bytes, nothing
// outside them is read and the contracts of the headers hold; a violation aborts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/scan.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{};

namespace nfx {
namespace {

// Small limits, so that small inputs reach them.
constexpr std::size_t max_message_size = 512;
constexpr std::uint32_t max_fields = 48;

constexpr Tag sub_id_members[] = {Tag::PartySubID, Tag::PartySubIDType};
constexpr GroupShape party_groups[] = {{Tag::NoPartySubIDs, sub_id_members, {}}};
constexpr Tag party_members[] = {Tag::PartyID, Tag::PartyIDSource, Tag::PartyRole, Tag::NoPartySubIDs};
constexpr GroupShape parties{Tag::NoPartyIDs, party_members, party_groups};

bool is_inside(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

unsigned plain_sum(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum % 256;
}

void check_typed_reads(const MessageView& view, Tag tag) {
  const auto number = view.get_int(tag);
  if (number) {
    NFX_REQUIRE(view.get_decimal(tag) == Decimal{*number});
    NFX_REQUIRE(view.get_seq_num(tag).has_value() == (*number >= 0));
  }
  const auto decimal = view.get_decimal(tag);
  if (decimal) {
    char text[Decimal::max_text_size];
    NFX_REQUIRE(Decimal::parse({text, decimal->write(text)}) == *decimal);
  }
  if (const auto c = view.get_char(tag)) NFX_REQUIRE(view.get_view(tag) == std::string_view(&*c, 1));
  if (const auto b = view.get_bool(tag)) NFX_REQUIRE(view.get_char(tag) == (*b ? 'Y' : 'N'));
  const auto time = view.get_utc_timestamp(tag);
  if (time && time->fraction_digits <= 9) {
    char text[max_utc_timestamp_size];
    const std::string_view written{text, write_utc_timestamp(text, time->time, time->fraction_digits)};
    // Second 60 is the only text that is formatted differently from the input.
    NFX_REQUIRE(written == view.get_view(tag) || view.get_view(tag).substr(15, 2) == "60");
  }
}

void check_entry(const GroupEntry& entry, const MessageView& view, const GroupShape& shape) {
  NFX_REQUIRE(entry.size() > 0 && std::ranges::find(shape.members, entry[0].tag) != shape.members.end());
  for (std::uint32_t i = 0; i < entry.size(); ++i) {
    NFX_REQUIRE(i == 0 || entry[i].tag != entry[0].tag);
    NFX_REQUIRE(entry.has(entry[i].tag) && is_inside(entry[i].value, view.bytes()));
  }
  for (const GroupShape& inner : shape.nested) {
    std::uint32_t count = 0;
    const GroupView group = entry.group(inner);
    for (const GroupEntry nested : group) {
      check_entry(nested, view, inner);
      ++count;
    }
    NFX_REQUIRE(count == group.size());
  }
}

void check_fields(const MessageView& view) {
  const std::string_view bytes = view.bytes();
  std::size_t after = 0;
  for (std::uint32_t i = 0; i < view.size(); ++i) {
    const Field field = view[i];
    NFX_REQUIRE(view.offset_at(i) > after && is_inside(field.value, bytes));
    after = view.offset_at(i) + field.value.size();
    NFX_REQUIRE(after < bytes.size() && bytes[after] == soh);
    ++after;
    const std::uint32_t first = view.find(field.tag);
    NFX_REQUIRE(first <= i && view.tag_at(first) == field.tag);
    for (std::uint32_t before = 0; before < first; ++before) NFX_REQUIRE(view.tag_at(before) != field.tag);
    check_typed_reads(view, field.tag);
  }
  const GroupView group = view.group(parties);
  std::uint32_t count = 0;
  GroupEntry last{view, 0, 0};
  for (const GroupEntry entry : group) {
    check_entry(entry, view, parties);
    last = entry;
    ++count;
  }
  NFX_REQUIRE(count == 0 || parties.contains(last[last.size() - 1].tag));
  NFX_REQUIRE(count == group.size() && group.declared_size() >= -1);
  // Each entry begins with a member of the group itself.
  std::uint32_t entry_number = 0;
  for (const GroupEntry entry : group) {
    NFX_REQUIRE(entry.size() != 0 && std::ranges::find(parties.members, entry[0].tag) != parties.members.end());
    ++entry_number;
  }
  NFX_REQUIRE(entry_number == count);
}

void check_message(std::string_view message) {
  static MessageView view{max_fields};
  static MessageView lenient{max_fields};
  const WireError error = view.parse(message);
  NFX_REQUIRE(lenient.parse_leniently(message) == error);
  check_fields(lenient);
  if (error != WireError::none) {
    NFX_REQUIRE(view.size() == 0 && view.find(Tag::BeginString) == MessageView::npos);
    return;
  }
  check_fields(view);
  NFX_REQUIRE(view.size() == lenient.size() && view.bytes() == message);
  const std::string_view summed = message.substr(0, message.size() - Encoder::trailer_size);
  char trailer[Encoder::trailer_size];
  write_check_sum_field(trailer, static_cast<std::uint8_t>(plain_sum(summed)));
  NFX_REQUIRE(message.substr(summed.size()) == std::string_view(trailer, sizeof trailer));

  // A parsed message can be written again, and reads the same.
  const std::uint32_t begin = view.offset_at(1) + static_cast<std::uint32_t>(view[1].value.size()) + 1;
  static std::vector<char> buffer;
  buffer.resize(message.size() + 64);
  Encoder encoder{buffer};
  encoder.begin(view.begin_string(), view.msg_type());
  const std::size_t body = begin + 3 + view.msg_type().size() + 1;
  if (message[begin] != '3') return;  // "035=" is a spelling that the writer does not use
  encoder.fields().append_raw(summed.substr(body));
  const std::string_view again = encoder.finish();
  if (view.begin_string().empty() || view.begin_string().size() > 16 ||
      view.begin_string().find(soh) != std::string_view::npos) {
    NFX_REQUIRE(again.empty());
    return;
  }
  NFX_REQUIRE(lenient.parse(again) == WireError::none && lenient.size() == view.size());
}

// For each byte of the stream, when it arrives in pieces of `step` bytes: part of a message or not.
struct Stream {
  std::vector<std::size_t> message_ends;
  std::vector<std::size_t> message_starts;
  std::size_t consumed = 0;
  bool gave_up = false;

  bool operator==(const Stream&) const = default;
};

Stream read_stream(std::string_view bytes, std::size_t step) {
  Stream stream;
  for (std::size_t arrived = 0; arrived < bytes.size();) {
    arrived = bytes.size() - arrived < step ? bytes.size() : arrived + step;
    for (;;) {
      const std::string_view buffer = bytes.substr(stream.consumed, arrived - stream.consumed);
      const Frame frame = next_frame(buffer, max_message_size);
      if (frame.status == FrameStatus::need_more) {
        NFX_REQUIRE(frame.size > buffer.size() && frame.size <= max_message_size);
        break;
      }
      if (frame.status == FrameStatus::too_large) {
        stream.gave_up = true;
        return stream;
      }
      NFX_REQUIRE(frame.size > 0 && frame.size <= buffer.size());
      NFX_REQUIRE((frame.status == FrameStatus::complete) == (frame.error == WireError::none));
      if (frame.status == FrameStatus::complete) {
        stream.message_starts.push_back(stream.consumed);
        stream.message_ends.push_back(stream.consumed + frame.size);
      }
      stream.consumed += frame.size;
    }
  }
  return stream;
}

void check_scans(std::string_view bytes) {
  const std::size_t plain = std::min(bytes.find(soh), bytes.size());
  NFX_REQUIRE(scan_soh_scalar(bytes) == bytes.data() + plain && scan_soh(bytes) == bytes.data() + plain);
  NFX_REQUIRE(check_sum(bytes) == plain_sum(bytes));
}

}  // namespace
}  // namespace nfx

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // An allocation of the exact size, so that the address sanitizer detects every read outside of it.
  const std::unique_ptr<char[]> copy{new char[size]};
  if (size != 0) std::memcpy(copy.get(), data, size);
  const std::string_view bytes{copy.get(), size};

  nfx::check_scans(bytes);
  nfx::check_message(bytes);
  const nfx::Stream at_once = nfx::read_stream(bytes, size);
  NFX_REQUIRE(at_once == nfx::read_stream(bytes, 1));
  NFX_REQUIRE(at_once == nfx::read_stream(bytes, 7));
  for (std::size_t i = 0; i < at_once.message_ends.size(); ++i) {
    nfx::check_message(bytes.substr(at_once.message_starts[i], at_once.message_ends[i] - at_once.message_starts[i]));
  }
  return 0;
}
