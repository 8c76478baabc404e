// nfx: the NexusFIX program. Runs the command that the command line chooses; errors are one line on stderr.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/placement/topology.hpp"
#include "nexusfix/wire/scan.hpp"

namespace {

int fail(std::string text, int exit_code) {
  std::ranges::replace(text, '\n', ' ');
  std::cerr << "nfx: " << text << '\n';
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nfx::app;
  if (const std::string error = nfx::kernel_override_error(); !error.empty()) return fail(error, exit_wrong_usage);
  try {
    return nfx::cli::run(nfx_command(), argc, argv);
  } catch (const nfx::ConfigError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const nfx::TopologyError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const nfx::DictionaryError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const std::exception& error) {
    return fail(error.what(), exit_failed);
  }
}
