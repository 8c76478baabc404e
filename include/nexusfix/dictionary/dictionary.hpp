// The definitions of one FIX version, or of one counterparty's variant: fields and their types, messages, groups,
// enumerated values. It knows the types of FIX 4.0 to 5.0 SP2 and of FIX Latest.
// Thread: any; immutable once parsed. Cost: lookups by tag and message type are O(1) and never allocate; has_format()
// is one pass over the value.
// Lifetime: every pointer, span and string_view returned belongs to the Dictionary and is valid as long as it; moving
// the Dictionary keeps them valid. Errors: parse() and build() throw DictionaryError, one line with file, line and fix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/language.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/version.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx {

enum class FieldType : std::uint8_t {
  integer,
  length,
  seq_num,
  num_in_group,
  tag_num,
  day_of_month,
  float_number,
  quantity,
  price,
  price_offset,
  amount,
  percentage,
  character,
  boolean,
  string,
  multiple_char_value,
  multiple_string_value,
  country,
  currency,
  exchange,
  language,
  month_year,
  utc_timestamp,
  utc_time_only,
  utc_date_only,
  local_mkt_date,
  local_mkt_time,
  tz_time_only,
  tz_timestamp,
  data,
  xml_data,
  xid,
  xid_ref,
};

// How the values of a type are written.
enum class ValueFormat : std::uint8_t {
  integer,          // digits, with a minus sign if it is negative
  number,           // digits
  sequence_number,  // digits
  day_of_month,
  decimal,
  character,
  boolean,
  text,  // any
  data,  // any, SOH included
  character_list,
  text_list,
  month_year,
  timestamp,
  time,
  local_time,
  date,
  zoned_time,
  zoned_timestamp,
};

struct FieldTypeRow {
  FieldType type;
  std::string_view name;  // in dictionary files
  ValueFormat format;
};

// In the order of FieldType.
inline constexpr std::array<FieldTypeRow, 33> field_type_rows{{
    {FieldType::integer, "INT", ValueFormat::integer},
    {FieldType::length, "LENGTH", ValueFormat::number},
    {FieldType::seq_num, "SEQNUM", ValueFormat::sequence_number},
    {FieldType::num_in_group, "NUMINGROUP", ValueFormat::number},
    {FieldType::tag_num, "TAGNUM", ValueFormat::number},
    {FieldType::day_of_month, "DAYOFMONTH", ValueFormat::day_of_month},
    {FieldType::float_number, "FLOAT", ValueFormat::decimal},
    {FieldType::quantity, "QTY", ValueFormat::decimal},
    {FieldType::price, "PRICE", ValueFormat::decimal},
    {FieldType::price_offset, "PRICEOFFSET", ValueFormat::decimal},
    {FieldType::amount, "AMT", ValueFormat::decimal},
    {FieldType::percentage, "PERCENTAGE", ValueFormat::decimal},
    {FieldType::character, "CHAR", ValueFormat::character},
    {FieldType::boolean, "BOOLEAN", ValueFormat::boolean},
    {FieldType::string, "STRING", ValueFormat::text},
    {FieldType::multiple_char_value, "MULTIPLECHARVALUE", ValueFormat::character_list},
    {FieldType::multiple_string_value, "MULTIPLESTRINGVALUE", ValueFormat::text_list},
    {FieldType::country, "COUNTRY", ValueFormat::text},
    {FieldType::currency, "CURRENCY", ValueFormat::text},
    {FieldType::exchange, "EXCHANGE", ValueFormat::text},
    {FieldType::language, "LANGUAGE", ValueFormat::text},
    {FieldType::month_year, "MONTHYEAR", ValueFormat::month_year},
    {FieldType::utc_timestamp, "UTCTIMESTAMP", ValueFormat::timestamp},
    {FieldType::utc_time_only, "UTCTIMEONLY", ValueFormat::time},
    {FieldType::utc_date_only, "UTCDATEONLY", ValueFormat::date},
    {FieldType::local_mkt_date, "LOCALMKTDATE", ValueFormat::date},
    {FieldType::local_mkt_time, "LOCALMKTTIME", ValueFormat::local_time},
    {FieldType::tz_time_only, "TZTIMEONLY", ValueFormat::zoned_time},
    {FieldType::tz_timestamp, "TZTIMESTAMP", ValueFormat::zoned_timestamp},
    {FieldType::data, "DATA", ValueFormat::data},
    {FieldType::xml_data, "XMLDATA", ValueFormat::data},
    {FieldType::xid, "XID", ValueFormat::text},
    {FieldType::xid_ref, "XIDREF", ValueFormat::text},
}};
static_assert([] {
  for (std::size_t i = 0; i < field_type_rows.size(); ++i)
    if (std::to_underlying(field_type_rows[i].type) != i) return false;
  return field_type_rows.back().type == FieldType::xid_ref;
}());

[[nodiscard]] constexpr ValueFormat format_of(FieldType type) noexcept {
  return field_type_rows[std::to_underlying(type)].format;
}

