// Which pages are this server's own.
#pragma once

#include <string>
#include <string_view>

namespace waystar::rpc {

// Returns the host of HOST:PORT, without the brackets of an IPv6 address.
std::string NameOfHost(std::string_view host);

// Returns true if `host`, as a request names it with or without a port, is an IP address, localhost or
// `own_name`. Any other name may be a foreign one that was made to lead to this server (DNS rebinding): a
// page below it is not ours, although the browser calls it one of the same origin.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Returns true if `origin` is that of a page that this server has served at `host`, a host for which
// IsOwnHost holds, encrypted or not.
bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted);

}  // namespace waystar::rpc
