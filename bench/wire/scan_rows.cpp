// What each kernel costs by length, 64 bytes to 64 KiB: the scan for one SOH, compared with a loop over bytes, and the
// index of a whole message.
#include <cstdio>

#include "harness/random.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::array<std::size_t, 7> lengths{64, 128, 256, 1024, 4096, 16384, 65536};
constexpr std::uint32_t texts_per_length = 4;  // together they fit a core's cache
constexpr std::uint32_t max_fields = 16384;

using Texts = std::array<std::string, texts_per_length>;

std::string section_of(std::size_t length, const char* what) { return std::to_string(length) + " bytes, " + what; }

// Letters, and one SOH at the end.
Texts make_scan_texts(Random& random, std::size_t length) {
  Texts texts;
  for (std::string& text : texts) {
    for (std::size_t i = 1; i < length; ++i) text += static_cast<char>('A' + random.below(26));
    text += '\x01';
  }
  return texts;
}

std::string with_trailer(std::string message) {
  unsigned sum = 0;
  for (const char c : message) sum += static_cast<unsigned char>(c);
  char text[16];
  std::snprintf(text, sizeof text, "10=%03u\x01", sum % 256);
  return message + text;
}

// A message of exactly this length: fields of ten bytes on average, as in orders.
std::string make_message(Random& random, std::size_t length) {
  constexpr std::size_t check_sum_size = 7;
  for (std::size_t digits = 1;; ++digits) {
    const std::size_t header_size = sizeof "8=FIX.4.4|9=|" - 1 + digits;
    const std::string body_length = std::to_string(length - check_sum_size - header_size);
    if (body_length.size() != digits) continue;
    std::string message =
        "8=FIX.4.4\x01"
        "9=" +
        body_length +
        "\x01"
        "35=U\x01";
    const std::size_t end = length - check_sum_size;
    constexpr std::array<const char*, 8> tags{"58=", "1=", "150=", "44=", "38=", "37=", "6=", "151="};
    while (message.size() != end) {
      const char* const tag = tags[random.below(tags.size())];
      const std::size_t rest = end - message.size();
      std::size_t size = 4 + 1 + random.between(1, 10);  // with a tag of three digits and SOH
      if (rest < size + 16) size = rest;                 // the last field fills what is left
      const std::size_t value_end = message.size() + size - 1;
      message += tag;
      while (message.size() < value_end) message += static_cast<char>('0' + random.below(10));
      message += '\x01';
    }
    return with_trailer(std::move(message));
  }
}

// One byte an iteration.
const char* scan_bytes(const char* bytes, std::size_t size) noexcept {
  std::size_t i = 0;
  while (i < size && bytes[i] != '\x01') ++i;
  return bytes + i;
}

Row scan_row(const std::shared_ptr<const Texts>& texts, std::string name,
             const char* (*scan)(const char*, std::size_t) noexcept) {
  const std::size_t length = texts->front().size();
  Row row;
  row.section = section_of(length, "SOH at the end");
  row.name = std::move(name);
  row.bytes_per_item = static_cast<double>(length);
  row.run = [texts, scan](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      const std::string& text = (*texts)[i % texts_per_length];
      sum += static_cast<std::uint64_t>(scan(text.data(), text.size()) - text.data());
    }
    return sum;
  };
  row.check = [texts, scan, length](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::string& text = (*texts)[i % texts_per_length];
    if (scan(text.data(), length) != text.data() + text.find('\x01')) return {};
    return length - 1;
  };
  return row;
}

Row length_row(const std::shared_ptr<const Texts>& messages, const std::shared_ptr<MessageView>& view,
               const kernels::KernelTable& table) {
  Row row;
  row.section = section_of(messages->front().size(), "a message");
  row.name = std::string{"NexusFIX index, "} + table.name;
  row.baseline = &table == &kernels::scalar;
  row.bytes_per_item = static_cast<double>(messages->front().size());
  row.prepare = [&table] { kernels::use_kernels(table); };
  row.run = [messages, view](Order order) {
    std::uint64_t fields = 0;
    for (const std::uint32_t i : order) {
      if (view->parse((*messages)[i % texts_per_length]) == WireError::none) fields += view->size();
    }
    return fields;
  };
  row.check = [messages, view](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::string& message = (*messages)[i % texts_per_length];
    const auto plain = read_plainly(message);
    if (!plain || view->parse(message) != WireError::none || view->size() != plain->size()) return {};
    for (std::uint32_t f = 0; f < view->size(); ++f) {
      if (value(view->tag_at(f)) != (*plain)[f].tag || view->value_at(f) != (*plain)[f].text) return {};
    }
    return plain->size();
  };
  return row;
}

}  // namespace

Group scan_group(const Inputs& inputs) {
  Group group{"scan", "the first SOH, at the end of the bytes", corpus_messages, true, {}};
  Random random{inputs.seed};
  for (const std::size_t length : lengths) {
    const auto texts = std::make_shared<const Texts>(make_scan_texts(random, length));
    group.rows.push_back(scan_row(texts, "a byte at a time", scan_bytes));
    group.rows.back().baseline = true;
    for (const auto* table : all_kernels()) group.rows.push_back(scan_row(texts, table->name, table->scan_soh));
  }
  return group;
}

Group lengths_group(const Inputs& inputs) {
  Group group{
      "lengths", "index by message length; from 64 KiB on with positions of 32 bits", corpus_messages, true, {}};
  Random random{inputs.seed};
  const auto view = std::make_shared<MessageView>(max_fields);
  for (const std::size_t length : lengths) {
    Texts made;
    for (std::string& message : made) message = make_message(random, length);
    const auto messages = std::make_shared<const Texts>(std::move(made));
    for (const auto* table : all_kernels()) group.rows.push_back(length_row(messages, view, *table));
  }
  return group;
}

}  // namespace nfx::bench
