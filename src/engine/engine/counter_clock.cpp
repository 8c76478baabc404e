// Reads from /sys whether the kernel keeps its own time by the processor's counter.
#include "engine/counter_clock.hpp"

#include <fstream>
#include <string>

namespace nfx {

bool counter_keeps_time() noexcept {
  try {
    std::ifstream file{"/sys/devices/system/clocksource/clocksource0/current_clocksource"};
    std::string name;
    file >> name;
    return name == "tsc" || name == "arch_sys_counter";
  } catch (...) {
    return false;
  }
}

}  // namespace nfx
