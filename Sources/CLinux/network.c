#include "hearth_network.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
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

static void copy_address(const struct sockaddr *address, __be32 *bytes, __be16 *port) {
  if (address->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    memcpy(bytes, &six->sin6_addr, sizeof six->sin6_addr);
    *port = six->sin6_port;
  } else {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    memcpy(bytes, &four->sin_addr, sizeof four->sin_addr);
    *port = four->sin_port;
  }
}

int hearth_find_tcp_socket(
    const struct sockaddr *source, const struct sockaddr *target, unsigned int *user, unsigned int *inode) {
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
  } request;
  memset(&request, 0, sizeof request);
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = source->sa_family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  copy_address(source, request.body.id.idiag_src, &request.body.id.idiag_sport);
  copy_address(target, request.body.id.idiag_dst, &request.body.id.idiag_dport);

  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (descriptor < 0) return -1;
  union {
    struct nlmsghdr header;
    char bytes[8192];
  } answer;
  ssize_t count = -1;
  // Do not wait, because the kernel has already answered when send returns.
  if (send(descriptor, &request, sizeof request, 0) >= 0) count = recv(descriptor, &answer, sizeof answer, MSG_DONTWAIT);
  int reason = errno;
  close(descriptor);
  errno = reason;
  if (count < 0) return -1;
  errno = ENOENT;
  if (!NLMSG_OK(&answer.header, (size_t)count) || answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return -1;
  const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
  // If there is no such connection, the kernel may instead return a socket that listens on the source.
  if (found->id.idiag_dport != request.body.id.idiag_dport) return -1;
  *user = found->idiag_uid;
  *inode = found->idiag_inode;
  return 0;
}
