#pragma once

#include <sys/socket.h>

/// A socket on which the kernel tells of links, addresses and routes that come and go (rtnetlink(7)); -1 with errno
/// where there is none.
int hearth_open_route_socket(void);

/// Asks for all that is there: `type` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE. One at a time; each is answered by
/// messages that end with NLMSG_DONE. 0, or -1 with errno.
int hearth_ask_for_routes(int descriptor, unsigned short type);

/// Asks the kernel for the TCP socket of this machine that is connected from `source` to `target`, two addresses of IPv4 or of
/// IPv6 (sock_diag(7)). 0 with its user, and its inode, which is 0 where no process has it open any more; -1 with errno,
/// ENOENT both where there is none and where the kernel answers no such questions.
int hearth_find_tcp_socket(
    const struct sockaddr *source, const struct sockaddr *target, unsigned int *user, unsigned int *inode);
