// Run-time support of the messages that `nfx codegen` writes: typed lookups for readers, required fields and group
// counts for builders. Programs include the generated headers, which include this one.
// Thread: the owner of the MessageView or FieldWriter in use. Cost: the same lookup or append written by hand; a closed
// enumeration also tests whether its value is listed, which is a shift and a mask. No allocation.
// Lifetime: readers borrow the MessageView, builders the buffer or the FieldWriter.
// Errors: readers return FieldError as MessageView does; builders report them through ok().
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::generated {

// A message as one line with the names of fields and values, which a generated names.hpp has: docs/codegen.md.
// Thread: any, no state. Cost: a search per field and an allocation as the text grows; not for the hot path.
struct NamedValue {
  std::string_view value;  // as on the wire
  std::string_view name;
};
struct NamedField {
  Tag tag{};
  std::string_view name;
  std::span<const NamedValue> values;
};
struct MessageNames {
  std::span<const NamedValue> messages;  // by MsgType
  std::span<const NamedField> fields;    // in ascending order of tags
};

// "NewOrderSingle | ClOrdID(11)=A1 | Side(54)=1 (BUY) | ...": fields in their order, without BeginString, BodyLength,
// MsgType and CheckSum. Passwords are ***, and what is not printable is \xNN. A tag or a value without a name stays a
// number.
[[nodiscard]] std::string message_text(const MessageView& message, const MessageNames& names);

template <typename Value>
using Result = std::expected<Value, FieldError>;

// Enumerated values.

// Every generated enumeration has its values on the wire as enumerators, values_of(E) with all listed ones, and
// to_text(E) with the dictionary's name of one, empty for others.

template <typename E>
concept Enumeration = std::is_enum_v<E> && requires(E value) {
  values_of(value);
  to_text(value);
};

// The listed values below 128 as one bit each; the lower half of a vector's word first.
template <Enumeration E>
inline constexpr std::array<std::uint64_t, 2> listed_bits = [] {
  std::array<std::uint64_t, 2> bits{};
  for (const E each : values_of(E{})) {
    const auto number = static_cast<std::int64_t>(std::to_underlying(each));
    if (number >= 0 && number < 128) bits[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << number % 64;
  }
  return bits;
}();

template <Enumeration E>
inline constexpr bool all_listed_below_128 = [] {
  for (const E each : values_of(E{})) {
    const auto number = static_cast<std::int64_t>(std::to_underlying(each));
    if (number < 0 || number >= 128) return false;
  }
  return true;
}();

template <Enumeration E>
[[nodiscard, gnu::always_inline]] constexpr bool is_listed_number(std::int64_t number) noexcept {
  const auto place = static_cast<std::uint64_t>(number);
  if (place < 128) return (listed_bits<E>[place / 64] >> place % 64 & 1) != 0;
  if constexpr (!all_listed_below_128<E>) {
    for (const E each : values_of(E{})) {
      if (static_cast<std::int64_t>(std::to_underlying(each)) == number) return true;
    }
  }
  return false;
}

// The value with this name in the dictionary: the inverse of to_text.
template <Enumeration E>
[[nodiscard]] constexpr std::optional<E> from_text(std::string_view name) noexcept {
  for (const E each : values_of(E{})) {
    if (to_text(each) == name) return each;
  }
  return std::nullopt;
}

// The value with this text on the wire, if it is listed.
template <Enumeration E>
[[nodiscard]] Result<E> parse(std::string_view text) noexcept {
  if constexpr (std::is_same_v<std::underlying_type_t<E>, char>) {
    if (text.size() == 1 && is_listed_number<E>(static_cast<unsigned char>(text[0]))) return E{text[0]};
  } else {
    const auto number = parse_int(text);
    if (!number) return std::unexpected(number.error());
    if (is_listed_number<E>(*number)) return static_cast<E>(*number);
  }
  return std::unexpected(FieldError::bad_format);
}

// A type of up to eight characters as a number, for a switch; 0 for longer ones.
[[nodiscard]] constexpr std::uint64_t type_key(std::string_view msg_type) noexcept {
  if (msg_type.size() > 8) return 0;
  std::uint64_t key = 0;
  for (const char c : msg_type) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}

// Readers.

// The first of these fields that the message does not have.
template <typename View, std::size_t count>
[[nodiscard]] std::optional<Tag> first_missing(const View& view, const std::array<Tag, count>& required) noexcept {
  for (const Tag tag : required) {
    if (!view.has(tag)) return tag;
  }
  return std::nullopt;
}

// `View` is a MessageView or a GroupEntry.

enum class Listing : std::uint8_t { closed, open };  // open: values that are not listed are valid too

template <Enumeration E, Listing listing, typename View>
[[nodiscard, gnu::always_inline]] inline Result<E> get_enum(const View& view, Tag tag) noexcept {
  if constexpr (std::is_same_v<std::underlying_type_t<E>, char>) {
    const auto character = view.get_char(tag);
    if (!character) [[unlikely]]
      return std::unexpected(character.error());
    if constexpr (listing == Listing::closed) {
      if (!is_listed_number<E>(static_cast<unsigned char>(*character))) [[unlikely]]
        return std::unexpected(FieldError::bad_format);
    }
    return E{*character};
  } else {
    const auto number = view.get_int(tag);
    if (!number) [[unlikely]]
      return std::unexpected(number.error());
    if constexpr (listing == Listing::closed) {
      if (!is_listed_number<E>(*number)) [[unlikely]]
        return std::unexpected(FieldError::bad_format);
    } else {
      using Limits = std::numeric_limits<std::underlying_type_t<E>>;
      if (*number < Limits::min() || *number > Limits::max()) [[unlikely]]
        return std::unexpected(FieldError::out_of_range);
    }
    return static_cast<E>(*number);
  }
}

[[nodiscard, gnu::always_inline]] inline Result<SeqNum> get_seq_num(const MessageView& view, Tag tag) noexcept {
  return view.get_seq_num(tag);
}
[[nodiscard]] inline Result<SeqNum> get_seq_num(const GroupEntry& entry, Tag tag) noexcept {
  const auto number = entry.get_int(tag);
  if (!number) return std::unexpected(number.error());
  if (*number < 0) return std::unexpected(FieldError::bad_format);
  return SeqNum{static_cast<std::uint64_t>(*number)};
}

// The entries of a group, each as `Entry`. Iterators borrow the range.
template <typename Entry>
class Group {
 public:
  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() noexcept = default;
    [[gnu::always_inline]] explicit Iterator(GroupView::Iterator at) noexcept : at_(at) {}
    [[nodiscard, gnu::always_inline]] Entry operator*() const noexcept { return Entry{*at_}; }
    [[gnu::always_inline]] Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    GroupView::Iterator at_;
  };

  [[gnu::always_inline]] explicit Group(GroupView view) noexcept : view_(view) {}

  [[nodiscard, gnu::always_inline]] Iterator begin() const noexcept { return Iterator{view_.begin()}; }
  [[nodiscard, gnu::always_inline]] Iterator end() const noexcept { return Iterator{view_.end()}; }
  [[nodiscard]] bool empty() const noexcept { return view_.empty(); }

  // Entries present, and entries announced: they may differ in a message that is not validated.
  [[nodiscard]] std::uint32_t size() const noexcept { return view_.size(); }
  [[nodiscard]] std::int64_t declared_size() const noexcept { return view_.declared_size(); }

 private:
  GroupView view_;
};

// Builders.

// The argument of a setter: a value, or the result of a reader. A missing value or an empty text leaves the field out.
// A value that could not be read fails the writer.
template <typename Value>
class Given {
 public:
  // Numbers, characters and bool are not converted into one another.
  template <typename From>
    requires(std::convertible_to<From, Value> && (!std::is_arithmetic_v<Value> || std::same_as<From, Value>))
  [[gnu::always_inline]] Given(const From& value) noexcept : value_(value) {}  // NOLINT: meant implicit
  [[gnu::always_inline]] Given(const char* text) noexcept                      // NOLINT: same
    requires std::same_as<Value, std::string_view>
      : value_(detail::text_of(text)) {}
  template <typename Int>
    requires((std::same_as<Value, Decimal> || FieldInteger<Value>) && FieldInteger<Int> && !std::same_as<Int, Value>)
  [[gnu::always_inline]] Given(Int value) noexcept  // NOLINT: same
      : value_(static_cast<std::int64_t>(value)),
        state_(std::in_range<std::int64_t>(value) ? State::given : State::wrong) {}
  template <typename Unit>
    requires(std::same_as<Value, UtcTime> && !std::same_as<Unit, Duration>)
  [[gnu::always_inline]] Given(std::chrono::sys_time<Unit> time) noexcept  // NOLINT: same
      : value_(to_utc_time(time).value_or(UtcTime{})), state_(to_utc_time(time) ? State::given : State::wrong) {}
  [[gnu::always_inline]] Given(const Result<Value>& read) noexcept  // NOLINT: same
      : value_(read ? *read : Value{}), state_(state_of(read)) {}
  [[gnu::always_inline]] Given(const Result<UtcTimestamp>& read) noexcept  // NOLINT: same
    requires std::same_as<Value, UtcTime>
      : value_(read ? read->time : UtcTime{}), state_(state_of(read)) {}
  [[gnu::always_inline]] Given(const std::optional<Value>& value) noexcept  // NOLINT: same
      : value_(value.value_or(Value{})), state_(value ? State::given : State::missing) {}

  [[nodiscard, gnu::always_inline]] bool is_missing() const noexcept {
    if constexpr (std::same_as<Value, std::string_view>) {
      return state_ == State::missing || value_.empty();
    } else {
      return state_ == State::missing;
    }
  }
  [[nodiscard, gnu::always_inline]] bool is_wrong() const noexcept { return state_ == State::wrong; }
  // As FieldWriter::append() takes it.
  [[nodiscard, gnu::always_inline]] auto written() const noexcept {
    if constexpr (std::is_enum_v<Value> && !std::same_as<Value, SeqNum>) {
      return std::to_underlying(value_);
    } else {
      return value_;
    }
  }

 private:
  enum class State : std::uint8_t { given, missing, wrong };
  template <typename Read>
  [[nodiscard, gnu::always_inline]] static State state_of(const Read& read) noexcept {
    if (read) return State::given;
    return read.error() == FieldError::missing ? State::missing : State::wrong;
  }

  Value value_;
  State state_ = State::given;
};

// Required fields that were not set: a range of tags in the dictionary's order.
template <std::size_t required_count>
class MissingFields {
 public:
  static constexpr std::size_t words = required_count / 64 + 1;
  using Bits = std::array<std::uint64_t, words>;

  class Iterator {
   public:
    using value_type = Tag;
    using difference_type = std::ptrdiff_t;

    Iterator() noexcept = default;
    constexpr Iterator(const MissingFields* fields, std::size_t at) noexcept : fields_(fields), at_(at) { skip(); }
    [[nodiscard]] constexpr Tag operator*() const noexcept {
      NFX_ASSERT(at_ < required_count);
      return (*fields_->required_)[at_];
    }
    constexpr Iterator& operator++() noexcept {
      ++at_;
      skip();
      return *this;
    }
    constexpr Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend constexpr bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    constexpr void skip() noexcept {
      while (at_ < required_count && (fields_->given_[at_ / 64] >> at_ % 64 & 1) != 0) ++at_;
    }

    const MissingFields* fields_ = nullptr;
    std::size_t at_ = 0;
  };

  constexpr MissingFields(const std::array<Tag, required_count>& required, const Bits& given) noexcept
      : required_(&required), given_(given) {}

  [[nodiscard]] constexpr Iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] constexpr Iterator end() const noexcept { return {this, required_count}; }
  [[nodiscard]] constexpr bool empty() const noexcept { return begin() == end(); }

 private:
  const std::array<Tag, required_count>* required_;
  Bits given_;
};

