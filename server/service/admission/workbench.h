// Working memory of the thread that serves a call.
#pragma once

#include "server/core/query/query_scratch.h"

namespace waystar::rpc {

using Workbench = core::QueryScratch;

}  // namespace waystar::rpc
