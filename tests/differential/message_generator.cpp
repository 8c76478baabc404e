// Changes valid messages step by step from a seed, and damages a copy in half of the cases.
#include "differential/message_generator.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "differential/base_messages.hpp"

namespace nfx::test {
namespace {

constexpr char soh = '\x01';
constexpr std::size_t small_bases = 1024;
constexpr std::size_t large_sizes[] = {4095, 5000, 20000, 65471, 65535, 65536, 65600, 69000};
constexpr std::uint32_t large_walk_every = 1024;  // they cost as much as some hundred small ones
constexpr std::uint32_t steps_per_walk = 12;

constexpr std::string_view separators = "\x01=";
constexpr std::string_view digits = "0123456789";
constexpr std::string_view telling = "\x01\x01==0123456789-/:;+ 8aZ\x00\x7F\x80\x81\xB1\xBD\xFF";

}  // namespace

MessageGenerator::MessageGenerator(std::uint64_t seed) : random_(seed) {
  BaseMessages bases{random_};
  for (std::size_t i = 0; i < small_bases; ++i) {
    small_.push_back(bases.any());
    if (small_.back().size() > max_small_size) small_.back().resize(max_small_size);
  }
  for (const std::size_t size : large_sizes) large_.push_back(bases.of_size(size));
  walk_.reserve(max_size + max_small_size);
  out_.reserve(max_size + max_small_size);
}

std::string_view MessageGenerator::next() {
  if (steps_left_ == 0) {
    start_walk();
  } else {
    step();
    --steps_left_;
  }
  out_ = walk_;
  if (random_.one_in(2)) damage();
  return out_;
}

void MessageGenerator::start_walk() {
  const bool large = random_.one_in(large_walk_every);
  walk_ = large ? large_[random_.below(large_.size())] : small_[random_.below(small_.size())];
  max_walk_size_ = large ? max_size : max_small_size;
  steps_left_ = large ? 4 : steps_per_walk;
}

void MessageGenerator::insert(std::size_t at, std::string_view piece) {
  if (walk_.size() + piece.size() <= max_walk_size_) walk_.insert(at, piece);
}

// The position after any SOH, or the start of the message.
std::size_t MessageGenerator::any_field_start() noexcept {
  const std::size_t from = random_.below(walk_.size() + 1);
  const std::size_t at = walk_.find(soh, from);
  return at == std::string::npos || random_.one_in(16) ? 0 : at + 1;
}

std::size_t MessageGenerator::any_value_start() noexcept {
  const std::size_t at = walk_.find('=', any_field_start());
  return at == std::string::npos ? walk_.size() : at + 1;
}

// From one message to another that is mostly as readable.
void MessageGenerator::step() {
  static constexpr std::string_view filling =
      "A value with = and 0123456789, of any length, that moves what follows it.";
  switch (random_.below(8)) {
    case 0:
    case 1:  // moves everything after it to another place in its block
      insert(any_value_start(), filling.substr(0, 1 + random_.below(64)));
      break;
    case 2: {
      const std::size_t start = any_field_start();
      const std::size_t end = walk_.find(soh, start);
      if (end == std::string::npos) break;
      char field[64];
      const std::size_t size = std::min(end + 1 - start, sizeof field);
      std::memcpy(field, walk_.data() + start, size);
      insert(any_field_start(), {field, size});
      break;
    }
    case 3: {
      const std::size_t start = any_field_start();
      walk_.erase(start, walk_.find(soh, start) - start + 1);
      break;
    }
    case 4: {
      const std::size_t at = any_value_start();
      if (at < walk_.size() && walk_[at] != soh) walk_[at] = random_.one_in(2) ? '=' : digits[random_.below(10)];
      break;
    }
    case 5: {  // leading zeros do not change a tag, other digits do
      char front[8];
      const std::size_t size = 1 + random_.below(random_.one_in(4) ? 8 : 3);
      const bool zeros = !random_.one_in(3);
      for (char& c : front) c = zeros ? '0' : digits[random_.below(random_.one_in(2) ? 10 : 6)];
      insert(any_field_start(), {front, size});
      break;
    }
    case 6: insert(any_field_start(), any_piece()); break;
    default: {  // the rest of another message
      const std::string& other = small_[random_.below(small_.size())];
      const std::size_t from = other.find(soh, random_.below(other.size() + 1));
      if (from == std::string::npos) break;
      const std::size_t at = any_field_start();
      if (at + other.size() - from > max_walk_size_) break;
      walk_.replace(at, std::string::npos, other, from + 1);
      break;
    }
  }
}

std::string MessageGenerator::any_piece() {
  BaseMessages pieces{random_};
  switch (random_.below(5)) {
    case 0: return pieces.tiny_fields(1 + random_.below(random_.one_in(4) ? 40 : 9));
    case 1: return pieces.data_field(true);
    case 2: return pieces.data_field(false);
    case 3: return pieces.field_with_long_tag(random_.one_in(3));
    default: return pieces.field_without_value();
  }
}

// Turns a message into one that is probably invalid, in the generator's output.
void MessageGenerator::damage() {
  if (out_.empty()) return;
  const std::size_t at = random_.below(out_.size());
  const auto any_of = [this](std::string_view some) { return some[random_.below(some.size())]; };
  switch (random_.below(9)) {
    case 0: out_[at] = static_cast<char>(out_[at] ^ (1 << random_.below(8))); break;
    case 1: out_[at] = static_cast<char>(random_.below(256)); break;
    case 2:
      for (auto n = 1 + random_.below(3); n > 0; --n) out_[random_.below(out_.size())] = any_of(telling);
      break;
    case 3: {  // a separator becomes a digit
      const std::size_t found = out_.find_first_of(separators, at);
      if (found != std::string::npos) out_[found] = any_of(digits);
      break;
    }
    case 4: {  // a digit becomes a separator
      const std::size_t found = out_.find_first_of(digits, at);
      if (found != std::string::npos) out_[found] = any_of(separators);
      break;
    }
    case 5: out_.erase(at, 1 + random_.below(4)); break;
    case 6: out_.insert(at, 1, any_of(telling)); break;
    case 7: {  // cut anywhere, or after a field
      const std::size_t end = random_.one_in(2) ? out_.find(soh, at) : std::string::npos;
      out_.resize(end == std::string::npos ? at : end + 1);
      break;
    }
    default:  // cut anywhere, but as if a field ended there
      out_.resize(at + 1);
      out_.back() = soh;
      break;
  }
}

}  // namespace nfx::test
