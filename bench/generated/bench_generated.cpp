// What generated readers and builders cost compared with the same look-ups and appends written by hand: bench_generated
// --help. Exit status 1 when a row gives a wrong answer, 2 when the run cannot be done.
#include <array>
#include <cstdio>
#include <memory>

#include "fix44/execution_report.hpp"
#include "fix44/market_data_incremental_refresh.hpp"
#include "fix44/new_order_single.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "wire/corpus.hpp"
#include "wire/plain_reading.hpp"
#include "wire/typed_reads.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;

constexpr int wrong_answer = 1;
constexpr int cannot_run = 2;
constexpr std::uint32_t fields_per_view = 96;  // small views, so that the cache holds many

struct Input {
  Corpus corpus;
  std::vector<PlainMessage> plain;
  std::vector<MessageView> views;  // indexed already: only the reading is measured
};

std::shared_ptr<Input> make_input(Kind kind, std::uint64_t seed) {
  auto input = std::make_shared<Input>();
  input->corpus = make_corpus(kind, seed);
  for (std::uint32_t i = 0; i < input->corpus.size(); ++i) {
    input->plain.push_back(read_plainly(input->corpus[i]).value());
    input->views.emplace_back(fields_per_view);
    if (input->views.back().parse(input->corpus[i]) != WireError::none) throw std::runtime_error("a broken corpus");
  }
  return input;
}

// What is read of each message.

[[gnu::always_inline]] inline std::uint64_t report_by_hand(const MessageView& view) noexcept {
  Fold fold;
  const std::string_view id = view.get_view(Tag::ClOrdID);
  fold.text(0, id.data(), id.size());
  add_character(fold, 1, view.get_char(Tag::ExecType));
  add_character(fold, 2, view.get_char(Tag::Side));
  add_decimal(fold, 3, view.get_decimal(Tag::OrderQty));
  add_decimal(fold, 4, view.get_decimal(Tag::Price));
  add_decimal(fold, 5, view.get_decimal(Tag::LastQty));
  add_decimal(fold, 6, view.get_decimal(Tag::LastPx));
  add_time(fold, 7, view.get_utc_timestamp(Tag::TransactTime));
  return fold.sum();
}

[[gnu::always_inline]] inline std::uint64_t report_generated(const MessageView& view) noexcept {
  const fix44::ExecutionReport report{view};
  Fold fold;
  const std::string_view id = report.cl_ord_id();
  fold.text(0, id.data(), id.size());
  add_character(fold, 1, report.exec_type());
  add_character(fold, 2, report.side());
  add_decimal(fold, 3, report.order_qty());
  add_decimal(fold, 4, report.price());
  add_decimal(fold, 5, report.last_qty());
  add_decimal(fold, 6, report.last_px());
  add_time(fold, 7, report.transact_time());
  return fold.sum();
}

std::uint64_t report_plainly(const PlainMessage& message) {
  Fold fold;
  const std::string id = plain_text(message, 11);
  fold.text(0, id.data(), id.size());
  fold.character(1, plain_text(message, 150)[0]);
  fold.character(2, plain_text(message, 54)[0]);
  constexpr std::array<int, 4> numbers{38, 44, 32, 31};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const PlainDecimal number = plain_decimal(plain_text(message, numbers[i]));
    fold.decimal(3 + i, number.mantissa, number.scale);
  }
  fold.integer(7, plain_time_ns(plain_text(message, 60)));
  return fold.sum();
}

constexpr std::array few_members{Tag::MDUpdateAction, Tag::MDEntryType, Tag::Symbol, Tag::MDEntryPx, Tag::MDEntrySize};
constexpr GroupShape few_members_shape{Tag::NoMDEntries, few_members, {}};

template <const GroupShape& shape>
[[gnu::always_inline]] inline std::uint64_t entries_by_hand(const MessageView& view) noexcept {
  Fold fold;
  std::size_t place = 0;
  for (const GroupEntry entry : view.group(shape)) {
    add_character(fold, place, entry.get_char(Tag::MDEntryType));
    add_decimal(fold, place + 1, entry.get_decimal(Tag::MDEntryPx));
    add_decimal(fold, place + 2, entry.get_decimal(Tag::MDEntrySize));
    place += 3;
  }
  return fold.sum();
}

