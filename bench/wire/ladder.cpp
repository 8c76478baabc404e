// Eight techniques, each of which can be switched off: what one small parser gains from each on this machine, added in
// two orders, and each removed by itself. All parsers do the same: verify BodyLength and CheckSum of an
// ExecutionReport, find every field, read eight of them by the same functions. NexusFIX's own parser and QuickFIX's are
// rows too.
#include <memory>
#include <utility>

#include "nexusfix/wire/message_view.hpp"
#include "wire/ladder_parser.hpp"
#include "wire/rows.hpp"
#include "wire/typed_reads.hpp"

namespace nfx::bench {
namespace {

template <typename Parser>
[[gnu::always_inline]] inline std::uint64_t read_fields(const Parser& parser) noexcept {
  return read_eight<report_readings>([&parser](Tag tag) { return parser.get_view(tag); });
}

template <typename Parser>
std::optional<std::uint64_t> check_against(const Parser& parser, const PlainMessage& plain) {
  for (const PlainField& field : plain) {
    if (parser.get_view(Tag{field.tag}) != field.text) return {};
  }
  const std::uint64_t expected = expected_readings(Kind::execution_report, plain, Prices::exact);
  if (read_fields(parser) != expected || !parser.get_view(Tag::Text).empty()) return {};
  return expected;
}

template <Techniques on>
Row ladder_row(const Inputs& inputs, const std::string& section, const std::string& name) {
  const Corpus& corpus = inputs.of(Kind::execution_report);
  const auto place = std::make_shared<LadderPlace<on>>();
  Row row;
  row.section = section;
  row.name = name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = use_best_kernel;
  row.run = [&corpus, place](Order order) {
    LadderParser<on>& parser = place->parser();
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if (parser.parse(corpus[i])) sum += read_fields(parser);
    }
    return sum;
  };
  row.check = [&inputs, place](std::uint32_t i) -> std::optional<std::uint64_t> {
    if (!place->parser().parse(inputs.of(Kind::execution_report)[i])) return {};
    return check_against(place->parser(), inputs.plain_of(Kind::execution_report)[i]);
  };
  return row;
}

Row product_row(const Inputs& inputs, const std::string& section) {
  const Corpus& corpus = inputs.of(Kind::execution_report);
  const auto view = std::make_shared<MessageView>();
  Row row;
  row.section = section;
  row.name = std::string{"NexusFIX MessageView, "} + all_kernels().back()->name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = use_best_kernel;
  row.run = [&corpus, view](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if (view->parse(corpus[i]) == WireError::none) sum += read_fields(*view);
    }
    return sum;
  };
  row.check = [&inputs, view](std::uint32_t i) -> std::optional<std::uint64_t> {
    if (view->parse(inputs.of(Kind::execution_report)[i]) != WireError::none) return {};
    return check_against(*view, inputs.plain_of(Kind::execution_report)[i]);
  };
  return row;
}

// QuickFIX's package: the same message parsed, not validated, and the same eight fields read.
void add_quickfix_ladder_rows(std::vector<Row>& rows, const Inputs& inputs, const std::string& section) {
  std::vector<Row> theirs;
  add_quickfix_read_rows(theirs, inputs, Kind::execution_report);
  for (Row& row : theirs) {
    row.section = section;
    rows.push_back(std::move(row));
  }
}

constexpr const char* all_off = "owning std::map, byte by byte";
constexpr const char* names[technique_count] = {
    "zero copy",    "O(1) look-up", "SIMD delimiter scan", "compile-time offsets", "cache-line alignment",
    "branch hints", "__restrict",   "[[gnu::hot]]"};

std::string plus(std::size_t technique) { return std::string{"+ "} + names[technique]; }

}  // namespace

Group ladder_group(const Inputs& inputs) {
  Group group{"ladder",
              std::string{"an ExecutionReport verified and 8 fields read, technique by technique; scan of "} +
                  all_kernels().back()->name,
              corpus_messages,
              true,
              {}};
  std::vector<Row>& rows = group.rows;
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const std::string up = "each on top of those above";
    (rows.push_back(ladder_row<first_techniques(i)>(inputs, up, i == 0 ? all_off : plus(i - 1))), ...);
    rows.push_back(product_row(inputs, up));
    add_quickfix_ladder_rows(rows, inputs, up);
    const std::string down = "in the reverse order";
    (rows.push_back(ladder_row<last_techniques(i)>(inputs, down, i == 0 ? all_off : plus(technique_count - i))), ...);
  }(std::make_index_sequence<technique_count + 1>{});
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const std::string without = "all but one";
    rows.push_back(ladder_row<first_techniques(technique_count)>(inputs, without, "all eight"));
    (rows.push_back(ladder_row<without_technique(i)>(inputs, without, std::string{"without "} + names[i])), ...);
  }(std::make_index_sequence<technique_count>{});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].baseline = i == 0 || rows[i].section != rows[i - 1].section;
  }
  return group;
}

}  // namespace nfx::bench
