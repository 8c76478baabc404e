// The subcommands of nfx dict.
#pragma once

#include <string>
#include <vector>

namespace nfx::app {

struct CheckOptions {
  std::string file;
  std::string transport;
  std::string fix_version;
  std::vector<std::string> overlays;
};

struct ShowOptions {
  std::string file;
  std::string transport;
  std::string fix_version;
  std::string what;  // a message or field by name, type or number; empty: all messages
};

struct LearnOptions {
  std::string log;
  std::string base;
  std::string transport;
  std::string out;
};

// Each returns the exit code.
int check_dictionary(const CheckOptions& options);
int show_dictionary(const ShowOptions& options);
int diff_dictionaries(const std::string& a, const std::string& b);
int learn_dictionary(const LearnOptions& options);

}  // namespace nfx::app
