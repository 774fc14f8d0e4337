#include "workloads/outcome.h"

#include <fmt/format.h>

namespace ringpost::workloads {
namespace {

const char* NameOf(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kTimeout:
      return "timed out";
    case Status::kErrorCompletion:
      return "completed in error";
    case Status::kInvalidArgument:
      return "was refused";
    case Status::kCancelled:
      return "was cancelled";
  }
  return "failed";
}

}  // namespace

bool Outcome::Expect(const Completion& completion, const char* what) {
  if (completion.Ok()) return true;
  Fail(fmt::format("{} {}: QP {:#x}, WQE {}, syndrome {:#04x}, vendor syndrome {:#04x}", what,
                   NameOf(completion.status), completion.qpn, completion.wqe_index,
                   completion.syndrome, completion.vendor_syndrome));
  return false;
}

}  // namespace ringpost::workloads
