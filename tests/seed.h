// The seed of a test run: whatever a test draws at random, it draws from this one number, so that
// a failure can be repeated.
//
// tests/run.py derives it from the commit, so that each change tries other values; a program that
// is run on its own uses 1. When a test fails its program prints the seed and the command that
// repeats it (tests/main.cc).
//
//   std::mt19937_64 random(ringpost::TestSeed());
#pragma once

#include <cstdint>
#include <string>

namespace ringpost {

// The value of RINGPOST_TEST_SEED, a decimal number; 1 where it is not set. A malformed value ends
// the program, as a test that silently ran with another seed would repeat nothing.
uint64_t TestSeed();

// The shell command that runs the test case (its full name: "Suite/Case") with this seed again.
std::string RepeatCommand(const std::string& test_case);

}  // namespace ringpost
