// Minimise() by NLopt.
#include <exception>
#include <nlopt.hpp>
#include <type_traits>
#include <vector>

#include "tools/ringpost/fit/minimise.h"

namespace ringpost::tools {
namespace {

nlopt::algorithm AlgorithmOf(Method method) {
  switch (method) {
    case Method::kDirect:
      return nlopt::GN_DIRECT_L;
    case Method::kSubplex:
      return nlopt::LN_SBPLX;
    case Method::kBobyqa:
      return nlopt::LN_BOBYQA;
  }
  return nlopt::LN_SBPLX;
}

struct Objective {
  const Task& task;
  std::exception_ptr thrown;

  static double Call(const std::vector<double>& x, std::vector<double>&, void* self) {
    auto& objective = *static_cast<Objective*>(self);
    try {
      return objective.task.loss(x);
    } catch (...) {
      // NLopt would tell of it in words of its own.
      objective.thrown = std::current_exception();
      throw nlopt::forced_stop();
    }
  }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] void ringpost_minimise(const Task& task,
                                                                 const Search& search,
                                                                 std::vector<double>& x) {
  Objective objective{task, nullptr};
  nlopt::opt optimiser(AlgorithmOf(search.method), static_cast<unsigned>(x.size()));
  optimiser.set_lower_bounds(task.low);
  optimiser.set_upper_bounds(task.high);
  optimiser.set_min_objective(&Objective::Call, &objective);
  optimiser.set_maxeval(static_cast<int>(search.evaluations));
  optimiser.set_stopval(task.enough);
  optimiser.set_xtol_abs(search.precision);
  optimiser.set_initial_step(std::vector<double>(x.size(), search.step));
  double loss = 0;
  try {
    optimiser.optimize(x, loss);
  } catch (const nlopt::forced_stop&) {
    if (objective.thrown) std::rethrow_exception(objective.thrown);
    throw;
  }
}

static_assert(std::is_same_v<decltype(&ringpost_minimise), MinimiseFunction>);

}  // namespace ringpost::tools
