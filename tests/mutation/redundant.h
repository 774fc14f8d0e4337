// redundant.h: the mutants that nothing catches, because the operation is redundant there by the
// memory model, or because what would need it is not modelled. Each with its reason; one that is
// caught after all fails the test.
#pragma once

#include <string_view>
#include <vector>

#include "tests/mutation/plan.h"
#include "tests/mutation/program.h"

namespace ringpost::mutation {

// Empty publication, ordering or function: any. Each entry has at least one mutant.
struct Redundant {
  std::string_view publication;
  std::string_view ordering;
  std::string_view function;  // that calls the ordering policy
  std::string_view role;      // "direct": no ordering policy performs it
  std::vector<Mutation> mutations;
  std::string_view reason;

  bool Covers(const PairUnderTest& pair, const Point& point, Mutation change) const;
};

const std::vector<Redundant>& RedundantOperations();

}  // namespace ringpost::mutation
