#pragma once

#include <string_view>

namespace waystar::inspect {

// The header that every call of the page bears, with any value. Pages of other sites cannot send it.
inline constexpr char kCallHeader[] = "X-Waystar-Inspect";

// Whether a request for this Host is for us, and not for a stranger's name that was made to lead here (DNS
// rebinding): an IP address or localhost, or `own_name`, each with or without a port.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Whether a page of this Origin may make calls: none, of a program that is no browser, or that of `host`.
bool IsOwnOrigin(std::string_view origin, std::string_view host);

}  // namespace waystar::inspect
