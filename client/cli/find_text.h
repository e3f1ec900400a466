#pragma once

#include <cstddef>
#include <string>

#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Returns the name of an algorithm, such as "jump point search".
std::string AlgorithmName(v1::Algorithm algorithm);

// Writes the answer as one line of plain words: outcome and reason, steps, cost, revision, and how the search
// went.
std::string FindText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

bool HasPath(const v1::FindPathResponse& answer);

// Writes the path as the answer has it: directions "SE E", positions "0.5,0.5 1.5,1.5", or else cells "1,1
// 2,2 3,2"; over a waypoint graph ids of nodes, and a start or goal that is a position, "3.5,4 a b".
std::string PathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// Writes FindText and, if there is a path, PathText, each on a line of its own.
std::string FactsText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// Writes a line for the whole path, and a table of that width with one line for each leg.
std::string SummaryText(const v1::PathSummary& summary, std::size_t width);

// Returns true for a path over a waypoint graph.
bool IsOnGraph(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// Returns true for a path over a navigation mesh.
bool IsOnMesh(const v1::FindPathResponse& answer);

}  // namespace waystar::cli
