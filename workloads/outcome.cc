#include "workloads/outcome.h"

#include <fmt/format.h>

#include "transport/abi/cqe.h"

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

const char* NameOf(Act act) {
  switch (act) {
    case Act::kPut:
      return "a put";
    case Act::kSignal:
      return "a signal";
    case Act::kLastPut:
      return "the last put";
  }
  return "an operation";
}

}  // namespace

bool Outcome::Expect(const Completion& completion, Act act) {
  if (completion.Ok()) return true;
  const std::string what =
      fmt::format("{} {}: QP {:#x}, WQE {}, syndrome {:#04x}, vendor syndrome {:#04x}", NameOf(act),
                  NameOf(completion.status), completion.qpn, completion.wqe_index,
                  completion.syndrome, completion.vendor_syndrome);
  Fail(what);
  const std::lock_guard<std::mutex> lock(mutex);
  if (error == what) flushed = completion.syndrome == static_cast<uint8_t>(abi::Syndrome::kFlushed);
  return false;
}

}  // namespace ringpost::workloads
