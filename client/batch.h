// Batches of path queries, which share everything but their ends.
#pragma once

#include "waystar/v1/path_service.pb.h"

namespace waystar::client {

// Sets the fields that the queries of a batch share to those of `query`: all but its start and goals. An
// inline map is ignored.
void ShareFields(const v1::FindPathRequest& query, v1::FindPathsRequest& batch);

// Adds a query with the start and the goals of `query`.
void AddEnds(const v1::FindPathRequest& query, v1::FindPathsRequest& batch);

}  // namespace waystar::client