template <typename Writer, template <typename> typename Entry>
class GroupBuilder;

// Why a message must not be sent although each of its fields could be written.
enum class BuildError : std::uint8_t {
  none,
  twice,             // `tag` of the message was set twice
  not_first,         // an entry of `group` does not begin with the group's first field, but with `tag`
  out_of_order,      // `tag` does not follow the other fields of its entry in the dictionary's order
  entry_over,        // `tag` of an entry of `group` was set after other fields of the message, or after the next entry
  missing,           // an entry of `group` has no `tag`, which is required
  too_few_entries,   // than the count of `group` announced
  too_many_entries,  // the same
  too_deep,          // `group` is within more than OpenGroups::depth_max others
};
struct BuildFault {
  BuildError error = BuildError::none;
  Tag group{};
  Tag tag{};
};
// "an entry of group 453 has no field 448"; empty for none. In `space`, as far as it goes.
[[nodiscard]] std::string_view to_text(const BuildFault& fault, std::span<char> space) noexcept;

// The open groups of a message under construction: the entry at each depth, and the required fields it lacks.
// Cost: none for a message without groups; its fields only count themselves, and a group reads that number.
class OpenGroups {
 public:
  static constexpr std::size_t depth_max = 8;

  OpenGroups() noexcept {}  // NOLINT: `= default` would set the levels to zero
  // A group begins within an entry at `depth`, or within the message itself: 0. Here and below `fields` is the number
  // of the message's own fields so far: another one ends all groups.
  void count(std::uint32_t fields, std::size_t depth, Tag group, std::uint32_t entries) noexcept;
  // The next entry of the group at this depth begins; its number. `required` outlives this.
  [[nodiscard]] std::uint32_t begin_entry(std::uint32_t fields, std::size_t depth, Tag group, Tag first,
                                          std::span<const Tag> required) noexcept;
  // A further field of this entry.
  void in_entry(std::uint32_t fields, std::size_t depth, std::uint32_t entry, Tag group, Tag tag) noexcept;
  // The open entry has the required field at this place.
  void given(std::size_t depth, std::size_t place) noexcept {
    if (depth_ >= depth) levels_[depth - 1].given |= std::uint64_t{1} << place;
  }
  void fail(const BuildFault& fault) noexcept {
    if (fault_.error == BuildError::none) fault_ = fault;
  }
  void clear() noexcept {
    depth_ = 0;
    fault_ = {};
  }
  // The first fault; without one, what a message that ended here would lack.
  [[nodiscard, gnu::always_inline]] BuildFault fault() const noexcept { return depth_ == 0 ? fault_ : at_end(*this); }

