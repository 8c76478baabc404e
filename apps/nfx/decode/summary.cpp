// Counts messages, follows sequence numbers and matches answers with requests.
#include "decode/summary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "decode/fields.hpp"

namespace nfx::app {
namespace {

std::uint64_t number_of(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

std::string time_text(UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), time, 3)};
}

// "12.3 ms" of nanoseconds.
std::string duration_text(std::uint64_t ns) {
  struct Unit {
    std::uint64_t ns;
    std::string_view name;
  };
  constexpr std::array units{Unit{1'000'000'000, " s"}, Unit{1'000'000, " ms"}, Unit{1'000, " us"}};
  for (const Unit& unit : units) {
    if (ns < unit.ns) continue;
    return std::to_string(ns / unit.ns) + "." + std::to_string(ns % unit.ns * 10 / unit.ns) + std::string{unit.name};
  }
  return std::to_string(ns) + " ns";
}

std::string numbers_text(std::uint64_t first, std::uint64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + " to " + std::to_string(last);
}

void add_right(SafeText& out, const std::string& text, std::size_t width) {
  out.append_spaces(width - std::min(text.size(), width));
  out += text;
}

// Messages that ask for an answer.
bool is_request(std::string_view type) noexcept {
  constexpr std::array<std::string_view, 27> types{"1",  "D",  "E",  "F",  "G",  "H",  "R",  "V",  "c",
                                                   "e",  "g",  "q",  "s",  "t",  "u",  "v",  "x",  "z",
                                                   "AA", "AB", "AC", "AD", "AF", "AN", "BE", "BC", "CA"};
  return std::ranges::find(types, type) != types.end();
}

std::string place_of(const LogMessage& logged) {
  return std::string{logged.source} + (logged.captured ? " packet " : " line ") + std::to_string(logged.found.line);
}

bool identifies_request(std::uint32_t tag) noexcept {
  constexpr std::array<std::uint32_t, 11> tags{11, 112, 131, 262, 320, 335, 390, 568, 584, 710, 923};
  return std::ranges::find(tags, tag) != tags.end();
}

}  // namespace

void Summary::count(const DecodedMessage& message, const LogMessage& logged) {
  ++total_;
  if (message.bad()) ++bad_;
  if (!message.violation.empty()) ++invalid_;
  const std::string_view name = message.msg_type.empty() ? "?" : message.msg_type;
  auto type = types_.find(name);
  // Garbage can look like any number of types.
  if (type == types_.end()) type = types_.try_emplace(types_.size() < max_types ? std::string{name} : "(others)").first;
  ++type->second.count;
  if (type->second.name.empty()) type->second.name = message.type_name;
  if (!details_ || message.bad()) return;
  if (!logged.time) ++untimed_;
  key_.assign(message.sender).append(" -> ").append(message.target);
  auto found = directions_.find(key_);
  if (found == directions_.end())
    found = directions_.try_emplace(directions_.size() < max_directions ? key_ : "(others)").first;
  Direction& direction = found->second;
  ++direction.count;
  if (logged.time) {
    if (!direction.first || *logged.time < *direction.first) direction.first = logged.time;
    if (!direction.last || *logged.time > *direction.last) direction.last = logged.time;
    const UtcTime second = std::chrono::floor<std::chrono::seconds>(*logged.time);
    direction.in_second = second == direction.second ? direction.in_second + 1 : 1;
    direction.second = second;
    direction.most_in_second = std::max(direction.most_in_second, direction.in_second);
  }
  if (found->first != "(others)") follow_numbers(direction, logged, logged.found.text);
  std::size_t identifiers = 0;
  for_each_field(logged.found.text, [&](std::uint32_t tag, std::string_view value) {
    if (identifies_request(tag) && !value.empty()) {
      match_answer(message, logged, tag, value);
      ++identifiers;
    }
    return identifiers == 0;
  });
}

void Summary::follow_numbers(Direction& direction, const LogMessage& logged, std::string_view text) {
  std::uint64_t seq = 0, new_seq = 0;
  bool again = false, fills = false, resets = false, sequence_reset = false;
  std::string_view sent;
  for_each_field(text, [&](std::uint32_t tag, std::string_view value) {
    switch (tag) {
      case 34: seq = number_of(value); break;
      case 35: sequence_reset = value == "4"; break;
      case 36: new_seq = number_of(value); break;
      case 43: again = value == "Y"; break;
      case 52: sent = value; break;
      case 123: fills = value == "Y"; break;
      case 141: resets = value == "Y"; break;
      default: break;
    }
    return true;
  });
  if (seq == 0) return;
  if (again) ++direction.resent;
  if (sequence_reset && new_seq != 0) {
    if (fills && new_seq > seq) fill(direction, seq, new_seq - 1);
    if (fills && seq > direction.expected && direction.expected != 0 && !again && direction.gaps.size() < max_gaps)
      direction.gaps.push_back({direction.expected, seq - 1, place_of(logged)});
    if (!fills || new_seq > direction.expected) direction.expected = new_seq;
    return;
  }
  if (again && seq < direction.expected) return fill(direction, seq, seq);
  // The same message may be in several logs.
  if (seq == 1 && direction.expected > 1 && direction.started != sent) {
    ++direction.restarts;
    direction.expected = 1;
  }
  if (seq == 1) direction.started = sent;
  if (resets && direction.expected != 0 && seq == 1) direction.expected = 1;
  if (direction.expected == 0 || seq == direction.expected) {
    direction.expected = seq + 1;
  } else if (seq < direction.expected) {
    ++direction.repeated;
    fill(direction, seq, seq);
  } else {
    if (direction.gaps.size() < max_gaps) {
      direction.gaps.push_back({direction.expected, seq - 1, place_of(logged)});
    } else {
      direction.more_gaps = true;
    }
    direction.expected = seq + 1;
  }
}

