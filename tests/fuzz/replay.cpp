// Runs a fuzz target without libFuzzer: every seed of a corpus folder, then a bounded number of mutations of them.
// The same target, the same promises, in every build and with every compiler.
// Usage: <target>_replay CORPUS_FOLDER [MUTATIONS [SEED]]. In text seeds '|' stands for SOH.
//        <target>_replay --write-seeds CORPUS_FOLDER TO_FOLDER writes them as the bytes that libFuzzer starts from.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// So many bytes at the front of an input steer the target and are no part of the message.
extern "C" const std::size_t nfx_fuzz_control_size;

namespace {

constexpr std::size_t max_input_size = 2048;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
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

// Applies f to what is behind the control bytes.
template <class F>
std::string behind_control(const std::string& input, F&& f) {
  const std::size_t size = std::min(input.size(), nfx_fuzz_control_size);
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
    std::ranges::replace(text, '|', '\x01');
    seeds.push_back(text);
    // A seed that starts with MsgType is a body: it also runs as a right message, and as a broken one.
    if (text.substr(std::min(text.size(), nfx_fuzz_control_size)).starts_with("35=")) {
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
    for (auto n = below(6); n > 0; --n) mutate(input);
    // Half of the inputs get a right header and trailer, to come past those checks.
    if (below(2) == 0) {
      input = behind_control(input, [](const std::string& body) { return framed("35=" + body + '\x01'); });
    }
    input.resize(std::min(input.size(), max_input_size));
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
  const std::uint64_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 50000;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const std::vector<std::string> seeds = read_seeds(argv[1]);
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[1]);
    return 2;
  }
  // Printed first: a broken promise aborts, and the seed says how to see it again.
  std::printf("%zu seeds, %llu mutations, seed %llu\n", seeds.size(), static_cast<unsigned long long>(mutations),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (const std::string& input : seeds) {
    for (std::size_t size = 0; size <= input.size(); ++size) run(input.substr(0, size));
  }
  Mutator mutator{seeds, seed};
  for (std::uint64_t i = 0; i < mutations; ++i) run(mutator.next());
  return 0;
}
