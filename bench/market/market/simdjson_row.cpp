// Reads a book ticker in the way of simdjson's documentation.
#include "simdjson_row.hpp"

#ifdef NFX_WITH_SIMDJSON
#include <simdjson.h>
#endif

namespace nfx::bench {
namespace {

std::uint64_t sum_of(std::string_view text) noexcept {
  return text.size() + static_cast<unsigned char>(text.front()) + static_cast<unsigned char>(text.back());
}

}  // namespace

#ifdef NFX_WITH_SIMDJSON

struct SimdjsonRow::Parts {
  simdjson::ondemand::parser parser;
};

bool SimdjsonRow::available() noexcept { return true; }

std::uint64_t SimdjsonRow::read(const char* text, std::size_t size, std::size_t readable) noexcept {
  simdjson::ondemand::document document;
  if (parts_->parser.iterate(text, size, readable).get(document)) return 0;
  std::uint64_t sum = 0;
  if (document["u"].get_uint64().get(sum)) return 0;
  for (const char* const key : {"s", "b", "B", "a", "A"}) {
    std::string_view value;
    if (document[key].get_string().get(value)) return 0;
    sum += sum_of(value);
  }
  return sum;
}

#else

struct SimdjsonRow::Parts {};
bool SimdjsonRow::available() noexcept { return false; }
std::uint64_t SimdjsonRow::read(const char*, std::size_t, std::size_t) noexcept { return 0; }

#endif

SimdjsonRow::SimdjsonRow() : parts_(std::make_unique<Parts>()) {}
SimdjsonRow::~SimdjsonRow() = default;

std::uint64_t SimdjsonRow::expected(std::string_view text) noexcept {
  const auto value_after = [&](std::string_view key, std::string_view end) {
    const std::size_t begin = text.find(key) + key.size();
    return text.substr(begin, text.find(end, begin) - begin);
  };
  std::uint64_t sum = 0;
  for (const char c : value_after("\"u\":", ",")) sum = 10 * sum + static_cast<std::uint64_t>(c - '0');
  for (const std::string_view key : {"\"s\":\"", "\"b\":\"", "\"B\":\"", "\"a\":\"", "\"A\":\""}) {
    sum += sum_of(value_after(key, "\""));
  }
  return sum;
}

}  // namespace nfx::bench
