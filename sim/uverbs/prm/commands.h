// commands.h: every command that the firmware has: its name, its smallest mailboxes, who may give
// it, and the function that carries it out. One file for each kind of object holds those.
#pragma once

#include <span>

#include "sim/uverbs/prm/layout/command.h"
#include "sim/uverbs/prm/state.h"

namespace ringpost::sim::uverbs::prm {

// What a command does to an object, and so by which method of DevX a program may give it.
enum class Verb : uint8_t { kGeneral, kCreate, kModify, kQuery, kDestroy, kKernelOnly };

struct CommandFacts {
  Opcode opcode;
  const char* name;
  Verb verb;
  Opcode creator;  // the command that makes such objects; its own for a general one
  uint16_t in_bytes;
  uint16_t out_bytes;
  Refusal (*run)(State& state, Call& call);
};

std::span<const CommandFacts> Commands();
// Null if there is none.
const CommandFacts* FindCommand(uint16_t opcode);

// hca_cap.cc, general.cc
Refusal QueryHcaCap(State& state, Call& call);
Refusal QueryAdapter(State& state, Call& call);
Refusal QueryIssi(State& state, Call& call);
Refusal QueryRoceAddress(State& state, Call& call);
Refusal Nop(State& state, Call& call);
// pd.cc, uar.cc
Refusal AllocPd(State& state, Call& call);
Refusal DeallocPd(State& state, Call& call);
Refusal AllocUar(State& state, Call& call);
Refusal DeallocUar(State& state, Call& call);
// mkey.cc
Refusal CreateMkey(State& state, Call& call);
Refusal QueryMkey(State& state, Call& call);
Refusal DestroyMkey(State& state, Call& call);
// cq.cc
Refusal CreateCq(State& state, Call& call);
Refusal QueryCq(State& state, Call& call);
Refusal ModifyCq(State& state, Call& call);
Refusal DestroyCq(State& state, Call& call);
// qp.cc, qp_transitions.cc
Refusal CreateQp(State& state, Call& call);
Refusal QueryQp(State& state, Call& call);
Refusal DestroyQp(State& state, Call& call);
Refusal Transit(State& state, Call& call);
// dct.cc
Refusal CreateDct(State& state, Call& call);
Refusal QueryDct(State& state, Call& call);
Refusal DrainDct(State& state, Call& call);
Refusal DestroyDct(State& state, Call& call);
// rmp.cc
Refusal CreateRmp(State& state, Call& call);
Refusal QueryRmp(State& state, Call& call);
Refusal ModifyRmp(State& state, Call& call);
Refusal DestroyRmp(State& state, Call& call);

}  // namespace ringpost::sim::uverbs::prm
