#include "server/rpc/maps/portal_listing.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/portal.h"
#include "server/core/map/portal_table.h"
#include "server/rpc/wire/convert_portals.h"

namespace waystar::rpc {

absl::Status ListMapPortals(const core::MapStore& store, const v1::ListPortalsRequest& request,
                            v1::ListPortalsResponse& response) {
  constexpr int kDefaultPage = 100;
  constexpr int kMaxPage = 1000;
  if (request.page_size() < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "page_size",
                           absl::StrCat("a page has at least 1 portal, not ", request.page_size()));
  }
  if (!request.page_token().empty() && !core::CheckPortalId(request.page_token()).ok()) {
    return InvalidArgument(ErrorReason::kBadValue, "page_token", "this is no token of an earlier page");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(*snapshot));
  response.set_revision(snapshot->revision);
  const int size = request.page_size() == 0 ? kDefaultPage : std::min(request.page_size(), kMaxPage);
  snapshot->grid().portals().VisitAfter(request.page_token(), [&](const core::Portal& portal) {
    if (response.portals_size() == size) {
      response.set_next_page_token(response.portals(size - 1).id());
      return false;
    }
    FillPortal(portal, *response.add_portals());
    return true;
  });
  return absl::OkStatus();
}

}  // namespace waystar::rpc