[[gnu::always_inline]] inline std::uint64_t entries_generated(const MessageView& view) noexcept {
  Fold fold;
  std::size_t place = 0;
  for (const auto entry : fix44::MarketDataIncrementalRefresh{view}.no_md_entries()) {
    add_character(fold, place, entry.md_entry_type());
    add_decimal(fold, place + 1, entry.md_entry_px());
    add_decimal(fold, place + 2, entry.md_entry_size());
    place += 3;
  }
  return fold.sum();
}

std::uint64_t entries_plainly(const PlainMessage& message) {
  Fold fold;
  std::size_t place = 0;
  for (const PlainField& field : message) {
    if (field.tag == 269) fold.character(place++, field.text[0]);
    if (field.tag != 270 && field.tag != 271) continue;
    const PlainDecimal number = plain_decimal(field.text);
    fold.decimal(place++, number.mantissa, number.scale);
  }
  return fold.sum();
}

using Read = std::uint64_t (*)(const MessageView&) noexcept;
using ReadPlainly = std::uint64_t (*)(const PlainMessage&);

// The reading function is a template argument, so that it is compiled into the loop as it would be into a handler.
template <Read read>
Row read_row(const std::shared_ptr<Input>& input, std::string name, bool baseline, ReadPlainly plainly) {
  Row row;
  row.section = std::string{to_string(input->corpus.kind)};
  row.name = std::move(name);
  row.baseline = baseline;
  row.bytes_per_item = input->corpus.mean_size();
  row.run = [input](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) sum += read(input->views[i]);
    return sum;
  };
  row.check = [input, plainly](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::uint64_t expected = plainly(input->plain[i]);
    if (read(input->views[i]) != expected) return {};
    return expected;
  };
  return row;
}

// A group for each kind of message: rows over the same messages find the caches as the others left them.
Group reports_group(std::uint64_t seed) {
  const auto input = make_input(Kind::execution_report, seed);
  Group group{"reports", "eight fields of a report, indexed already", corpus_messages, true, {}};
  group.rows.push_back(read_row<report_by_hand>(input, "look-ups by hand", true, report_plainly));
  group.rows.push_back(read_row<report_generated>(input, "generated reader", false, report_plainly));
  return group;
}

Group updates_group(std::uint64_t seed) {
  const auto input = make_input(Kind::market_data, seed);
  constexpr const GroupShape& whole = fix44::MarketDataIncrementalRefreshNoMDEntriesEntry::shape;
  Group group{"updates", "three fields of each of ten entries, indexed already", corpus_messages, true, {}};
  group.rows.push_back(
      read_row<entries_by_hand<whole>>(input, "look-ups by hand, the dictionary's group", true, entries_plainly));
  group.rows.push_back(read_row<entries_generated>(input, "generated reader", false, entries_plainly));
  group.rows.push_back(read_row<entries_by_hand<few_members_shape>>(input, "look-ups by hand, a group of five members",
                                                                    false, entries_plainly));
  return group;
}

// Building an order.

UtcTime time_of(std::int64_t ms) { return UtcTime{std::chrono::milliseconds{ms}}; }

// Reused for all messages, as in a program: the writer caches the text of the last second.
struct OrderByHand {
  std::array<char, 512> space{};
  FieldWriter writer{space};

  std::string_view operator()(const OrderValues& v) noexcept {
    writer.clear();
    writer.append<Tag::ClOrdID>(v.cl_ord_id.view())
        .append<Tag::Account>(v.account.view())
        .append<Tag::HandlInst>(v.handl_inst)
        .append<Tag::Symbol>(v.symbol.view())
        .append<Tag::Side>(v.side)
        .append<Tag::TransactTime>(time_of(v.transact_time_ms))
        .append<Tag::OrderQty>(Decimal{v.order_qty})
        .append<Tag::OrdType>(v.ord_type)
        .append<Tag::Price>(Decimal{v.price.mantissa, v.price.scale})
        .append<Tag::TimeInForce>(v.time_in_force);
    return writer.ok() ? writer.view() : std::string_view{};
  }
};

