#pragma once

#include <string_view>

namespace waystar::inspect {

// The header that every call of the page bears, with any value. Pages of other sites cannot send it.
inline constexpr char kCallHeader[] = "X-Waystar-Inspect";

// Whether a request for this Host is for us, and not for a foreign name that was made to lead here (DNS
// rebinding): it is an IP address, localhost or `own_name`, each with or without a port.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Whether a page of this Origin may make calls: it is that of `host`, or absent, as from a program that is no
// browser.
bool IsOwnOrigin(std::string_view origin, std::string_view host);

}  // namespace waystar::inspect
