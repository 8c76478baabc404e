// Runs a fuzz target without libFuzzer: every seed of a corpus folder, then a bounded number of mutations, with the
// same target and the same requirements, in every build and with every compiler. Usage: <target>_replay CORPUS_FOLDER
// [MUTATIONS [SEED]]. The default number comes from the target.
//        <target>_replay --write-seeds CORPUS_FOLDER TO_FOLDER writes them as the bytes that libFuzzer starts from.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"

namespace {

// Printed to stderr if a requirement is not met: as a new seed it reproduces the defect.
const std::string* current = nullptr;

void show_input(int) {
  if (current == nullptr) return;
  constexpr std::string_view before = "--- the input:\n", after = "\n--- its end\n";
  for (const std::string_view part : {before, std::string_view{*current}, after}) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) return;
  }
}

void run(const std::string& input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  current = nullptr;
}

std::string with_check_sum(std::string bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  char field[8];
  std::snprintf(field, sizeof field, "10=%03u\x01", sum % 256);
  return bytes + field;
}

std::string framed(const std::string& body) {
  return with_check_sum(
      "8=FIX.4.4\x01"
      "9=" +
      std::to_string(body.size()) + '\x01' + body);
}

// Applies f to the bytes after the control bytes.
template <class F>
std::string behind_control(const std::string& input, F&& f) {
  const std::size_t size = std::min(input.size(), nfx_fuzz_target.control_size);
  return input.substr(0, size) + f(input.substr(size));
}

std::vector<std::string> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::ifstream in{file, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (text.ends_with('\n')) text.pop_back();
    const bool fix = nfx_fuzz_target.format == FuzzFormat::fix;
    if (fix) std::ranges::replace(text, '|', '\x01');
    seeds.push_back(text);
    if (!fix) continue;
    // A seed that starts with MsgType is a body: it also runs as a valid message, and as a broken one.
    if (text.substr(std::min(text.size(), nfx_fuzz_target.control_size)).starts_with("35=")) {
      seeds.push_back(behind_control(text, framed));
      seeds.push_back(behind_control(text, [](const std::string& body) { return framed(body) + framed(body); }));
      seeds.push_back(behind_control(text, [](const std::string& body) {
        return with_check_sum(
                   "8=FIX.4.4\x01"
                   "9=" +
                   std::to_string(body.size() + 20) + '\x01' + body) +
               framed(body);
      }));
    }
  }
  return seeds;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t seed) : seeds_(seeds), random_(seed) {}

  std::string next() {
    std::string input = any_seed();
    const bool fix = nfx_fuzz_target.format == FuzzFormat::fix;
    for (auto n = below(6); n > 0; --n) {
      if (fix || below(2) == 0) {
        mutate(input);
      } else {
        mutate_text(input);
      }
    }
    // Half of the inputs get a valid header and trailer, to get past those checks.
    if (fix && below(2) == 0) {
      input = behind_control(input, [](const std::string& body) { return framed("35=" + body + '\x01'); });
    }
    input.resize(std::min(input.size(), nfx_fuzz_target.max_input_size));
    return input;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  const std::string& any_seed() { return seeds_[below(seeds_.size())]; }

  void mutate(std::string& input) {
    static constexpr const char* tokens[] = {"\x01",
                                             "=",
                                             "8=FIX",
                                             "9=",
                                             "10=",
                                             "\x01"
                                             "10=000\x01",
                                             "35=",
                                             "95=",
                                             "96=",
                                             "-",
                                             "0",
                                             "2147483647=",
                                             "453=2\x01",
                                             "448=",
                                             "802=1\x01",
                                             "523=",
                                             "354=3\x01"
                                             "355="};
    const std::size_t at = below(input.size() + 1);
    switch (below(6)) {
      case 0: input.insert(at, tokens[below(std::size(tokens))]); break;
      case 1: input.erase(at, 1 + below(8)); break;
      case 2: input.resize(at); break;
      case 3: input.insert(at, any_seed()); break;
      case 4:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      default:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        break;
    }
  }

  // A piece of a seed between separators such as blanks, quotes and line ends.
  std::string_view any_piece() {
    constexpr std::string_view borders = " \t\n=\"<>,:[]";
    const std::string_view seed = any_seed();
    const std::size_t begin = below(seed.size() + 1);
    const std::size_t end = std::min(seed.find_first_of(borders, begin + below(24)), seed.size());
    const std::size_t border = seed.substr(0, begin).find_last_of(borders);
    const std::size_t from = border == std::string_view::npos ? 0 : border;
    return seed.substr(from, std::max(end, from) - from);
  }

  // Swaps lines and pieces of the seeds, and replaces numbers by unusual ones.
  void mutate_text(std::string& input) {
    static constexpr const char* values[] = {"0",
                                             "-1",
                                             "4294967296",
                                             "9223372036854775807",
                                             "18446744073709551615",
                                             "1e308",
                                             "nan",
                                             "\x1b[2J",
                                             "\xc2\x9b",
                                             "\xe2\x80\xae",
                                             "\xff",
                                             "\"",
                                             "'",
                                             "\\",
                                             "\n",
                                             "\r",
                                             "[",
                                             "]",
                                             "<",
                                             "&#0;",
                                             "%s",
                                             "../../x",
                                             "$HOME"};
    const std::size_t at = below(input.size() + 1);
    const std::size_t line = at == 0 ? 0 : input.rfind('\n', at - 1) + 1;
    const std::size_t line_end = std::min(input.find('\n', at), input.size());
    switch (below(6)) {
      case 0: input.insert(at, values[below(std::size(values))]); break;
      case 1: input.insert(at, any_piece()); break;
      case 2: input.erase(line, line_end + 1 - line); break;
      case 3: input.insert(line, input.substr(line, line_end - line) + '\n'); break;
      case 4: input.insert(line, std::string{any_piece()} + '\n'); break;
      default: {
        const std::size_t digit = input.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t behind = std::min(input.find_first_not_of("0123456789", digit), input.size());
        input.replace(digit, behind - digit, values[below(5)]);
        break;
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

int write_seeds(const char* from, const std::filesystem::path& to) {
  std::size_t number = 0;
  for (const std::string& seed : read_seeds(from)) {
    std::ofstream out{to / ("seed-" + std::to_string(number++)), std::ios::binary};
    if (!out.write(seed.data(), static_cast<std::streamsize>(seed.size()))) {
      std::fprintf(stderr, "cannot write to %s\n", to.c_str());
      return 1;
    }
  }
  return number == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string{argv[1]} == "--write-seeds") return write_seeds(argv[2], argv[3]);
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER [MUTATIONS [SEED]]\n", argv[0]);
    return 2;
  }
  const std::uint64_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : nfx_fuzz_target.mutations;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const std::vector<std::string> seeds = read_seeds(argv[1]);
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[1]);
    return 2;
  }
  // Printed first: a failure aborts, and the seed reproduces it.
  std::printf("%zu seeds, %llu mutations, seed %llu\n", seeds.size(), static_cast<unsigned long long>(mutations),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::signal(SIGABRT, show_input);
  for (const std::string& input : seeds) {
    // For a slow target, only some of the ends.
    const std::size_t step = 1 + input.size() * seeds.size() / std::max<std::uint64_t>(nfx_fuzz_target.mutations, 1);
    for (std::size_t size = input.size() % step; size <= input.size(); size += step) run(input.substr(0, size));
  }
  Mutator mutator{seeds, seed};
  for (std::uint64_t i = 0; i < mutations; ++i) run(mutator.next());
  return 0;
}
