"""The checks, by name. Each takes a stage, returns in a few words what it saw, and raises where something is wrong."""

CHECKS = {}
# Those that run where none are named.
USUAL = []


def check(name, by_default=True):
    def add(function):
        CHECKS[name] = function
        if by_default:
            USUAL.append(name)
        return function

    return add


from checks import kept_alive, crashes, ends, outbox, providers  # noqa: E402, F401
from checks import bad_replies, clients, discovery, helpers, mail, metrics, oidc_agent, other_programs, pages  # noqa: E402, F401
from checks import rotations, sandboxes, second_provider, sign_in, themselves  # noqa: E402, F401
