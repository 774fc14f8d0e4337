// qp_modify.h: MODIFY_QP in both forms, and QUERY_QP.
#pragma once

#include "sim/uverbs/call.h"
#include "sim/uverbs/context.h"

namespace ringpost::sim::uverbs {

int ModifyQp(Context& context, const Command& command);
// Its provider's answer has a DCT's number.
int ModifyQpExtended(Context& context, const Command& command);
int QueryQp(Context& context, const Command& command);

}  // namespace ringpost::sim::uverbs
