// What the C++ peers of the league share: the options, the clock and the files of its protocol (README.md). Any
// engine's adapter may include it, so it uses nothing but the standard library and compiles as C++14.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace league {

// The words KEY=VALUE of the command line.
class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t sign = word.find('=');
      if (sign == std::string::npos) throw std::runtime_error("not KEY=VALUE: " + word);
      values_[word.substr(0, sign)] = word.substr(sign + 1);
    }
  }
  const std::string& text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw std::runtime_error("missing: " + key);
    return found->second;
  }
  bool has(const std::string& key) const { return values_.count(key) != 0; }
  std::uint64_t number(const std::string& key) const { return std::stoull(text(key)); }

 private:
  std::map<std::string, std::string> values_;
};

inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// Pins the calling thread.
inline void pin(std::uint64_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) throw std::runtime_error("cannot pin to a CPU");
}

// The threads that the calling one starts from now on stay off this CPU, until it is pinned itself.
inline void leave(std::uint64_t cpu) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot read the affinity");
  CPU_CLR(cpu, &set);
  if (CPU_COUNT(&set) > 0 && pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
    throw std::runtime_error("cannot leave a CPU");
}

// Nanoseconds of each operation, written as 64-bit floating-point numbers.
class Times {
 public:
  explicit Times(std::size_t count) { ns_.reserve(count); }
  void add(double ns) { ns_.push_back(ns); }
  void write(const std::string& file) const {
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(ns_.data()), static_cast<std::streamsize>(ns_.size() * sizeof(double)));
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
  }

 private:
  std::vector<double> ns_;
};

inline std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Times `work(i)` for each of `count` items, `repeats` times, in batches that are long enough for the clock.
template <class Work>
Times time_batches(std::size_t count, std::uint64_t repeats, Work&& work) {
  constexpr std::size_t batch = 64;
  Times times(repeats * (count / batch));
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t begin = 0; begin + batch <= count; begin += batch) {
      const std::uint64_t from = now_ns();
      for (std::size_t i = begin; i < begin + batch; ++i) work(i);
      times.add(static_cast<double>(now_ns() - from) / batch);
    }
  }
  return times;
}

// The sum of the eight fields of an ExecutionReport: each value times an odd number that depends on its place.
class Fold {
 public:
  void text(unsigned place, const char* bytes, std::size_t size) noexcept {
    add(place, size + (std::uint64_t{static_cast<unsigned char>(bytes[0])} << 8) +
                   (std::uint64_t{static_cast<unsigned char>(bytes[size - 1])} << 16));
  }
  void integer(unsigned place, std::int64_t value) noexcept { add(place, static_cast<std::uint64_t>(value)); }
  // Prices have two decimals: the number of cents.
  void price(unsigned place, double value) noexcept { integer(place, static_cast<std::int64_t>(value * 100 + 0.5)); }
  std::uint64_t sum() const noexcept { return sum_; }

 private:
  void add(unsigned place, std::uint64_t value) noexcept { sum_ += value * (2 * place + 1); }
  std::uint64_t sum_ = 0;
};

// The values of one message to encode, a line of text with tabs between them.
struct Values {
  std::string cl_ord_id, account, symbol, order_id, exec_id;
  char side, ord_type, time_in_force, exec_type, ord_status;
  int order_qty, last_qty, leaves_qty, cum_qty;
  int price_cents, last_px_cents, avg_px_cents;
};

inline std::vector<Values> values_of(const std::string& file) {
  std::vector<Values> all;
  for (const std::string& line : lines_of(file)) {
    std::vector<std::string> parts(1);
    for (const char c : line) c == '\t' ? static_cast<void>(parts.emplace_back()) : parts.back().push_back(c);
    if (parts.size() != 17) throw std::runtime_error("a line of values without 17 parts");
    const auto number = [&](std::size_t i) { return std::stoi(parts[i]); };
    all.push_back({parts[0], parts[1], parts[2], parts[3], parts[4], parts[5][0], parts[6][0], parts[7][0], parts[8][0],
                   parts[9][0], number(10), number(11), number(12), number(13), number(14), number(15), number(16)});
  }
  return all;
}

// The orders of the row `send`: warm_up + count of them, pace_ns apart or as fast as possible. Each call is timed from
// when the order is due until the engine has taken it.
class Pacer {
 public:
  explicit Pacer(const Options& options)
      : warm_up_(options.number("warm_up")),
        count_(options.number("count")),
        warm_up_pace_(options.number("warm_up_pace_ns")),
        pace_(options.number("pace_ns")),
        times_(count_),
        due_(now_ns()) {}

  bool done() const noexcept { return sent_ == warm_up_ + count_; }
  bool due() const noexcept { return !done() && now_ns() >= due_; }
  // Calls `send(number)`, which returns whether the engine has taken the order; otherwise the same order is due again.
  template <class Send>
  bool call(Send&& send) {
    if (begun_ == 0) begun_ = now_ns();
    if (!send(sent_ + 1)) return false;
    const std::uint64_t took = now_ns() - begun_;
    if (sent_ >= warm_up_) times_.add(static_cast<double>(took));
    begun_ = 0;
    ++sent_;
    due_ += sent_ < warm_up_ ? warm_up_pace_ : pace_;
    return true;
  }
  void finish(const Options& options) const {
    times_.write(options.text("times"));
    std::cout << "sent " << sent_ << std::endl;
  }

 private:
  std::uint64_t warm_up_, count_, warm_up_pace_, pace_;
  Times times_;
  std::uint64_t due_;
  std::uint64_t begun_ = 0;
  std::uint64_t sent_ = 0;
};

// A server is ready; returns when the runner closes standard input. Without `turn`, the engine has threads of its own.
inline void ready() { std::cout << "ready" << std::endl; }
inline void wait_for_end() {
  while (std::cin.get() != std::istream::traits_type::eof()) {
  }
}

using Row = std::function<void(const Options&)>;

inline int run(int argc, char** argv, const std::string& engine, const std::map<std::string, Row>& rows) {
  try {
    if (argc < 2) throw std::runtime_error("usage: PEER rows | ROW KEY=VALUE...");
    if (std::string(argv[1]) == "rows") {
      std::cout << "engine " << engine << "\nrows";
      for (const auto& row : rows) std::cout << ' ' << row.first;
      std::cout << std::endl;
      return 0;
    }
    const auto found = rows.find(argv[1]);
    if (found == rows.end()) throw std::runtime_error(std::string("no such row: ") + argv[1]);
    found->second(Options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << engine << ": " << error.what() << std::endl;
    return 2;
  }
}

}  // namespace league
