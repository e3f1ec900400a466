#include "server/storage/folder/edit_code.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "server/core/codec/map_values.h"
#include "server/core/codec/value_lists.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"
#include "server/core/store/update_batch.h"

namespace waystar::storage {
namespace {

using core::Edit;
using core::kMaxNameBytes;
using core::ValueReader;
using core::ValueWriter;

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

// Stored in files: add values, never change any.
enum class Code : std::uint8_t {
  kBlockCells = 0,
  kUnblockCells = 1,
  kSetTerrain = 2,
  kPutObstacle = 3,
  kMoveObstacle = 4,
  kResizeObstacle = 5,
  kRemoveObstacle = 6,
  kPutPortal = 7,
  kRemovePortal = 8,
  kSwitchPortal = 9,
  kPutProfile = 10,
  kRemoveProfile = 11,
  kPutNodes = 12,
  kRemoveNodes = 13,
  kPutEdges = 14,
  kRemoveEdges = 15,
  kSetEnabled = 16,
  kPutMeshPortal = 17,
};

void WriteNames(const std::vector<std::string>& names, ValueWriter& to) {
  core::WriteList(names, to, [&](const std::string& name) { to.PutText(name); });
}

std::vector<std::string> ReadNames(ValueReader& from) {
  return core::ReadList(from, core::kAnyCount, [&] { return from.Text(kMaxNameBytes); });
}

void WriteNode(const core::WaypointNode& node, ValueWriter& to) {
  to.PutText(node.id);
  to.PutDouble(node.position.x);
  to.PutDouble(node.position.y);
  to.PutDouble(node.position.z);
  to.PutBool(node.enabled);
  core::WriteTags(node.tags, to);
  to.PutText(node.label);
}

core::WaypointNode ReadNode(ValueReader& from) {
  core::WaypointNode node;
  node.id = from.Text(kMaxNameBytes);
  node.position.x = from.Double();
  node.position.y = from.Double();
  node.position.z = from.Double();
  node.enabled = from.Bool();
  node.tags = core::ReadTags(from);
  node.label = from.Text(core::kMaxLabelBytes);
  return node;
}

void WriteEdgeName(const core::EdgeName& name, ValueWriter& to) {
  to.PutText(name.from);
  to.PutText(name.to);
  to.PutBool(name.one_way);
}

core::EdgeName ReadEdgeName(ValueReader& from) {
  core::EdgeName name;
  name.from = from.Text(kMaxNameBytes);
  name.to = from.Text(kMaxNameBytes);
  name.one_way = from.Bool();
  return name;
}

void WriteEdgeNames(const std::vector<core::EdgeName>& names, ValueWriter& to) {
  core::WriteList(names, to, [&](const core::EdgeName& name) { WriteEdgeName(name, to); });
}

std::vector<core::EdgeName> ReadEdgeNames(ValueReader& from) {
  return core::ReadList(from, core::kAnyCount, [&] { return ReadEdgeName(from); });
}

void WriteEdge(const core::WaypointEdge& edge, ValueWriter& to) {
  WriteEdgeName(edge.name, to);
  to.PutDouble(edge.cost);
  to.PutBool(edge.enabled);
  core::WriteTags(edge.tags, to);
}

core::WaypointEdge ReadEdge(ValueReader& from) {
  core::WaypointEdge edge;
  edge.name = ReadEdgeName(from);
  edge.cost = from.Double();
  edge.enabled = from.Bool();
  edge.tags = core::ReadTags(from);
  return edge;
}

class EditWriter {
 public:
  explicit EditWriter(ValueWriter& to) : to_(to) {}

