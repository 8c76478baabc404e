// Changes to the few fields of a session message, except the fields that the session decides.
#include "nexusfix/session/session_message.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

constexpr std::array decided_by_session{
    Tag::EncryptMethod,    Tag::HeartBtInt, Tag::ResetSeqNumFlag, Tag::NextExpectedMsgSeqNum,
    Tag::DefaultApplVerID, Tag::BeginSeqNo, Tag::EndSeqNo,        Tag::NewSeqNo,
    Tag::GapFillFlag,      Tag::TestReqID,  Tag::RefSeqNum};

// Those that the composer writes: they are not optional.
constexpr std::array composed{Tag::BeginString,      Tag::BodyLength,
                              Tag::MsgType,          Tag::MsgSeqNum,
                              Tag::PossDupFlag,      Tag::SenderCompID,
                              Tag::SenderSubID,      Tag::SendingTime,
                              Tag::TargetCompID,     Tag::TargetSubID,
                              Tag::OrigSendingTime,  Tag::SenderLocationID,
                              Tag::TargetLocationID, Tag::LastMsgSeqNumProcessed};

[[nodiscard]] bool is_text(std::string_view value) noexcept { return !value.empty() && !value.contains(soh); }

// The data fields that session messages may have; each follows the number of its length field.
[[nodiscard]] bool is_data(Tag tag) noexcept { return data_tag_of(Tag{value(tag) - 1}) == tag; }

// "tag=" at the start of `out`.
[[nodiscard]] std::string_view write_tag(std::span<char> out, Tag tag) noexcept {
  char* const end = std::to_chars(out.data(), out.data() + out.size() - 1, value(tag)).ptr;
  *end = '=';
  return {out.data(), static_cast<std::size_t>(end - out.data()) + 1};
}

}  // namespace

SessionMessage::Fields::Place SessionMessage::Fields::find(Tag wanted) const noexcept {
  const std::string_view text = view();
  std::size_t at = 0, previous = 0;
  std::int32_t data_tag = 0;
  std::size_t data_size = 0;
  while (at < text.size()) {
    std::int32_t tag = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), tag);
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return {};
    const std::size_t begin = equals + 1;
    // Data may contain SOH: its length field is what ends it.
    const bool is_data =
        data_tag != 0 && tag == data_tag && data_size < text.size() - begin && text[begin + data_size] == soh;
    const std::size_t soh_at = is_data ? begin + data_size : text.find(soh, begin);
    if (soh_at == std::string_view::npos) return {};
    if (tag == nfx::value(wanted)) return {is_data ? previous : at, at, begin, soh_at + 1};
    previous = at;
    data_tag = nfx::value(data_tag_of(Tag{tag}));
    data_size = 0;
    std::from_chars(text.data() + begin, text.data() + soh_at, data_size);
    at = soh_at + 1;
  }
  return {};
}

std::string_view SessionMessage::Fields::value(Tag tag) const noexcept {
  const Place place = find(tag);
  return place.found() ? view().substr(place.value, place.end - 1 - place.value) : std::string_view{};
}

bool SessionMessage::Fields::put(Place place, Tag tag, std::string_view value) noexcept {
  NFX_ASSERT(place.begin <= place.end && place.end <= size && size <= space.size());
  char head_space[16];
  const std::string_view head = write_tag(head_space, tag);
  const std::size_t need = head.size() + value.size() + 1;
  if (size - (place.end - place.begin) + need > space.size()) return false;
  char* const at = space.data() + place.begin;
  std::memmove(at + need, space.data() + place.end, size - place.end);
  std::ranges::copy(head, at);
  std::ranges::copy(value, at + head.size());
  at[need - 1] = soh;
  size = size - (place.end - place.begin) + need;
  return true;
}

void SessionMessage::Fields::erase(Place place) noexcept {
  NFX_ASSERT(place.pair <= place.begin && place.begin <= place.end && place.end <= size);
  std::memmove(space.data() + place.pair, space.data() + place.end, size - place.end);
  size -= place.end - place.pair;
}