 private:
  struct Level {
    Tag group;
    std::uint32_t owed;            // entries that were announced and have not begun
    std::uint32_t entry;           // the open one; 0: none yet
    std::uint32_t required_count;  // at most 64
    const Tag* required;           // fields of an entry
    std::uint64_t given;           // of these, in the open one
  };
  void at(std::uint32_t fields, std::size_t depth) noexcept;
  void close(std::size_t depth) noexcept;
  // A copy, so that builders stay in registers.
  [[nodiscard]] static BuildFault at_end(OpenGroups groups) noexcept;
  [[nodiscard]] static BuildFault lacks(const Level& level) noexcept;

  std::size_t depth_ = 0;
  std::uint32_t fields_ = 0;  // when the outermost group began
  std::uint32_t entries_ = 0;
  BuildFault fault_{};
  std::array<Level, depth_max> levels_;  // the first depth_ are set
};

// State that the builders of a message and of its entries share. `Writer` is FieldWriter, or a reference to one.
template <typename Writer>
struct BuildState {
  Writer writer;
  std::uint32_t fields = 0;  // of the message itself, without fields of entries
  OpenGroups groups{};
};

// The place of a tag among others; their number: it is not there.
[[nodiscard]] consteval std::size_t place_of(Tag tag, std::span<const Tag> tags) noexcept {
  std::size_t place = 0;
  while (place < tags.size() && tags[place] != tag) ++place;
  return place;
}

