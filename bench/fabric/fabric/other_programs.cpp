// Child processes and their output; also the copy by two threads, the lower bound for all shared memory.
#include "fabric/other_programs.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nexusfix/base/memory.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {
namespace {

class Server {
 public:
  explicit Server(const std::vector<std::string>& words) {
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stdout) != nullptr && std::freopen("/dev/null", "w", stderr) != nullptr)
      ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
};

// Returns its output; retries until the server is up.
std::string output_of(const std::string& command, std::string_view expected, const std::string& remedy) {
  std::string text;
  for (int attempt = 0; attempt < 20; ++attempt) {
    text.clear();
    std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) break;
    std::array<char, 4096> piece;
    for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
      text.append(piece.data(), got);
    ::pclose(pipe);
    if (text.find(expected) != std::string::npos) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  throw std::runtime_error("'" + command + "' gave no result; " + remedy + ": " + text.substr(0, 200));
}

}  // namespace

double iperf3_gbps(std::uint32_t bytes, double seconds) {
  const Server server{{"iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", "15203"}};
  const std::string text =
      output_of("iperf3 -c 127.0.0.1 -p 15203 -J -t " + std::to_string(seconds) + " -l " + std::to_string(bytes),
                "\"sum_received\"", "install the package iperf3");
  const std::size_t sum = text.find("\"sum_received\""), at = text.find("\"bits_per_second\"", sum);
  return std::strtod(text.c_str() + text.find(':', at) + 1, nullptr) / 1e9;
}

double fi_pingpong_us(std::uint32_t bytes, std::uint32_t round_trips) {
  const std::string words = " -p shm -e rdm -I " + std::to_string(round_trips) + " -S " + std::to_string(bytes);
  const Server server{{"taskset", "-c", "1", "sh", "-c", "exec fi_pingpong" + words + " -B 15204"}};
  const std::string text = output_of("taskset -c 0 fi_pingpong" + words + " -P 15204 127.0.0.1", "usec/xfer",
                                     "install the package libfabric-bin");
  // bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec
  const std::size_t line = text.find('\n', text.find("usec/xfer"));
  std::array<char, 32> word{};
  double us = 0;
  if (line == std::string::npos ||
      std::sscanf(text.c_str() + line, "%31s %*s %*s %*s %*s %*s %lf", word.data(), &us) != 2) {
    throw std::runtime_error("fi_pingpong printed another table: " + text.substr(0, 200));
  }
  return us;
}

double memcpy_gbps(std::uint32_t page_bytes, double seconds) {
  constexpr std::size_t region = std::size_t{32} << 20U;  // regions of two rails
  std::array<double, 2> gbps{};
  std::atomic<int> ready{0};
  std::array<std::thread, 2> threads;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    threads[t] = std::thread{[&, t] {
      static_cast<void>(CpuAffinity::pin_to_core(static_cast<int>(t)));
      std::vector<char> from(region, 1), to(region, 2);
      ready.fetch_add(1);
      while (ready.load() < 2) {
      }
      const auto begin = std::chrono::steady_clock::now();
      std::chrono::duration<double> passed{};
      std::uint64_t pages = 0;
      while (passed.count() < seconds) {
        for (std::size_t at = 0; at + page_bytes <= region; at += page_bytes, ++pages) {
          std::memcpy(to.data() + at, from.data() + at, page_bytes);
          asm volatile("" : : "r"(to.data()) : "memory");
        }
        passed = std::chrono::steady_clock::now() - begin;
      }
      if (to != from) std::abort();
      gbps[t] = static_cast<double>(pages * page_bytes) * 8 / passed.count() / 1e9;
    }};
  }
  for (std::thread& thread : threads) thread.join();
  return gbps[0] + gbps[1];
}

double shared_line_ns() {
  constexpr std::uint32_t turns = 200'000;
  alignas(128) std::atomic<std::uint32_t> turn{0};
  const auto count = [&](std::uint32_t own) {
    static_cast<void>(CpuAffinity::pin_to_core(static_cast<int>(own)));
    for (std::uint32_t i = own; i < turns; i += 2) {
      while (turn.load(std::memory_order_relaxed) != i) {
      }
      turn.store(i + 1, std::memory_order_relaxed);
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::thread other{count, 1};
  count(0);
  other.join();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / turns;
}

}  // namespace nfx::bench