[[nodiscard]] constexpr std::string_view to_string(FieldType type) noexcept {
  return field_type_rows[std::to_underlying(type)].name;
}

// The type with this name. Synonyms are known too: older names (TIME, UTCDATE, MULTIPLEVALUESTRING), and names of
// FIX Latest for texts and numbers of a certain form (TENOR, RESERVED100PLUS).
[[nodiscard]] std::optional<FieldType> parse_field_type(std::string_view name) noexcept;
// The same for "LocalMktDate", as FIX itself spells its types.
[[nodiscard]] std::optional<FieldType> parse_field_type_in_any_case(std::string_view name) noexcept;

// Any text that is not empty is a value of these.
[[nodiscard]] constexpr bool takes_any_text(FieldType type) noexcept {
  return format_of(type) == ValueFormat::text || format_of(type) == ValueFormat::data;
}

// A value of these is one or several of the listed ones, with spaces between them.
[[nodiscard]] constexpr bool takes_several(FieldType type) noexcept {
  return format_of(type) == ValueFormat::character_list || format_of(type) == ValueFormat::text_list;
}

// Numbers are as the typed getters of MessageView read them: 18 significant digits, no plus sign, no exponent.
// Fractions of seconds have 1 to 12 digits. Text types accept any text: the lists of currencies, exchanges
// and countries change outside FIX. An empty text is not a value of any type.
[[nodiscard]] bool has_format(std::string_view text, FieldType type) noexcept;

class DictionaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bounds on what a dictionary file may define. They bound the validator's stack.
inline constexpr std::size_t max_scope_members = 1024;  // of a message with header and trailer, or of a group
inline constexpr std::size_t max_group_depth = 8;       // groups within groups

struct EnumValue {
  std::string_view value;
  std::string_view name;
};

// The enumerated values of one field.
class EnumValues {
 public:
  EnumValues() = default;
  explicit EnumValues(std::vector<EnumValue> values);

  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] std::span<const EnumValue> all() const noexcept { return values_; }  // sorted by value
  [[nodiscard]] const EnumValue* find(std::string_view value) const noexcept;

  // Cost: one bit test for one-character values, a binary search over integers for others.
  [[nodiscard]] bool contains(std::string_view value) const noexcept {
    if (value.size() == 1) {
      const auto c = static_cast<unsigned char>(value[0]);
      return (one_character_[c >> 6] >> (c & 63)) & 1;
    }
    return find(value) != nullptr;
  }

 private:
  std::array<std::uint64_t, 4> one_character_{};
  std::vector<EnumValue> values_;
  std::vector<std::uint64_t> keys_;  // the first eight bytes of each value, in the order of values_
};

// The members that validation reads come first, in the object's first cache line.
struct alignas(64) FieldDef {
  Tag tag{};
  FieldType type = FieldType::string;
  bool open = true;               // values outside the list are allowed; also when there is no list
  bool application_only = false;  // in a combined dictionary: undefined for the session messages
  EnumValues values;
  std::string_view name;
};

enum class Section : std::uint8_t { header, body, trailer };

struct GroupDef;

// A field's place in a message or group.
struct MemberDef {
  Tag tag{};
  Section section = Section::body;
  bool required = false;
  const FieldDef* field = nullptr;
  const GroupDef* group = nullptr;  // not null: the field is the count of this group
};

// Maps tags to small numbers: open addressing, at most half full.
class TagIndex {
 public:
  static constexpr std::uint16_t npos = UINT16_MAX;

  TagIndex() : TagIndex(0) {}
  explicit TagIndex(std::size_t size);
  void insert(Tag tag, std::uint16_t index) noexcept;  // at most `size` different tags

  [[nodiscard]] std::uint16_t find(Tag tag) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (static_cast<std::uint32_t>(value(tag)) * 0x9E3779B1u) >> shift_;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.tag == tag || slot.index == npos) return slot.index;
    }
  }

 private:
  struct Slot {
    Tag tag{};
    std::uint16_t index = npos;
  };

  std::vector<Slot> slots_;
  std::uint32_t shift_;
};

// How a value that is not empty shows at first sight that it is right. One that does not may be right all the same.
enum class QuickCheck : std::uint8_t {
  none,       // not so: also the counts of groups
  any_text,   // always
  listed,     // it is one of the field's values
  digits,     // one to eight digits
  number,     // one to eight digits, with at most one point among them
  timestamp,  // read_utc_time() reads it
};

// The facts about a usual member that validation needs, in 16 bits: a message's members share a few cache lines.
class MemberBrief {
 public:
  MemberBrief() = default;
  MemberBrief(std::size_t position, const MemberDef& member);

  [[nodiscard]] std::uint16_t position() const noexcept { return bits_ & 0x3FF; }
  [[nodiscard]] QuickCheck check() const noexcept { return static_cast<QuickCheck>(bits_ >> 10 & 7); }
  [[nodiscard]] bool required() const noexcept { return (bits_ >> 13 & 1) != 0; }
  [[nodiscard]] Section section() const noexcept { return static_cast<Section>(bits_ >> 14); }

