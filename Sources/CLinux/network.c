#include "hearth_network.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int hearth_open_route_socket(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address;
  memset(&address, 0, sizeof address);
  address.nl_family = AF_NETLINK;
  address.nl_groups =
      RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
  }
  return descriptor;
}

int hearth_ask_for_routes(int descriptor, unsigned short type) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg family;
  } request;
  memset(&request, 0, sizeof request);
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.family);
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.family.rtgen_family = AF_UNSPEC;
  return send(descriptor, &request, request.header.nlmsg_len, 0) < 0 ? -1 : 0;
}
