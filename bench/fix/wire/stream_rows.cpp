// A million messages as a stream, per instruction set: all four kinds in random order, framed, indexed and read, more
// than a core's L2 cache holds; and only Heartbeats, framed and indexed, where the fixed cost per message matters most.

#include "harness/random.hpp"
#include "wire/batch.hpp"
#include "wire/read_rows.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t pieces = 250;  // number of pieces timed separately
constexpr std::uint32_t messages_per_piece = 250;

struct Stream {
  std::string bytes;
  std::vector<std::size_t> begins;      // of each piece, and the end of the last
  std::vector<std::uint64_t> expected;  // of each piece
};

std::shared_ptr<const Stream> make_stream(const Inputs& inputs, std::span<const Kind> kinds) {
  Random random{inputs.seed};
  auto stream = std::make_shared<Stream>();
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    stream->begins.push_back(stream->bytes.size());
    std::uint64_t expected = 0;
    for (std::uint32_t i = 0; i < messages_per_piece; ++i) {
      const Kind kind = kinds[random.below(kinds.size())];
      const auto message = static_cast<std::uint32_t>(random.below(corpus_messages));
      const PlainMessage& plain = inputs.plain_of(kind)[message];
      stream->bytes += inputs.of(kind)[message];
      expected += plain.size() + expected_readings(kind, plain, Prices::exact);
    }
    stream->expected.push_back(expected);
  }
  stream->begins.push_back(stream->bytes.size());
  return stream;
}

std::uint64_t read_any(const MessageView& view) noexcept {
  switch (view.msg_type().front()) {
    case '8': return read_report(view);
    case 'D': return read_order(view);
    case 'X': return read_entries(view);
    default: return 0;  // a Heartbeat has nothing for a handler
  }
}

std::uint64_t run_piece(MessageView& view, std::string_view bytes) noexcept {
  FrameReader reader;
  std::uint64_t sum = 0;
  bool right = true;
  const BatchEnd end = read_batch(bytes, reader, view, [&](const BatchItem& item) {
    right = item.error == WireError::none;
    if (right) sum += view.size() + read_any(view);
    return right;
  });
  return right && end.used == bytes.size() ? sum : 0;
}

std::uint64_t run_pieces(MessageView& view, const Stream& stream, Order order) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t i : order) {
    sum += run_piece(view,
                     std::string_view{stream.bytes}.substr(stream.begins[i], stream.begins[i + 1] - stream.begins[i]));
  }
  return sum;
}

void add_rows(Group& group, const std::shared_ptr<const Stream>& stream, const std::string& section) {
  const auto view = std::make_shared<MessageView>();
  for (const kernels::KernelTable* table : all_kernels()) {
    Row row;
    row.section = section;
    row.name = std::string{"NexusFIX, "} + table->name;
    row.baseline = table == &kernels::scalar;
    row.bytes_per_item = static_cast<double>(stream->bytes.size()) / pieces;
    row.messages_per_item = messages_per_piece;
    row.prepare = [table] { kernels::use_kernels(*table); };
    row.run = [stream, view](Order order) { return run_pieces(*view, *stream, order); };
    row.check = [stream, view](std::uint32_t i) -> std::optional<std::uint64_t> {
      if (run_pieces(*view, *stream, Order{&i, 1}) != stream->expected[i]) return {};
      return stream->expected[i];
    };
    group.rows.push_back(std::move(row));
  }
}

}  // namespace

Group stream_group(const Inputs& inputs) {
  Group group{"stream", "a million messages: framed, indexed, typed fields read", pieces, false, {}};
  constexpr std::array kinds{Kind::execution_report, Kind::new_order_single, Kind::market_data, Kind::heartbeat};
  const auto mixed = make_stream(inputs, kinds);
  add_rows(group, mixed, "mixed stream of " + std::to_string(mixed->bytes.size() / 1'000'000) + " MB");
  constexpr std::array small{Kind::heartbeat};
  add_rows(group, make_stream(inputs, small), "Heartbeats only");
  return group;
}

}  // namespace nfx::bench
