#include <fmt/format.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <istream>
#include <sstream>

#include "sim/uverbs/record/replay.h"

namespace ringpost::sim::uverbs::record {
namespace {

// Where a method has its object and its mailboxes; 0: it has none.
struct Carrier {
  uint16_t object, method, handle, in, out;
};
constexpr Carrier kCarriers[] = {
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, 0, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN,
     MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE,
     MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
     MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
     MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE,
     0, 0},
};

bool Number(const std::string& text, uint64_t* value) {
  char* end = nullptr;
  *value = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && *end == '\0';
}

bool Bytes(const std::string& hex, std::vector<uint8_t>* bytes) {
  bytes->clear();
  for (size_t at = 0; at + 1 < hex.size(); at += 2) {
    char* end = nullptr;
    const std::string two = hex.substr(at, 2);
    bytes->push_back(static_cast<uint8_t>(std::strtoul(two.c_str(), &end, 16)));
    if (end != two.c_str() + 2) return false;
  }
  return hex.size() % 2 == 0;
}

// ID:LENGTH:DATA:DATA AFTER[:MEMORY[:MEMORY AFTER]]
bool Take(const std::string& text, const Carrier& carrier, DevxCall* call) {
  std::istringstream words(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(words, part, ':');) parts.push_back(part);
  uint64_t id = 0, after = 0;
  if (parts.size() < 4 || !Number(parts[0], &id) || !Number(parts[3], &after)) return false;
  if (id == carrier.handle) call->handle = after;
  if (parts.size() == 4) return true;
  if (id == carrier.in) return Bytes(parts[4], &call->in);
  if (id == carrier.out) return Bytes(parts.back(), &call->out);
  return true;
}

// PROCESS ioctl FILE ERRNO OBJECT METHOD ATTRIBUTE...
bool ReadIoctl(const std::string& process, std::istringstream& words, DevxCall* call) {
  std::string file, error, object, method;
  words >> file >> error >> object >> method;
  uint64_t numbers[3];
  if (!Number(error, &numbers[0]) || !Number(object, &numbers[1]) || !Number(method, &numbers[2])) {
    return false;
  }
  call->file = process + " " + file;
  call->error = static_cast<int>(numbers[0]);
  call->object = static_cast<uint16_t>(numbers[1]);
  call->method = static_cast<uint16_t>(numbers[2]);
  for (const Carrier& carrier : kCarriers) {
    if (carrier.object != call->object || carrier.method != call->method) continue;
    for (std::string attribute; words >> attribute;) {
      if (!Take(attribute, carrier, call)) return false;
    }
    return carrier.in == 0 || (!call->in.empty() && !call->out.empty());
  }
  call->object = 0;  // none of DevX
  return true;
}

}  // namespace

Result<std::vector<DevxCall>> ReadRecord(std::istream& text) {
  std::vector<DevxCall> calls;
  std::string line;
  size_t number = 0;
  while (std::getline(text, line)) {
    ++number;
    if (text.eof())
      return Error{fmt::format("line {}: is cut off; the record is not whole", number)};
    std::istringstream words(line);
    std::string process, kind;
    words >> process >> kind;
    DevxCall call;
    call.line = number;
    if (kind == "ioctl" ? !ReadIoctl(process, words, &call)
                        : kind != "open" && kind != "close" && kind != "dup" && kind != "mmap" &&
                              kind != "write") {
      return Error{fmt::format("line {}: is no call of a record", number)};
    }
    if (call.object != 0) calls.push_back(std::move(call));
  }
  if (number == 0) return Error{"is no record: it has no line"};
  return calls;
}

}  // namespace ringpost::sim::uverbs::record
