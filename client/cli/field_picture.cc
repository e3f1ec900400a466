#include "client/cli/field_picture.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/map_picture.h"

namespace waystar::cli {
absl::StatusOr<std::string> FieldPicture(const std::string& map, Overlay overlay, uint64_t revision,
                                         const DrawOptions& options, Session& session) {
  v1::ExportMapRequest request;
  request.set_map(map);
  request.set_format(v1::MAP_FORMAT_TEXT);
  const auto exported = session.client().ExportMap(request);
  if (!exported.ok()) {
    return exported.status();
  }
  const v1::MapInfo& info = exported->header.info();
  LeaveOutCellsBeyond(info.grid().width(), info.grid().height(), overlay);
  auto picture = MapPicture(*exported, overlay, WindowFor(options, session.io()), session.UsesColor());
  if (picture.ok() && info.revision() != revision) {
    absl::StrAppend(&*picture, "The picture shows revision ", info.revision(),
                    ", the answer is for revision ", revision, ".\n");
  }
  return picture;
}

void ShowFieldPicture(const std::string& map, Overlay overlay, uint64_t revision, const DrawOptions& options,
                      Session& session) {
  if (!options.picture) {
    return;
  }
  const auto picture = FieldPicture(map, std::move(overlay), revision, options, session);
  if (picture.ok()) {
    session.io().out << *picture;
  } else {
    session.Fail(picture.status());
  }
}

}  // namespace waystar::cli
