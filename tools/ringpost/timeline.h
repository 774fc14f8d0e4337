// timeline.h: the way of one put as a table: `ringpost run --timeline`.
#pragma once

#include <string>

#include "workloads/runner.h"

namespace ringpost::tools {

// "72:105", a QP and the number of a WQE; empty: a put of median latency. Throws
// config::ConfigError.
workloads::TimelineWish ParseWish(const std::string& text);

// Throws config::ConfigError where the run has no such put.
std::string TimelineText(const workloads::TimelineWish& wish, const workloads::RunResult& result);

}  // namespace ringpost::tools
