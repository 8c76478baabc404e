// From the bytes of a day of market data to order books: bench_market --help. Exit status 1 when a book is wrong, 2
// when the run cannot be done.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "generated_day.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/scratch_folder.hpp"
#include "market/book_replay.hpp"
#include "market/byte_input.hpp"
#include "plain_book.hpp"

namespace {

using namespace nfx::bench;
using nfx::app::market::BookReplay;
using nfx::app::market::ByteInput;
using nfx::app::market::ReplayOptions;
using nfx::market::BookLimits;
using nfx::market::DbnReader;
using nfx::market::Event;
using nfx::market::InstrumentIndex;
using nfx::market::InstrumentTable;
using nfx::market::OrderBooks;

struct Options {
  std::string file;
  std::uint32_t repeats = 5;
  std::uint32_t records = 1'000'000;
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> core;
};

// The day in all forms that rows begin with.
struct Day {
  std::string file;
  std::vector<std::byte> bytes;  // decompressed
  std::vector<Event> events;
  std::vector<InstrumentIndex> indexes;  // of the events' instruments
  std::uint32_t instruments = 0;
  BookLimits limits;
};

BookLimits limits_for(std::uint32_t instruments) {
  return {.instruments = instruments, .orders = 1u << 22, .levels = 1u << 20, .orders_expected = 1u << 13};
}

Day read_day(const std::string& file) {
  Day day;
  day.file = file;
  ByteInput input{file};
  for (auto chunk = input.next(); !chunk.empty(); chunk = input.next()) {
    day.bytes.insert(day.bytes.end(), chunk.begin(), chunk.end());
  }
  DbnReader reader;
  InstrumentTable instruments{1u << 20};
  const auto take = [&](const Event& event) {
    day.events.push_back(event);
    day.indexes.push_back(instruments.index_of(event.instrument).value());
    return true;
  };
  if (!reader.read(day.bytes, take) || !reader.finish()) {
    throw std::runtime_error(file + ": " + std::string{to_string(reader.error().problem)});
  }
  if (day.events.empty()) throw std::runtime_error(file + ": has no records by order");
  day.instruments = instruments.size();
  day.limits = limits_for(day.instruments);
  return day;
}

ReplayOptions replay_options(const Day& day, bool hash) {
  ReplayOptions options;
  options.limits = day.limits;
  options.hash_best_prices = hash;
  return options;
}

void check(const Day& day) {
  BookReplay replay{replay_options(day, true)};
  if (!replay.read(day.bytes)) throw WrongAnswerError("the replay ends early");
  const PlainResult plain = compare_with_plain_books(day.events, replay.books(), replay.instruments());
  if (!plain.difference.empty()) throw WrongAnswerError(plain.difference);
  if (plain.best_price_changes != replay.best_prices().changes()) {
    throw WrongAnswerError("the best prices change " + std::to_string(replay.best_prices().changes()) +
                           " times, with maps " + std::to_string(plain.best_price_changes));
  }
  std::printf(
      "checked   %zu records of %u instruments, %zu MB, %u orders open at most, %llu changes of the best prices\n",
      day.events.size(), day.instruments, day.bytes.size() >> 20, replay.books().orders_most(),
      static_cast<unsigned long long>(plain.best_price_changes));
}

struct Row {
  std::string name;
  std::function<std::unique_ptr<std::function<void()>>()> prepare;  // what is timed, made before
  std::vector<double> ns;                                           // per record, of each repeat
};

// Each update alone, between two readings of the processor's counter.
nfx::LatencyHistogram time_updates(const Day& day, const CycleClock& clock, double own_cost) {
  nfx::LatencyHistogram histogram;
  OrderBooks books{day.limits};
  for (std::size_t i = 0; i < day.events.size(); ++i) {
    const std::uint64_t begin = ticks_before();
    books.apply(day.indexes[i], day.events[i]);
    const std::uint64_t end = ticks_after();
    const double ticks = static_cast<double>(end - begin) - own_cost;
    histogram.record(ticks > 0 ? static_cast<std::uint64_t>(clock.to_ns(ticks) * 1000) : 0);
  }
  return histogram;
}

template <class Work>
std::unique_ptr<std::function<void()>> timed(Work work) {
  return std::make_unique<std::function<void()>>(std::move(work));
}

std::vector<Row> rows_of(const Day& day) {
  std::vector<Row> rows;
  rows.push_back({"decode to events",
                  [&day] {
                    return timed([&day] {
                      DbnReader reader;
                      std::uint64_t sum = 0;
                      (void)reader.read(day.bytes, [&](const Event& event) {
                        sum += event.quantity;
                        keep(event);
                        return true;
                      });
                      keep(sum);
                    });
                  },
                  {}});
  rows.push_back({"update of an L3 book",
                  [&day] {
                    auto books = std::make_shared<OrderBooks>(day.limits);
                    return timed([&day, books] {
                      for (std::size_t i = 0; i < day.events.size(); ++i) {
                        books->apply(day.indexes[i], day.events[i]);
                      }
                    });
                  },
                  {}});
  const auto replay_row = [&day](bool hash) {
    return [&day, hash] {
      auto replay = std::make_shared<BookReplay>(replay_options(day, hash));
      return timed([&day, replay] { (void)replay->read(day.bytes); });
    };
  };
  rows.push_back({"decode to L3 book", replay_row(false), {}});
  rows.push_back({"decode to L3 book, best prices hashed", replay_row(true), {}});
  const auto file_row = [&day](bool hash) {
    return [&day, hash] {
      auto replay = std::make_shared<BookReplay>(replay_options(day, hash));
      auto input = std::make_shared<ByteInput>(day.file);
      return timed([replay, input] {
        for (auto chunk = input->next(); !chunk.empty(); chunk = input->next()) (void)replay->read(chunk);
      });
    };
  };
  const bool compressed = ByteInput{day.file}.compressed();
  rows.push_back({compressed ? "file: decompress alone" : "file: read alone",
                  [&day] {
                    auto input = std::make_shared<ByteInput>(day.file);
                    return timed([input] {
                      for (auto chunk = input->next(); !chunk.empty(); chunk = input->next()) keep(chunk);
                    });
                  },
                  {}});
  rows.push_back({compressed ? "file: decompress to L3 book" : "file: read to L3 book", file_row(false), {}});
  rows.push_back({"full replay: file to hashed best prices", file_row(true), {}});
  return rows;
}

void measure_rows(const Day& day, std::vector<Row>& rows, std::uint32_t repeats) {
  // The first round warms up and is left out.
  for (std::uint32_t repeat = 0; repeat <= repeats; ++repeat) {
    for (Row& row : rows) {
      const auto work = row.prepare();
      const auto begin = std::chrono::steady_clock::now();
      (*work)();
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      if (repeat != 0) row.ns.push_back(time.count() / static_cast<double>(day.events.size()));
    }
  }
}

int run(const Options& options) {
  std::printf("machine   %s\n", describe(this_machine()).c_str());
  if (const auto core = pin_to_core(options.core); !core) throw std::runtime_error(core.error());
  const CycleClock clock = calibrate_clock();
  const double own_cost = own_cost_ticks();
  const ScratchFolder folder{"market", {}};
  std::string file = options.file;
  if (file.empty()) {
    file = folder.path() / "day.dbn";
    const auto bytes = generate_day({.seed = options.seed, .records = options.records});
    std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(bytes.size()));
  }
  const Day day = read_day(file);
  std::printf("day       %s\n", options.file.empty() ? "generated" : options.file.c_str());
  check(day);

