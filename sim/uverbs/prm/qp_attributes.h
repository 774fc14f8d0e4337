// qp_attributes.h: the attributes of a QP as its context (QPC) holds them and as sim/nic does: one
// table, read in both directions.
#pragma once

#include <cstdint>

#include "sim/nic/qp_states.h"
#include "sim/wire/codec.h"

namespace ringpost::sim::uverbs::prm {

// Everything but the state, from a context.
void ReadAttributes(const uint8_t* context, wire::Link link, QpAttributes* attributes);
// The same back, and the state.
void WriteAttributes(const QpAttributes& attributes, wire::Link link, uint8_t* context);

// The attributes (sim::Attribute) that these bits of opt_param_mask name.
uint32_t AttributesOf(uint32_t options);

// A path MTU's code (1 is 256 bytes), 0 where there is none.
uint32_t MtuBytes(uint32_t code);
uint32_t MtuCode(uint32_t bytes);

}  // namespace ringpost::sim::uverbs::prm
