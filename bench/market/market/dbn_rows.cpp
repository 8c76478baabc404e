// From the bytes of a day of DBN to the order books of its instruments.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "generated_day.hpp"
#include "harness/measure.hpp"
#include "harness/scratch_folder.hpp"
#include "itch_day.hpp"
#include "market/book_replay.hpp"
#include "market/byte_input.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "plain_book.hpp"
#include "rows.hpp"

namespace nfx::bench {
namespace {

using nfx::app::market::BookReplay;
using nfx::app::market::ByteInput;
using nfx::app::market::Decompress;
using nfx::app::market::ReplayOptions;
using nfx::market::BookLimits;
using nfx::market::DbnReader;
using nfx::market::Event;
using nfx::market::InstrumentId;
using nfx::market::InstrumentIndex;
using nfx::market::InstrumentTable;
using nfx::market::OrderBooks;

// The day in all input forms of the rows.
struct Day {
  std::string file;
  std::vector<std::byte> bytes;  // decompressed
  std::vector<Event> events;
  std::vector<InstrumentIndex> indexes;  // indexes of the events' instruments
  std::uint32_t instruments = 0;
  BookLimits limits;
};

BookLimits limits_for(std::uint32_t instruments) {
  return {.instruments = instruments, .orders = 1u << 22, .levels = 1u << 20, .orders_expected = 1u << 13};
}

// A whole file through `take`.
template <class Take>
void read_file(ByteInput& input, Take&& take) {
  for (auto chunk = input.next(); !chunk.empty(); chunk = input.next()) take(chunk);
}

Day read_day(const std::string& file) {
  Day day;
  day.file = file;
  ByteInput input{file};
  read_file(input, [&](auto chunk) { day.bytes.insert(day.bytes.end(), chunk.begin(), chunk.end()); });
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
  PlainBooks plain;
  for (const Event& event : day.events) plain.apply(event);
  const std::string difference = plain.difference(replay.books(), [&](std::uint32_t instrument) {
    return replay.instruments().find(InstrumentId{instrument}).value();
  });
  if (!difference.empty()) throw WrongAnswerError(difference);
  if (plain.best_price_changes() != replay.best_prices().changes()) {
    throw WrongAnswerError("the best prices change " + std::to_string(replay.best_prices().changes()) +
                           " times, with maps " + std::to_string(plain.best_price_changes()));
  }
  std::printf(
      "checked   %zu records of %u instruments, %zu MB, %u orders open at most, %llu changes of the best prices\n",
      day.events.size(), day.instruments, day.bytes.size() >> 20, replay.books().orders_most(),
      static_cast<unsigned long long>(plain.best_price_changes()));
}

// Times each update alone, between two readings of the processor's counter.
LatencyHistogram time_updates(const Day& day, const CycleClock& clock, double own_cost) {
  LatencyHistogram histogram;
  OrderBooks books{day.limits};
  for (std::size_t i = 0; i < day.events.size(); ++i) {
    const std::uint64_t begin = ticks_before();
    books.apply(day.indexes[i], day.events[i]);
    const std::uint64_t end = ticks_after();
    histogram.record(clock.ps_between(begin, end, own_cost));
  }
  return histogram;
}

std::vector<MarketRow> rows_of(const Day& day, const CpuSet& others) {
  std::vector<MarketRow> rows;
  rows.push_back({"record to event",
                  [&day] {
                    return timed([&day] {
                      DbnReader reader;
                      (void)reader.read(day.bytes, [](const Event& event) {
                        keep(event);
                        return true;
                      });
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
  rows.push_back({"record to L3 book", replay_row(false), {}});
  rows.push_back({"record to L3 book, best prices hashed", replay_row(true), {}});
  const auto file_row = [&day](bool hash) {
    return [&day, hash] {
      auto replay = std::make_shared<BookReplay>(replay_options(day, hash));
      auto input = std::make_shared<ByteInput>(day.file, Decompress::by_caller);
      return timed([replay, input] { read_file(*input, [&](auto chunk) { (void)replay->read(chunk); }); });
    };
  };
  const bool compressed = ByteInput{day.file}.compressed();
  rows.push_back({compressed ? "file: decompress alone" : "file: read alone",
                  [&day] {
                    auto input = std::make_shared<ByteInput>(day.file, Decompress::by_caller);
                    return timed([input] { read_file(*input, [](auto chunk) { keep(chunk); }); });
                  },
                  {}});
  rows.push_back({compressed ? "file: decompress to L3 book" : "file: read to L3 book", file_row(false), {}});
  if (compressed) {
    // The thread starts with the file, on another CPU.
    rows.push_back({"file: decompress on a second thread, to L3 book",
                    [&day, &others] {
                      auto replay = std::make_shared<BookReplay>(replay_options(day, false));
                      return timed([&day, &others, replay] {
                        const CpuSet own = CpuAffinity::get();
                        static_cast<void>(CpuAffinity::set(others));
                        ByteInput input{day.file};
                        static_cast<void>(CpuAffinity::set(own));
                        read_file(input, [&](auto chunk) { (void)replay->read(chunk); });
                      });
                    },
                    {}});
  }
  rows.push_back({"full replay: file to hashed best prices", file_row(true), {}});
  return rows;
}

}  // namespace

void bench_dbn(const MarketOptions& options, const CycleClock& clock) {
  const ScratchFolder folder{"market", {}};
  std::string file = options.dbn;
  if (file.empty()) {
    file = (options.save.empty() ? folder.path().string() : options.save) + "/day.dbn";
    write_whole_file(file, generate_day({.seed = options.seed, .records = options.records}));
  }
  const Day day = read_day(file);
  std::printf("\nDBN day   %s\n", options.dbn.empty() ? "generated" : options.dbn.c_str());
  check(day);
  std::vector<MarketRow> rows = rows_of(day, options.other_cores);
  measure_rows(rows, options.repeats, day.events.size());
  print_rows(rows, "record");
  const double own_cost = stamp_cost_ticks();
  std::vector<LatencyHistogram> repeats;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    repeats.push_back(time_updates(day, clock, own_cost));
  }
  print_latencies("updates of an L3 book", repeats);
}

}  // namespace nfx::bench