  std::vector<Row> rows = rows_of(day);
  measure_rows(day, rows, options.repeats);
  std::printf("\n%-42s %10s %14s\n", "row", "ns/record", "M records/s");
  for (const Row& row : rows) {
    const double ns = median(row.ns);
    std::printf("%-42s %10.1f %14.2f\n", row.name.c_str(), ns, 1000 / ns);
  }

  std::vector<Figures> repeats;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    repeats.push_back(figures_of(time_updates(day, clock, own_cost), 1000));
  }
  std::printf(
      "\nsingle updates of an L3 book, ns: p50 %.1f  p99 %.1f  p99.9 %.1f  max %.0f (own cost %.1f subtracted)\n",
      middle(repeats, &Figures::p50), middle(repeats, &Figures::p99), middle(repeats, &Figures::p999),
      middle(repeats, &Figures::max), clock.to_ns(own_cost));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_market",
      .summary = "What market data costs from its bytes to order books",
      .options =
          {{.names = "--file",
            .target = &options.file,
            .help = "A day in DBN, compressed with Zstandard or not; otherwise one is generated",
            .kind = nfx::cli::Kind::existing_file},
           {.names = "--repeats", .target = &options.repeats, .help = "Medians are over these", .range = {{1, 1000}}},
           {.names = "--records",
            .target = &options.records,
            .help = "Records of the generated day",
            .range = {{1000, 100'000'000}}},
           {.names = "--seed", .target = &options.seed, .help = "Of the generated day"},
           {.names = "--core", .target = &options.core, .help = "CPU to run on", .default_text = "the last one"}},
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
