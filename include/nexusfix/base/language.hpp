// The language of the headers. With an older one this sentence comes first, and nothing after it.
#pragma once

// g++ 12 has 202100 with -std=c++23.
#if __cplusplus <= 202002L
#error "NexusFIX needs C++23: compile with -std=c++23, or in CMake link nexusfix::fix or ::engine, which set it"
#include <nexusfix-needs-std-c++23>
#endif
