// fabric_fixture.h: a fabric with a name of its own, of which nothing may be left in the end.
#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "sim/service/fabric_segment.h"

namespace ringpost {

inline sim::service::DeviceInfo InfinibandDevice(uint16_t lid) {
  sim::wire::Gid gid{0xfe, 0x80};
  gid[15] = static_cast<uint8_t>(lid);
  return {"ib" + std::to_string(lid), lid, gid, sim::wire::Link::kInfiniband};
}

inline sim::service::DeviceInfo RoceDevice(uint8_t number) {
  return {"roce" + std::to_string(number), 0, sim::wire::MappedGid(10, 0, 0, number),
          sim::wire::Link::kEthernet};
}

struct NamedFabric {
  // Not by process id: in a namespace of few processes the next run has the same one, and would
  // meet what a killed run has left.
  sim::service::FabricSpec spec{
      .name = "test." + std::to_string(std::random_device()()) + "." +
              boost::unit_test::framework::current_test_case().p_name.get().substr(0, 60),
      .ring_cells = 256};
  const std::string path = sim::service::FabricSegment::PathOf(spec.name);

  ~NamedFabric() {
    BOOST_TEST(!IsThere());
    std::filesystem::remove(path);
  }

  bool IsThere() const { return std::filesystem::exists(path); }

  std::unique_ptr<sim::service::FabricSegment> Open() const {
    auto fabric = sim::service::FabricSegment::Open(spec);
    if (!fabric.Ok()) BOOST_TEST_MESSAGE(fabric.Message());
    return fabric.Ok() ? std::move(fabric.Value()) : nullptr;
  }
};

}  // namespace ringpost
