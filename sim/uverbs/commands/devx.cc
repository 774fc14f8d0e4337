// DevX: raw firmware commands, objects made by them, and the memory that they name. What a mailbox
// means is sim/uverbs/prm's; here are the attributes that carry it.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>

#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {

// No rows yet: every method of these objects is answered EPROTONOSUPPORT, as by a kernel without
// DevX, and programs go on without.
MethodRows DevxMethods() { return {}; }

}  // namespace ringpost::sim::uverbs
