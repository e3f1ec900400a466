#pragma once

#include <string_view>

namespace waystar::inspect {

// An RPC that the page may call.
struct Method {
  enum class Kind {
    kQuestion,
    // Changes a map.
    kUpdate,
    // Streams: a whole map or search, and what never ends by itself.
    kTransfer,
    kWatch,
  };

  // "waystar.v1.PathService/FindPath".
  std::string_view name;
  Kind kind;

  bool Streams() const { return kind == Kind::kTransfer || kind == Kind::kWatch; }
};

// Nothing if the page has no business with that RPC.
const Method* FindMethod(std::string_view name);

}  // namespace waystar::inspect
