"""The checks, by name. Each takes a stage, returns a short summary, and raises if something is wrong."""

CHECKS = {}
# The checks that run if none are named.
USUAL = []


def check(name, by_default=True):
    def add(function):
        CHECKS[name] = function
        if by_default:
            USUAL.append(name)
        return function

    return add


from checks import kept_alive, crashes, ends, outbox, providers  # noqa: E402, F401
from checks import aws, bad_replies, clients, discovery, helpers, mail, metrics, netrc, oidc_agent, other_programs, pages  # noqa: E402, F401
from checks import rotations, sandboxes, second_provider, sign_in, themselves, workflows  # noqa: E402, F401