struct OrderGenerated {
  std::array<char, 512> space{};
  fix44::NewOrderSingleBuilder<FieldWriter> order{space};

  std::string_view operator()(const OrderValues& v) noexcept {
    order.clear();
    order.cl_ord_id(v.cl_ord_id.view())
        .account(v.account.view())
        .handl_inst(fix44::HandlInst{v.handl_inst})
        .symbol(v.symbol.view())
        .side(fix44::Side{v.side})
        .transact_time(time_of(v.transact_time_ms))
        .order_qty(Decimal{v.order_qty})
        .ord_type(fix44::OrdType{v.ord_type})
        .price(Decimal{v.price.mantissa, v.price.scale})
        .time_in_force(fix44::TimeInForce{v.time_in_force});
    return order.body();
  }
};

std::string order_plainly(const PlainMessage& message) {
  std::string body;
  for (const int tag : {11, 1, 21, 55, 54, 60, 38, 40, 44, 59}) {
    body += std::to_string(tag) + '=' + plain_text(message, tag) + soh;
  }
  return body;
}

[[gnu::always_inline]] inline std::uint64_t answer(std::string_view body) noexcept {
  if (body.size() < 2) return 0;
  return body.size() * 256 + static_cast<unsigned char>(body[body.size() - 2]);
}

template <typename Build>
Row build_row(const std::shared_ptr<Input>& input, std::string name, bool baseline) {
  const auto build = std::make_shared<Build>();
  Row row;
  row.section = "NewOrderSingle, 10 fields";
  row.name = std::move(name);
  row.baseline = baseline;
  row.bytes_per_item = input->corpus.mean_size();
  row.run = [input, build](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) sum += answer((*build)(input->corpus.values[i]));
    return sum;
  };
  row.check = [input, build](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::string expected = order_plainly(input->plain[i]);
    if ((*build)(input->corpus.values[i]) != expected) return {};
    return answer(expected);
  };
  return row;
}

Group builds_group(std::uint64_t seed) {
  const auto orders = make_input(Kind::new_order_single, seed);
  Group group{"builds", "an order's body into a buffer", corpus_messages, true, {}};
  group.rows.push_back(build_row<OrderByHand>(orders, "appends by hand", true));
  group.rows.push_back(build_row<OrderGenerated>(orders, "generated builder", false));
  return group;
}

struct Options {
  bool quick = false;
  std::uint32_t repeats = 5;
  std::uint64_t seed = 20240315;
  std::optional<unsigned> core;
};

int run(const Options& options) {
  const auto core = pin_to_core(options.core);
  if (!core) throw std::runtime_error(core.error() + "; choose another --core");
  RunFacts facts;
  facts.benchmark = "generated";
  facts.machine = this_machine();
  facts.clock = calibrate_clock();
  facts.own_cost_ticks = own_cost_ticks();
  facts.core = *core;
  facts.seed = options.seed;
  facts.options.repeats = options.repeats;
  facts.options.rounds = options.quick ? 16 : 60;
  facts.options.slice_ns = options.quick ? 250'000 : 500'000;
  facts.options.seed = options.seed;
  facts.notes.emplace_back("generated readers also test whether an enumerated value is listed");
  print_facts(stdout, facts);
  for (const Group& group : {reports_group(options.seed), updates_group(options.seed), builds_group(options.seed)}) {
    const auto result = measure(group, facts.options, facts.clock, facts.own_cost_ticks);
    if (!result) throw WrongAnswerError(to_string(result.error()));
    print_table(stdout, *result);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_generated",
      .summary = "Cost of generated readers and builders compared with the same work written by hand",
      .options =
          {{.names = "--quick", .target = &options.quick, .help = "Less than ten seconds"},
           {.names = "--repeats", .target = &options.repeats, .help = "Medians are over these", .range = {{1, 100}}},
           {.names = "--seed", .target = &options.seed, .help = "Of the corpora and their order"},
           {.names = "--core",
            .target = &options.core,
            .help = "The core to pin to",
            .default_text = "the last allowed one"}},
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