SessionMessage::SessionMessage(const Header& header, std::string_view body, std::span<char> body_space,
                               std::string_view header_fields, std::span<char> header_space) noexcept
    : header_(header), body_{body_space, body.size()}, header_fields_{header_space, header_fields.size()} {
  NFX_REQUIRE(body.size() <= body_space.size() && header_fields.size() <= header_space.size());
  if (body.data() != body_space.data()) std::ranges::copy(body, body_space.begin());
  std::ranges::copy(header_fields, header_space.begin());
  char* const end = std::to_chars(seq_text_, seq_text_ + sizeof seq_text_, value(header.seq)).ptr;
  seq_size_ = static_cast<std::size_t>(end - seq_text_);
}

bool SessionMessage::is_decided_by_session(Tag tag) noexcept {
  return std::ranges::find(decided_by_session, tag) != decided_by_session.end();
}

std::string_view SessionMessage::get_view(Tag tag) const noexcept {
  switch (tag) {
    case Tag::BeginString: return header_.begin_string;
    case Tag::MsgType: return header_.msg_type;
    case Tag::MsgSeqNum: return {seq_text_, seq_size_};
    case Tag::SenderCompID: return header_.sender_comp_id;
    case Tag::SendingTime: return header_.sending_time;
    case Tag::TargetCompID: return header_.target_comp_id;
    default: break;
  }
  if (!is_header_tag(tag)) return body_.value(tag);
  if (const std::string_view found = header_fields_.value(tag); !found.empty()) return found;
  // Only read: the session's own fields are constants.
  const Fields own{{const_cast<char*>(header_.own_fields.data()), header_.own_fields.size()},
                   header_.own_fields.size()};
  return own.value(tag);
}

bool SessionMessage::set(Tag tag, std::string_view value) noexcept {
  if (!is_text(value) || is_header_tag(tag) || is_trailer_tag(tag) || is_decided_by_session(tag)) return false;
  if (nfx::value(tag) <= 0 || data_tag_of(tag) != Tag{} || is_data(tag)) return false;
  const Fields::Place place = body_.find(tag);
  return body_.put(place.found() ? place : body_.at_end(), tag, value);
}

bool SessionMessage::set_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept {
  if (data.empty() || data_tag_of(length_tag) != data_tag || is_header_tag(data_tag) || is_trailer_tag(data_tag))
    return false;
  char length[24];
  const auto length_end = std::to_chars(length, length + sizeof length, data.size()).ptr;
  const std::string_view length_text{length, static_cast<std::size_t>(length_end - length)};
  constexpr std::size_t tags_and_ends = 2 * 13;
  if (body_.size + length_text.size() + data.size() + tags_and_ends > body_.space.size()) return false;
  remove(data_tag);
  remove(length_tag);
  const bool fits = body_.put(body_.at_end(), length_tag, length_text) && body_.put(body_.at_end(), data_tag, data);
  NFX_ASSERT(fits);
  return fits;
}

bool SessionMessage::set_header(Tag tag, std::string_view value) noexcept {
  const bool composed_here = std::ranges::find(composed, tag) != composed.end();
  if (!is_text(value) || !is_header_tag(tag) || composed_here) return false;
  if (const Fields::Place place = header_fields_.find(tag); place.found()) return header_fields_.put(place, tag, value);
  // They ascend by tag.
  std::size_t at = 0;
  for (const std::string_view fields = header_fields_.view(); at < fields.size(); at = fields.find(soh, at) + 1) {
    std::int32_t there = 0;
    std::from_chars(fields.data() + at, fields.data() + fields.size(), there);
    if (there > nfx::value(tag)) break;
  }
  return header_fields_.put({at, at, at, at}, tag, value);
}

bool SessionMessage::remove(Tag tag) noexcept {
  if (is_decided_by_session(tag)) return false;
  const Fields::Place place = body_.find(tag);
  if (!place.found()) return false;
  if (const Tag data_tag = data_tag_of(tag); data_tag != Tag{}) {
    if (const Fields::Place data = body_.find(data_tag); data.found() && data.pair == place.begin) {
      body_.erase(data);
      return true;
    }
  }
  body_.erase(place);
  return true;
}

void SessionMessage::cancel(std::string_view why) noexcept {
  if (!is_logon()) return;
  cancelled_ = true;
  reason_size_ = std::min(why.size(), sizeof reason_);
  std::copy_n(why.begin(), reason_size_, reason_);
}

}  // namespace nfx
