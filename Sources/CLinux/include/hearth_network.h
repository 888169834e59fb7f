#pragma once

/// A socket on which the kernel tells of new addresses and routes (rtnetlink(7)); -1 with errno where there is none.
int hearth_open_route_socket(void);

/// Takes what has been told, without waiting. 1: an address or a route was added, 0: nothing of the kind,
/// -1: with errno.
int hearth_take_route_news(int descriptor);
