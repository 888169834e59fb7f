#pragma once

#include <sys/socket.h>

/// Returns a socket on which the kernel reports changes of links, addresses and routes (rtnetlink(7)), or -1 with errno
/// if there is none.
int hearth_open_route_socket(void);

/// Requests everything that exists now. `type` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE. Only one request at a time;
/// each is answered by messages that end with NLMSG_DONE. Returns 0, or -1 with errno.
int hearth_ask_for_routes(int descriptor, unsigned short type);

/// Asks the kernel for the TCP socket of this machine that is connected from `source` to `target`, which are both IPv4
/// or both IPv6 addresses (sock_diag(7)). Returns 0 with its user and its inode, which is 0 if no process has it open
/// any more, or -1 with errno: ENOENT both if there is none and if the kernel does not answer such questions.
int hearth_find_tcp_socket(
    const struct sockaddr *source, const struct sockaddr *target, unsigned int *user, unsigned int *inode);
