#include "tools/ringpost/exec_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/service/read_observation.h"
#include "tools/ringpost/error_line.h"
#include "tools/ringpost/exec_capture.h"
#include "tools/ringpost/exec_trace.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;
namespace service = sim::service;

using Json = nlohmann::ordered_json;

// By process, then in the order in which it opened devices.
std::vector<std::string> FilesOf(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (path.ends_with(suffix)) files.push_back(path);
  }
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return files;
}

std::vector<service::ObservedNic> NicsIn(const std::string& folder) {
  std::vector<service::ObservedNic> nics;
  for (const std::string& path : FilesOf(folder, sim::uverbs::kObservationSuffix)) {
    Result<service::ObservedNic> nic = service::ReadObservation(path);
    if (nic.Ok()) {
      nics.push_back(std::move(nic.Value()));
    } else {
      PrintError("ringpost exec: " + nic.Message());
    }
  }
  return nics;
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json CountersOf(const service::QpCounters& counters) {
  Json json = Json::object();
  service::ForEachCounter(counters, [&](const char* name, uint64_t value) { json[name] = value; });
  json["wqes_per_doorbell"] = Share(counters.wqes, counters.doorbells);
  json["doorbells_per_wqe"] = Share(counters.doorbells, counters.wqes);
  return json;
}

Json JsonOf(const service::ObservedNic& nic) {
  service::QpCounters all;
  Json qps = Json::array();
  for (const service::ObservedQp& qp : nic.qps) {
    all += qp.counters;
    Json json = {{"qpn", qp.qpn}};
    if (qp.peer_qpn != 0) json["peer_qpn"] = qp.peer_qpn;
    json.update(CountersOf(qp.counters));
    qps.push_back(std::move(json));
  }
  Json counters = Json::object();
  for (const auto& [name, value] : nic.counters) counters[name] = value;
  Json json = {{"pid", nic.pid}, {"program", nic.program}, {"device", nic.device}};
  json["counters"] = std::move(counters);
  json["all_qps"] = CountersOf(all);
  json["qps"] = std::move(qps);
  json["qps_not_listed"] = nic.qps_not_listed;
  return json;
}

std::string JsonText(const std::vector<service::ObservedNic>& nics,
                     const std::vector<std::string>& program, int status) {
  Json json = {{"version", kVersion}, {"program", program}, {"status", status}};
  json["nics"] = Json::array();
  for (const service::ObservedNic& nic : nics) json["nics"].push_back(JsonOf(nic));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A trace of which the begin is gone looks whole.
void TellLost(const service::ObservedNic& nic) {
  if (nic.steps_lost == 0) return;
  PrintError(fmt::format(
      "ringpost exec: --trace: of {} ({}) {} the last {} of {} steps are there; raise "
      "exec.trace_steps_count for more",
      nic.program, nic.pid, nic.device, nic.steps.size(), nic.steps.size() + nic.steps_lost));
}

}  // namespace

ExecOutputs::ExecOutputs(const ExecFiles& files, const std::string& config) {
  std::vector<std::string> taken;
  if (!config.empty()) taken.push_back(config);
  const auto open = [&taken](std::optional<OutputFile>& file, const char* option,
                             const std::string& path) {
    if (path.empty()) return;
    file.emplace(option, path, taken);
    taken.push_back(path);
  };
  open(json_, "--json", files.json);
  open(trace_, "--trace", files.trace);
  open(pcap_, "--pcap", files.pcap);
}

sim::uverbs::Observing ExecOutputs::Wanted(uint32_t steps) const {
  sim::uverbs::Observing wanted;
  wanted.counters = json_.has_value();
  wanted.steps = trace_ ? steps : 0;
  wanted.packets = pcap_.has_value();
  return wanted;
}

void ExecOutputs::Write(const std::string& folder, const std::vector<std::string>& program,
                        int status, sim::wire::Link link) {
  const std::vector<service::ObservedNic> nics = NicsIn(folder);
  if (json_) json_->Write(JsonText(nics, program, status));
  if (trace_) {
    std::ofstream out(trace_->pending_path(), std::ios::binary);
    WriteExecTrace(nics, out);
    if (!out.flush()) throw std::runtime_error("the trace could not be written");
    trace_->Commit();
    for (const service::ObservedNic& nic : nics) TellLost(nic);
  }
  if (pcap_) {
    const std::string error =
        WriteExecCapture(FilesOf(folder, sim::uverbs::kPacketsSuffix), link, pcap_->pending_path());
    if (!error.empty()) throw std::runtime_error(error);
    pcap_->Commit();
  }
}

}  // namespace ringpost::tools