  void operator()(const core::BlockCells& edit) {
    Begin(Code::kBlockCells);
    core::WriteShape(edit.shape, to_);
  }
  void operator()(const core::UnblockCells& edit) {
    Begin(Code::kUnblockCells);
    core::WriteShape(edit.shape, to_);
  }
  void operator()(const core::SetTerrain& edit) {
    Begin(Code::kSetTerrain);
    core::WriteShape(edit.shape, to_);
    to_.PutByte(static_cast<std::uint8_t>(edit.symbol));
  }
  void operator()(const core::PutObstacle& edit) {
    Begin(Code::kPutObstacle);
    core::WriteObstacle(edit.obstacle, to_);
    to_.PutBool(edit.lifetime.has_value());
    if (edit.lifetime) {
      to_.PutSigned(absl::ToInt64Nanoseconds(*edit.lifetime));
    }
    to_.PutBool(edit.replace);
  }
  void operator()(const core::MoveObstacle& edit) {
    Begin(Code::kMoveObstacle);
    to_.PutText(edit.id);
    to_.PutDouble(edit.dx);
    to_.PutDouble(edit.dy);
  }
  void operator()(const core::ResizeObstacle& edit) {
    Begin(Code::kResizeObstacle);
    to_.PutText(edit.id);
    core::WriteShape(edit.shape, to_);
  }
  void operator()(const core::RemoveObstacle& edit) {
    Begin(Code::kRemoveObstacle);
    to_.PutText(edit.id);
  }
  void operator()(const core::PutPortal& edit) {
    Begin(Code::kPutPortal);
    core::WritePortal(edit.portal, to_);
    to_.PutBool(edit.replace);
  }
  void operator()(const core::PutMeshPortal& edit) {
    Begin(Code::kPutMeshPortal);
    core::WriteMeshPortal(edit.portal, to_);
    to_.PutBool(edit.replace);
  }
  void operator()(const core::RemovePortal& edit) {
    Begin(Code::kRemovePortal);
    to_.PutText(edit.id);
  }
  void operator()(const core::SwitchPortal& edit) {
    Begin(Code::kSwitchPortal);
    to_.PutText(edit.id);
    to_.PutBool(edit.closed);
  }
  void operator()(const core::PutProfile& edit) {
    Begin(Code::kPutProfile);
    core::WriteProfile(edit.named, to_);
  }
  void operator()(const core::RemoveProfile& edit) {
    Begin(Code::kRemoveProfile);
    to_.PutText(edit.name);
  }
  void operator()(const core::PutNodes& edit) {
    Begin(Code::kPutNodes);
    core::WriteList(edit.nodes, to_, [&](const core::WaypointNode& node) { WriteNode(node, to_); });
    to_.PutBool(edit.replace);
  }
  void operator()(const core::RemoveNodes& edit) {
    Begin(Code::kRemoveNodes);
    WriteNames(edit.nodes, to_);
  }
  void operator()(const core::PutEdges& edit) {
    Begin(Code::kPutEdges);
    core::WriteList(edit.edges, to_, [&](const core::WaypointEdge& edge) { WriteEdge(edge, to_); });
    to_.PutBool(edit.replace);
  }
  void operator()(const core::RemoveEdges& edit) {
    Begin(Code::kRemoveEdges);
    WriteEdgeNames(edit.edges, to_);
  }
  void operator()(const core::SetEnabled& edit) {
    Begin(Code::kSetEnabled);
    WriteNames(edit.nodes, to_);
    WriteEdgeNames(edit.edges, to_);
    to_.PutBool(edit.enabled);
  }

 private:
  void Begin(Code code) { core::WriteEnum(code, to_); }

