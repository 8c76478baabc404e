// For the tests of a program: a network in memory, engines and counterparties on it, and a clock that the test moves.
// Link nexusfix::testing; docs/testing.md has a complete test.
#pragma once

#include "nexusfix/testing/network.hpp"
