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
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
  }
  return descriptor;
}

int hearth_take_route_news(int descriptor) {
  union {
    struct nlmsghdr header;
    char bytes[16384];
  } buffer;
  int news = 0;
  for (;;) {
    ssize_t count = recv(descriptor, &buffer, sizeof buffer, 0);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return news;
      // Messages were lost: any of them may have been good news.
      if (errno == ENOBUFS) {
        news = 1;
        continue;
      }
      return -1;
    }
    int rest = (int)count;
    for (struct nlmsghdr *message = &buffer.header; NLMSG_OK(message, rest); message = NLMSG_NEXT(message, rest)) {
      if (message->nlmsg_type == RTM_NEWADDR || message->nlmsg_type == RTM_NEWROUTE) news = 1;
    }
  }
}
