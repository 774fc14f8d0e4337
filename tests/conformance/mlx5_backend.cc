#include "tests/conformance/mlx5_backend.h"

#include <cstdio>
#include <cstdlib>

namespace ringpost::conformance {
namespace {

std::unique_ptr<Mlx5Nic> Open(mlx5::Route route) {
  Mlx5NicOptions options;
  options.gpu_is_host = true;
  options.device.route = route;
  auto nic = Mlx5Nic::Open(options);
  if (nic.Ok()) return std::move(nic.Value());
  std::fprintf(stderr, "%s\n", nic.Message().c_str());
  std::abort();
}

}  // namespace

template <mlx5::Route route>
Mlx5BackendOf<route>::Mlx5BackendOf(const Conditions&) : nics_{Open(route), Open(route)} {}

template class Mlx5BackendOf<mlx5::Route::kDevx>;
template class Mlx5BackendOf<mlx5::Route::kVerbs>;

}  // namespace ringpost::conformance