 private:
  std::uint16_t bits_ = 0;  // a QuickCheck of none
};

// The briefs of a scope's members by tag. Members with tags far above the others' are not in it.
struct MemberBriefs {
  static constexpr std::uint32_t max_size = 4096;

  const MemberBrief* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t first_tag = 0;

  [[nodiscard]] MemberBrief of(std::uint32_t tag) const noexcept {
    const std::uint32_t at = tag - first_tag;
    return at < size ? data[at] : MemberBrief{};
  }
};

// The fields that may appear together: a message's, with header and trailer, or a group entry's.
// Components are resolved. A member's position is its order in the dictionary, header first, trailer last.
class Scope {
 public:
  Scope() = default;
  explicit Scope(std::vector<MemberDef> members);

  [[nodiscard]] std::span<const MemberDef> members() const noexcept { return members_; }
  [[nodiscard]] std::uint16_t position(Tag tag) const noexcept { return index_.find(tag); }  // or TagIndex::npos
  [[nodiscard]] const MemberDef* find(Tag tag) const noexcept {
    const std::uint16_t at = index_.find(tag);
    NFX_ASSERT(at == TagIndex::npos || (at < members_.size() && members_[at].tag == tag));
    return at == TagIndex::npos ? nullptr : &members_[at];
  }

  [[nodiscard]] std::uint32_t required_count() const noexcept { return required_count_; }
  [[nodiscard]] MemberBriefs briefs() const noexcept {
    return {briefs_.data(), static_cast<std::uint32_t>(briefs_.size()), first_tag_};
  }

 private:
  std::vector<MemberDef> members_;
  std::vector<MemberBrief> briefs_;
  std::uint32_t first_tag_ = 0;  // of briefs_
  std::uint32_t required_count_ = 0;
  TagIndex index_;
};

struct GroupDef {
  GroupShape shape;  // for MessageView::group(); nested shapes filled in
  Scope scope;       // the members of one entry, the delimiter first

  [[nodiscard]] const MemberDef* find(Tag tag) const noexcept { return scope.find(tag); }
};

struct MessageDef {
  std::string_view name;
  std::string_view msg_type;
  bool admin = false;  // msgcat="admin": a session message
  Scope scope;         // header, body and trailer

  [[nodiscard]] const MemberDef* find(Tag tag) const noexcept { return scope.find(tag); }
  // The group counted by this field, at the top or nested. Cost: linear in the message's groups.
  [[nodiscard]] const GroupDef* find_group(Tag count) const noexcept;
};

struct DictionaryModel;
class Repairs;

class Dictionary {
 public:
  // Builds the tables of a model, from one file or several combined (nexusfix/dictionary/model.hpp). A field that a
  // message repeats, directly or through components, counts once, at its first place. The model is not borrowed.
  [[nodiscard]] static Dictionary build(const DictionaryModel& model);

  // Reads one file: QuickFIX XML or a FIX Orchestra repository. source_name appears in error messages.
  [[nodiscard]] static Dictionary parse(std::string_view xml, std::string_view source_name);

  Dictionary(Dictionary&&) noexcept;
  Dictionary& operator=(Dictionary&&) noexcept;
  ~Dictionary();

  [[nodiscard]] std::string_view begin_string() const noexcept;  // "FIX.4.4"; with a separate transport "FIXT.1.1"
  [[nodiscard]] std::string_view version_name() const noexcept;  // of the application messages: "FIX.5.0SP2"
  [[nodiscard]] std::string_view appl_ver_id() const noexcept;   // of version_name(): "9"; empty when FIX defines none

  [[nodiscard]] const FieldDef* find_field(Tag tag) const noexcept;
  [[nodiscard]] const FieldDef* find_field(std::string_view name) const noexcept;
  [[nodiscard]] const MessageDef* find_message(std::string_view msg_type) const noexcept;

  // Irregularities of its files, and how each was read.
  [[nodiscard]] const Repairs& repairs() const noexcept;

  // Names, or empty when the dictionary has none.
  [[nodiscard]] std::string_view field_name(Tag tag) const noexcept;
  [[nodiscard]] std::string_view value_name(Tag tag, std::string_view value) const noexcept;
  [[nodiscard]] std::string_view message_name(std::string_view msg_type) const noexcept;

  // The group counted by this field within this message, at the top or nested; null when there is none.
  [[nodiscard]] const GroupShape* group_shape(std::string_view msg_type, Tag count) const noexcept;

  [[nodiscard]] std::span<const FieldDef> fields() const noexcept;      // by tag
  [[nodiscard]] std::span<const MessageDef> messages() const noexcept;  // as in the file

  struct Tables;  // private to the module's sources

 private:
  explicit Dictionary(std::unique_ptr<const Tables> tables) noexcept;

  std::unique_ptr<const Tables> tables_;
};

}  // namespace nfx
