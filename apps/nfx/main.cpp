// nfx: the NexusFIX program. Runs the command that the command line chooses; errors are one line on stderr.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/placement/topology.hpp"
#include "nexusfix/wire/scan.hpp"
#include "output.hpp"

namespace {

int fail(std::string text, int exit_code) {
  std::ranges::replace(text, '\n', ' ');
  nfx::app::print_error("nfx: {}\n", text);
  return exit_code;
}

// A standard descriptor that is closed would become one of a socket or a journal, and receive what is printed. What is
// opened instead fails like a closed one.
void occupy_standard_descriptors() noexcept {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    static_cast<void>(::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));  // takes the lowest number that is free
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nfx::app;
  occupy_standard_descriptors();
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
