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

// Answers about fields of costs, rays and samples.

// Return true for answers about a waypoint graph. Answers about grids always have a region or a cell.
bool IsOnGraph(const v1::FindReachableResponse& answer);
bool IsOnGraph(const v1::ComputeFlowFieldResponse& answer);
bool IsOnGraph(const v1::CastRayResponse& answer);

// List nodes or polygons, those of least cost first, as a table of that width, and count them.
std::string ReachText(const v1::FindReachableResponse& answer, bool is_on_mesh, std::size_t width);
std::string FlowText(const v1::ComputeFlowFieldResponse& answer, bool is_on_mesh, std::size_t width);

// Says what is in the way of a ray and where: "Blocked by crane after 0.25 of the way, at 3,0 (revision 2)".
// REQUIRES: the ray is blocked.
std::string GraphRayText(const v1::CastRayRequest& request, const v1::CastRayResponse& answer);

// Says what a path has to pass: a line for all, a table of the blockers with that width, and the path.
std::string ExplanationText(const v1::ExplainPathRequest& request, const v1::ExplainPathResponse& answer,
                            std::size_t width);

// "4.5,0 on pier -> market, 0.25 of it".
std::string EdgePointText(const v1::EdgePoint& point);

// Says what a probe of a surface has found.
std::string SurfaceText(const v1::SurfaceProbe& probe, const v1::SurfaceResult& result);

}  // namespace waystar::cli
