#include "transport/bootstrap/bootstrap.h"

#include "transport/bootstrap/first_rank.h"
#include "transport/bootstrap/other_rank.h"

namespace ringpost::bootstrap {

Result<std::unique_ptr<Bootstrap>> Bootstrap::Join(const BootstrapSpec& spec) {
  if (spec.rank >= spec.ranks) {
    return Error{"rank " + std::to_string(spec.rank) + " of " + std::to_string(spec.ranks) +
                 " ranks: they count from 0"};
  }
  const Result<Rendezvous> rendezvous = ParseRendezvous(spec.rendezvous);
  if (!rendezvous.Ok()) return Error{rendezvous.Message()};
  if (spec.rank == 0) return FirstRank::Join(spec, rendezvous.Value());
  return OtherRank::Join(spec, rendezvous.Value());
}

}  // namespace ringpost::bootstrap
