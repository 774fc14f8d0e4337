#include "sim/uverbs/prm/commands.h"

#include "sim/uverbs/prm/layout/hca_cap.h"

namespace ringpost::sim::uverbs::prm {
namespace {

using enum Opcode;
using enum Verb;

constexpr uint16_t kShort = kHeaderBytes;

constexpr CommandFacts kCommands[] = {
    {kQueryHcaCap, "QUERY_HCA_CAP", kGeneral, kQueryHcaCap, kShort, kCapAt + kCapBytes,
     QueryHcaCap},
    {kQueryAdapter, "QUERY_ADAPTER", kGeneral, kQueryAdapter, kShort, adapter::kBytes,
     QueryAdapter},
    {kQueryIssi, "QUERY_ISSI", kGeneral, kQueryIssi, kShort, issi::kBytes, QueryIssi},
    {kQueryRoceAddress, "QUERY_ROCE_ADDRESS", kGeneral, kQueryRoceAddress, kShort,
     roce_address::kEntryAt + roce_address::kBytes, QueryRoceAddress},
    {kNop, "NOP", kGeneral, kNop, kShort, kShort, Nop},
    {kCreateMkey, "CREATE_MKEY", kCreate, kCreateMkey, mkc::kMailboxBytes, kShort, CreateMkey},
    {kQueryMkey, "QUERY_MKEY", kQuery, kCreateMkey, kShort, kContextAt + mkc::kBytes, QueryMkey},
    {kDestroyMkey, "DESTROY_MKEY", kDestroy, kCreateMkey, kShort, kShort, DestroyMkey},
    {kCreateCq, "CREATE_CQ", kCreate, kCreateCq, cqc::kMailboxBytes, kShort, CreateCq},
    {kDestroyCq, "DESTROY_CQ", kDestroy, kCreateCq, kShort, kShort, DestroyCq},
    {kQueryCq, "QUERY_CQ", kQuery, kCreateCq, kShort, kContextAt + cqc::kBytes, QueryCq},
    {kModifyCq, "MODIFY_CQ", kModify, kCreateCq, cqc::kMailboxBytes, kShort, ModifyCq},
    {kCreateQp, "CREATE_QP", kCreate, kCreateQp, qpc::kCreateBytes, kShort, CreateQp},
    {kDestroyQp, "DESTROY_QP", kDestroy, kCreateQp, kShort, kShort, DestroyQp},
    {kRst2Init, "RST2INIT_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {kInit2Rtr, "INIT2RTR_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {kRtr2Rts, "RTR2RTS_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {kRts2Rts, "RTS2RTS_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {kSqErr2Rts, "SQERR2RTS_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {k2Err, "2ERR_QP", kModify, kCreateQp, kShort, kShort, Transit},
    {k2Rst, "2RST_QP", kModify, kCreateQp, kShort, kShort, Transit},
    {kInit2Init, "INIT2INIT_QP", kModify, kCreateQp, qpc::kTransitionBytes, kShort, Transit},
    {kQueryQp, "QUERY_QP", kQuery, kCreateQp, kShort, qpc::kTransitionBytes, QueryQp},
    {kCreateDct, "CREATE_DCT", kCreate, kCreateDct, dctc::kAt + dctc::kBytes, kShort, CreateDct},
    {kDestroyDct, "DESTROY_DCT", kDestroy, kCreateDct, kShort, kShort, DestroyDct},
    {kDrainDct, "DRAIN_DCT", kKernelOnly, kCreateDct, kShort, kShort, DrainDct},
    {kQueryDct, "QUERY_DCT", kQuery, kCreateDct, kShort, kContextAt + dctc::kBytes, QueryDct},
    {kAllocPd, "ALLOC_PD", kCreate, kAllocPd, kShort, kShort, AllocPd},
    {kDeallocPd, "DEALLOC_PD", kDestroy, kAllocPd, kShort, kShort, DeallocPd},
    {kAllocUar, "ALLOC_UAR", kKernelOnly, kAllocUar, kShort, kShort, AllocUar},
    {kDeallocUar, "DEALLOC_UAR", kKernelOnly, kAllocUar, kShort, kShort, DeallocUar},
    {kCreateRmp, "CREATE_RMP", kCreate, kCreateRmp, rmpc::kCreateBytes, kShort, CreateRmp},
    {kModifyRmp, "MODIFY_RMP", kModify, kCreateRmp, rmpc::kModifyBytes, kShort, ModifyRmp},
    {kDestroyRmp, "DESTROY_RMP", kDestroy, kCreateRmp, kShort, kShort, DestroyRmp},
    {kQueryRmp, "QUERY_RMP", kQuery, kCreateRmp, kShort, rmpc::kCreateBytes, QueryRmp},
};

}  // namespace

std::span<const CommandFacts> Commands() { return kCommands; }

const CommandFacts* FindCommand(uint16_t opcode) {
  for (const CommandFacts& command : kCommands) {
    if (static_cast<uint16_t>(command.opcode) == opcode) return &command;
  }
  return nullptr;
}

}  // namespace ringpost::sim::uverbs::prm
