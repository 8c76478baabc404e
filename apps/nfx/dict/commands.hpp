// The subcommands of nfx dict.
#pragma once

#include <string>
#include <vector>

namespace nfx::app {

struct CheckOptions {
  std::string file;
  std::string transport;
  std::vector<std::string> overlays;
};

struct LearnOptions {
  std::string log;
  std::string base;
  std::string transport;
  std::string out;
};

// Each returns the exit code.
int check_dictionary(const CheckOptions& options);
int diff_dictionaries(const std::string& a, const std::string& b);
int learn_dictionary(const LearnOptions& options);

}  // namespace nfx::app
