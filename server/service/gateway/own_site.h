// Detection of the server's own pages.
#pragma once

#include <string>
#include <string_view>

namespace waystar::rpc {

// Returns the host of HOST:PORT, without the brackets of an IPv6 address.
std::string NameOfHost(std::string_view host);

// Returns true if `host`, from a request, with or without a port, is an IP address, localhost or `own_name`.
// Any other name may be a foreign one that resolves to this server (DNS rebinding): its pages are not ours,
// although the browser regards them as same-origin.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Returns true if `origin` is that of a page served by this server at `host`, encrypted or not. REQUIRES:
// IsOwnHost is true of `host`.
bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted);

}  // namespace waystar::rpc