// These numbers came after all.
void Summary::fill(Direction& direction, std::uint64_t first, std::uint64_t last) {
  for (std::size_t i = direction.gaps.size(); i-- > 0;) {
    Gap& gap = direction.gaps[i];
    if (gap.last < first || gap.first > last) continue;
    if (gap.first < first && gap.last > last) {
      Gap rest{last + 1, gap.last, gap.place};
      gap.last = first - 1;
      direction.gaps.insert(direction.gaps.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(rest));
      return;
    }
    if (gap.first < first) {
      gap.last = first - 1;
    } else if (gap.last > last) {
      gap.first = last + 1;
    } else {
      direction.gaps.erase(direction.gaps.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Summary::match_answer(const DecodedMessage& message, const LogMessage& logged, std::uint32_t tag,
                           std::string_view id) {
  if (!logged.time || message.sender.empty() || message.target.empty()) return;
  const std::string number = std::to_string(tag);
  const auto key = [&](std::string_view from, std::string_view to) {
    return std::string{from}.append("\x01").append(to).append("\x01").append(number).append("\x01").append(id);
  };
  const std::string_view type = message.type_name.empty() ? message.msg_type : message.type_name;
  if (const auto request = requests_.find(key(message.target, message.sender)); request != requests_.end()) {
    const std::string row = request->second.type + " -> " + std::string{type};
    if (answers_.size() < max_answers || answers_.contains(row))
      answers_[row].record(*logged.time - request->second.time);
    requests_.erase(request);
    return;
  }
  if (!is_request(message.msg_type)) return;
  if (requests_.size() == max_requests) {
    ++unmatched_;
    return;
  }
  requests_.try_emplace(key(message.sender, message.target), *logged.time, std::string{type});
}

void Summary::print(SafeText& out, bool validated) const {
  for (const auto& [type, row] : types_) {
    add_right(out, std::to_string(row.count), 10);
    out.add("  {}", type);
    if (!row.name.empty()) out.add("  {}", row.name);
    out += '\n';
  }
  out += std::to_string(total_) + (total_ == 1 ? " message, " : " messages, ") + std::to_string(bad_) + " bad";
  if (validated) out += ", " + std::to_string(invalid_) + " invalid";
  out += '\n';
  if (!details_) return;
  print_directions(out);
  print_gaps(out);
  print_answers(out);
}

void Summary::print_directions(SafeText& out) const {
  out += "\n  MESSAGES  IN ONE SECOND   RESENT  RESTARTS  FIRST                  LAST                   SESSION\n";
  for (const auto& [name, direction] : directions_) {
    add_right(out, std::to_string(direction.count), 10);
    add_right(out, std::to_string(direction.most_in_second), 15);
    add_right(out, std::to_string(direction.resent), 9);
    add_right(out, std::to_string(direction.restarts), 10);
    out.add("  {}  {}  {}\n", direction.first ? time_text(*direction.first) : std::string(21, '-'),
            direction.last ? time_text(*direction.last) : std::string(21, '-'), name);
  }
}

bool Summary::has_gaps() const noexcept {
  return std::ranges::any_of(directions_, [](const auto& each) { return !each.second.gaps.empty(); });
}

void Summary::print_gaps(SafeText& out) const {
  if (!has_gaps()) {
    out += "\nno sequence number is missing\n";
    return;
  }
  out += '\n';
  for (const auto& [name, direction] : directions_) {
    for (const Gap& gap : direction.gaps)
      out.add("missing {}: {} before {}\n", name, numbers_text(gap.first, gap.last), gap.place);
    if (direction.more_gaps) out.add("{}: more than {} gaps; the others are not listed\n", name, max_gaps);
  }
}

void Summary::print_answers(SafeText& out) const {
  if (answers_.empty()) return;
  out += "\n   ANSWERS         P50         P99         MAX  REQUEST -> FIRST ANSWER\n";
  for (const auto& [name, histogram] : answers_) {
    add_right(out, std::to_string(histogram.count()), 10);
    for (const double percent : {50.0, 99.0, 100.0}) add_right(out, duration_text(histogram.percentile(percent)), 12);
    out.add("  {}\n", name);
  }
  if (unmatched_ != 0)
    out.add("{} requests are not matched: more than {} wait for an answer\n", unmatched_, max_requests);
  if (untimed_ != 0) out.add("{} messages have no time\n", untimed_);
}

}  // namespace nfx::app