// The parts that builders of messages and of entries have in common. The derived class checks the position of each
// field in begin_field().
template <typename Derived, typename Writer, std::size_t required_count>
class FieldSetter {
 public:
  // Setters call these.
  template <Tag tag, typename Value, typename... Format>
  [[gnu::always_inline]] Derived& put(Given<Value> value, Format... format) noexcept {
    if (value.is_missing()) return derived();
    BuildState<Writer>& state = begin<tag>();
    if (value.is_wrong()) [[unlikely]] {
      state.writer.refuse(tag, WriteError::bad_value);
    } else {
      state.writer.template append<tag>(value.written(), format...);
    }
    return derived();
  }
  template <Tag length_tag, Tag tag>
  Derived& put_data(std::string_view data) noexcept {
    if (data.empty()) return derived();
    begin<tag>().writer.append_data(length_tag, tag, data);
    return derived();
  }
  template <Tag tag, template <typename> typename Entry>
  [[nodiscard, gnu::always_inline]] GroupBuilder<Writer, Entry> put_count(std::uint32_t count) noexcept {
    if (count == 0) return {derived().state(), derived().depth(), 0};  // FIX leaves an empty group out
    BuildState<Writer>& state = begin<tag>();
    state.writer.template append<tag>(count);
    state.groups.count(state.fields, derived().depth(), tag, count);
    return {state, derived().depth(), count};
  }

