#pragma once

/// A socket on which the kernel tells of links, addresses and routes that come and go (rtnetlink(7)); -1 with errno
/// where there is none.
int hearth_open_route_socket(void);

/// Asks for all that is there: `type` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE. One at a time; each is answered by
/// messages that end with NLMSG_DONE. 0, or -1 with errno.
int hearth_ask_for_routes(int descriptor, unsigned short type);
