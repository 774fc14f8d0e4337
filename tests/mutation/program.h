// program.h: the program that mutants run, for every (publication, ordering) pair.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tests/mutation/machine.h"
#include "tests/mutation/plan.h"

namespace ringpost::mutation {

struct PairUnderTest {
  std::string_view publication;
  std::string_view ordering;
  bool warp_wide = false;
  bool shares_qp = false;
  Scope scope = Scope::kGpu;
  std::function<Verdict(const Scenario&, Plan&)> run;

  bool Unordered() const { return ordering == "none"; }
  // DOCA's ordering leaves the record unordered before the doorbell, on purpose.
  bool OrdersRecord() const { return !Unordered() && ordering != "gpu_fence"; }
};

// In the order of transport/publication/pairs.h.
const std::vector<PairUnderTest>& AllPairs();

// The scenarios that between them make each operation of the pair matter, in the placement that
// the pair's scope is meant for: host memory for system scope.
std::vector<Scenario> ScenariosOf(const PairUnderTest& pair);

}  // namespace ringpost::mutation
