#pragma once

#include <string_view>

namespace waystar::inspect {

// An RPC that the page may call.
struct Method {
  enum class Kind {
    kQuestion,
    // It changes a map.
    kUpdate,
    // It streams: a whole map or search, or what never ends by itself.
    kTransfer,
    kWatch,
  };

  // "waystar.v1.PathService/FindPath".
  std::string_view name;
  Kind kind;

  bool Streams() const { return kind == Kind::kTransfer || kind == Kind::kWatch; }
};

// Finds an RPC. Null if the page has no business with it.
const Method* FindMethod(std::string_view name);

}  // namespace waystar::inspect