 protected:
  [[nodiscard]] MissingFields<required_count> missing_of(
      const std::array<Tag, required_count>& required) const noexcept {
    return {required, given_};
  }
  void forget() noexcept { given_ = {}; }

 private:
  template <Tag tag>
  [[gnu::always_inline]] BuildState<Writer>& begin() noexcept {
    constexpr std::size_t bit = place_of(tag, Derived::required);
    if constexpr (bit < required_count) given_[bit / 64] |= std::uint64_t{1} << bit % 64;
    return derived().template begin_field<tag, bit>();
  }
  [[gnu::always_inline]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }

  typename MissingFields<required_count>::Bits given_{};
};

// Base of the messages' builders. Fields come in any order, except that a group's entries follow their count.
// `high_count` is the number of the message's fields above 1023, which Derived::tags_above_1023 lists.
template <typename Derived, typename Writer, std::size_t required_count, std::size_t high_count = 0>
class MessageBuilder : public FieldSetter<Derived, Writer, required_count> {
 public:
  // Into the caller's buffer, or after the fields that a writer already has, for example an Encoder's.
  explicit MessageBuilder(std::span<char> buffer) noexcept
    requires(!std::is_reference_v<Writer>)
      : state_{FieldWriter{buffer}} {}
  explicit MessageBuilder(FieldWriter& writer) noexcept
    requires(std::is_reference_v<Writer>)
      : state_{writer} {}

  // For fields that the dictionary does not define.
  [[nodiscard]] FieldWriter& fields() noexcept { return state_.writer; }

  // Whether everything fitted, no field of the message was set twice, and every group has the number of entries that
  // its count announces, each of them with its required fields, in order and contiguous.
  [[nodiscard]] bool ok() const noexcept { return state_.writer.ok() && build_fault().error == BuildError::none; }
  // Why not, where the writer itself has not failed.
  [[nodiscard]] BuildFault build_fault() const noexcept {
    if (twice_ != Tag{}) return {BuildError::twice, {}, twice_};
    return state_.groups.fault();
  }

  // The fields so far; empty unless ok().
  [[nodiscard]] std::string_view body() const noexcept
    requires(!std::is_reference_v<Writer>)
  {
    return ok() ? state_.writer.view() : std::string_view{};
  }

  // What SessionHandle::send takes: session.send(order). Unless ok(), its type is empty, so that it is refused.
  template <typename Message>
    requires(!std::is_reference_v<Writer> &&
             requires { Message{.msg_type = std::string_view{}, .body = std::string_view{}}; })
  [[nodiscard]] operator Message() const noexcept {  // NOLINT: meant implicit
    Message message{.msg_type = ok() ? Derived::msg_type : std::string_view{}, .body = body()};
    if constexpr (requires { message.built; }) {
      message.built = true;
      message.incomplete = !static_cast<const Derived&>(*this).missing().empty();
    }
    return message;
  }

