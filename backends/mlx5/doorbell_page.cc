#include "backends/mlx5/doorbell_page.h"

#include <cerrno>

#include "backends/mlx5/failure.h"

namespace ringpost::mlx5 {

Result<std::unique_ptr<DoorbellPage>> DoorbellPage::Open(const Device& device) {
  std::unique_ptr<DoorbellPage> page(new DoorbellPage());
  page->uar_.reset(mlx5dv_devx_alloc_uar(device.context(), MLX5DV_UAR_ALLOC_TYPE_NC));
  const int first = errno;
  if (page->uar_ != nullptr) return page;
  page->uar_.reset(mlx5dv_devx_alloc_uar(device.context(), MLX5DV_UAR_ALLOC_TYPE_BF));
  page->combines_ = true;
  if (page->uar_ != nullptr) return page;
  return Error{CallFailed(device.Name(), "mlx5dv_devx_alloc_uar (NC)", first).message + "; and " +
               CallFailed(device.Name(), "mlx5dv_devx_alloc_uar (BF)", errno).message};
}

}  // namespace ringpost::mlx5
