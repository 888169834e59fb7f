#pragma once

#include <sys/socket.h>

/// Opens a socket on which the kernel reports changes to links, addresses and routes (rtnetlink(7)). Returns -1 and
/// sets errno on failure.
int hearth_open_route_socket(void);

/// Requests a list of all links, addresses or routes (`type` RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE). The list ends
/// with NLMSG_DONE and must be read before the next request. Returns 0, or -1 with errno.
int hearth_ask_for_routes(int descriptor, unsigned short type);

/// Finds the TCP socket in this network namespace that is connected from `source` to `target`, both IPv4 or both IPv6
/// (sock_diag(7)). Returns 0 and sets the socket's user and inode. The inode is 0 if no process has the socket open.
/// Returns -1 with errno on failure: ENOENT if there is no such socket or the kernel rejects the query.
int hearth_find_tcp_socket(
    const struct sockaddr *source, const struct sockaddr *target, unsigned int *user, unsigned int *inode);