  // Starts over in the same buffer.
  void clear() noexcept
    requires(!std::is_reference_v<Writer>)
  {
    this->forget();
    state_.writer.clear();
    state_.fields = 0;
    state_.groups.clear();
    twice_ = {};
    set_ = {};
  }

 private:
  friend FieldSetter<Derived, Writer, required_count>;
  [[nodiscard]] BuildState<Writer>& state() noexcept { return state_; }
  static constexpr std::size_t depth() noexcept { return 0; }
  template <Tag tag, std::size_t>
  [[gnu::always_inline]] BuildState<Writer>& begin_field() noexcept {
    ++state_.fields;
    constexpr std::size_t place = place_in_set(tag);
    static_assert(place < low_tags + high_count, "Derived::tags_above_1023 lists the tag");
    std::uint64_t& word = set_[place / 64];
    constexpr std::uint64_t bit = std::uint64_t{1} << place % 64;
    twice_ = (word & bit) == 0 ? twice_ : tag;
    word |= bit;
    return state_;
  }

  static constexpr std::size_t low_tags = 1024;  // 0 to 1023, which all of FIX 4.4 are among
  [[nodiscard]] static consteval std::size_t place_in_set(Tag tag) noexcept {
    const auto number = static_cast<std::size_t>(nfx::value(tag));
    if constexpr (high_count != 0) {
      if (number >= low_tags) return low_tags + place_of(tag, Derived::tags_above_1023);
    }
    return number;
  }

  BuildState<Writer> state_;
  Tag twice_{};
  std::array<std::uint64_t, (low_tags + high_count + 63) / 64> set_{};
};

// Base of the entries' builders. The first member comes first, the others in the dictionary's order: peers reject
// anything else. Lifetime: borrows the message's builder, which must stay where it is.
template <typename Derived, typename Writer, std::size_t required_count>
class EntryBuilder : public FieldSetter<Derived, Writer, required_count> {
 public:
  EntryBuilder(BuildState<Writer>& state, std::size_t depth) noexcept : state_(&state), depth_(depth) {}

 private:
  friend FieldSetter<Derived, Writer, required_count>;
  [[nodiscard]] BuildState<Writer>& state() noexcept { return *state_; }
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  template <Tag tag, std::size_t required_place>
  [[gnu::always_inline]] BuildState<Writer>& begin_field() noexcept {
    constexpr Tag group = Derived::Shape::shape.count;
    constexpr std::size_t position = place_of(tag, Derived::Shape::member_tags);
    OpenGroups& groups = state_->groups;
    if (next_ == 0) {
      entry_ = groups.begin_entry(state_->fields, depth_, group, tag,
                                  std::span{Derived::required}.first(required_count < 64 ? required_count : 64));
      if constexpr (position != 0) groups.fail({BuildError::not_first, group, tag});
    } else {
      groups.in_entry(state_->fields, depth_, entry_, group, tag);
      if (position < next_) [[unlikely]]
        groups.fail({BuildError::out_of_order, group, tag});
    }
    if constexpr (required_place < required_count && required_place < 64) groups.given(depth_, required_place);
    next_ = position + 1;
    return *state_;
  }

  BuildState<Writer>* state_;
  std::size_t depth_;
  std::uint32_t entry_ = 0;
  std::size_t next_ = 0;  // the lowest position that may follow
};

// Adds the entries that a count has announced, exactly that many.
template <typename Writer, template <typename> typename Entry>
class GroupBuilder {
 public:
  // `depth`: of what contains the group.
  GroupBuilder(BuildState<Writer>& state, std::size_t depth, std::uint32_t count) noexcept
      : state_(&state), depth_(depth), left_(count) {}

  [[nodiscard, gnu::always_inline]] Entry<Writer> add() noexcept {
    if (left_ == 0) [[unlikely]]
      state_->groups.fail({BuildError::too_many_entries, Entry<Writer>::Shape::shape.count, {}});
    --left_;
    return Entry<Writer>{*state_, depth_ + 1};
  }

 private:
  BuildState<Writer>* state_;
  std::size_t depth_;
  std::uint32_t left_;
};

}  // namespace nfx::generated