  ValueWriter& to_;
};

core::PutObstacle ReadPutObstacle(ValueReader& from) {
  core::PutObstacle edit{.obstacle = core::ReadObstacle(from)};
  if (from.Bool()) {
    edit.lifetime = absl::Nanoseconds(from.Signed(kLeast, kMost));
  }
  edit.replace = from.Bool();
  return edit;
}

core::MoveObstacle ReadMoveObstacle(ValueReader& from) {
  core::MoveObstacle edit{.id = from.Text(kMaxNameBytes)};
  edit.dx = from.Double();
  edit.dy = from.Double();
  return edit;
}

core::SetEnabled ReadSetEnabled(ValueReader& from) {
  core::SetEnabled edit{.nodes = ReadNames(from)};
  edit.edges = ReadEdgeNames(from);
  edit.enabled = from.Bool();
  return edit;
}

}  // namespace

void WriteEdit(const Edit& edit, ValueWriter& to) { std::visit(EditWriter(to), edit); }

// Relies on braced initializers being evaluated in order.
Edit ReadEdit(ValueReader& from) {
  const Code code = core::ReadEnum(from, Code::kPutMeshPortal);
  switch (code) {
    case Code::kBlockCells:
      return core::BlockCells{core::ReadShape(from)};
    case Code::kUnblockCells:
      return core::UnblockCells{core::ReadShape(from)};
    case Code::kSetTerrain:
      return core::SetTerrain{core::ReadShape(from), static_cast<char>(from.Byte())};
    case Code::kPutObstacle:
      return ReadPutObstacle(from);
    case Code::kMoveObstacle:
      return ReadMoveObstacle(from);
    case Code::kResizeObstacle:
      return core::ResizeObstacle{from.Text(kMaxNameBytes), core::ReadShape(from)};
    case Code::kRemoveObstacle:
      return core::RemoveObstacle{from.Text(kMaxNameBytes)};
    case Code::kPutPortal:
      return core::PutPortal{core::ReadPortal(from), from.Bool()};
    case Code::kPutMeshPortal:
      return core::PutMeshPortal{core::ReadMeshPortal(from), from.Bool()};
    case Code::kRemovePortal:
      return core::RemovePortal{from.Text(kMaxNameBytes)};
    case Code::kSwitchPortal:
      return core::SwitchPortal{from.Text(kMaxNameBytes), from.Bool()};
    case Code::kPutProfile:
      return core::PutProfile{core::ReadProfile(from)};
    case Code::kRemoveProfile:
      return core::RemoveProfile{from.Text(kMaxNameBytes)};
    case Code::kPutNodes:
      return core::PutNodes{core::ReadList(from, core::kAnyCount, [&] { return ReadNode(from); }),
                            from.Bool()};
    case Code::kRemoveNodes:
      return core::RemoveNodes{ReadNames(from)};
    case Code::kPutEdges:
      return core::PutEdges{core::ReadList(from, core::kAnyCount, [&] { return ReadEdge(from); }),
                            from.Bool()};
    case Code::kRemoveEdges:
      return core::RemoveEdges{ReadEdgeNames(from)};
    case Code::kSetEnabled:
      return ReadSetEnabled(from);
  }
  return {};
}

void WriteSummary(const core::ChangeSummary& summary, ValueWriter& to) {
  to.PutSigned(summary.changed_cells);
  to.PutSigned(summary.changed_bounds.x);
  to.PutSigned(summary.changed_bounds.y);
  to.PutSigned(summary.changed_bounds.width);
  to.PutSigned(summary.changed_bounds.height);
  to.PutSigned(summary.clipped_cells);
  to.PutSigned(summary.changed_nodes);
  to.PutSigned(summary.changed_edges);
}

core::ChangeSummary ReadSummary(ValueReader& from) {
  core::ChangeSummary summary;
  summary.changed_cells = from.Signed(kLeast, kMost);
  summary.changed_bounds.x = core::ReadInt(from);
  summary.changed_bounds.y = core::ReadInt(from);
  summary.changed_bounds.width = core::ReadInt(from);
  summary.changed_bounds.height = core::ReadInt(from);
  summary.clipped_cells = from.Signed(kLeast, kMost);
  summary.changed_nodes = from.Signed(kLeast, kMost);
  summary.changed_edges = from.Signed(kLeast, kMost);
  return summary;
}

void WriteFingerprint(const core::Fingerprint& fingerprint, ValueWriter& to) {
  to.PutNumber(fingerprint.high);
  to.PutNumber(fingerprint.low);
}

core::Fingerprint ReadFingerprint(ValueReader& from) {
  core::Fingerprint fingerprint;
  fingerprint.high = from.Number(core::kAnyNumber);
  fingerprint.low = from.Number(core::kAnyNumber);
  return fingerprint;
}

void WriteCommit(const core::LoggedCommit& logged, ValueWriter& to) {
  const core::Commit& commit = *logged.commit;
  to.PutNumber(commit.revision);
  core::WriteTime(commit.time, to);
  core::WriteList(commit.edits, to, [&](const Edit& edit) { WriteEdit(edit, to); });
  WriteSummary(commit.summary, to);
  to.PutNumber(commit.digest);
  to.PutText(logged.request_id);
  if (!logged.request_id.empty()) {
    WriteFingerprint(logged.fingerprint, to);
    to.PutBool(logged.request_time.has_value());
    if (logged.request_time) {
      core::WriteTime(*logged.request_time, to);
    }
  }
}

core::LoggedCommit ReadCommit(ValueReader& from) {
  core::Commit commit;
  commit.revision = from.Number(core::kAnyNumber);
  commit.time = core::ReadTime(from);
  commit.edits = core::ReadList(from, core::kAnyCount, [&] { return ReadEdit(from); });
  commit.summary = ReadSummary(from);
  commit.digest = from.Number(core::kAnyNumber);
  core::LoggedCommit logged{.commit = std::make_shared<const core::Commit>(std::move(commit))};
  logged.request_id = from.Text(core::kMaxRequestIdBytes);
  if (!logged.request_id.empty()) {
    logged.fingerprint = ReadFingerprint(from);
    if (from.Bool()) {
      logged.request_time = core::ReadTime(from);
    }
  }
  return logged;
}

}  // namespace waystar::storage
