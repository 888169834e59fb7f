"""The checks, by name. Each takes a stage, returns in a few words what it saw, and raises where something is wrong."""

CHECKS = {}


def check(name):
    def add(function):
        CHECKS[name] = function
        return function

    return add


from checks import kept_alive, crashes, ends, outbox, providers  # noqa: E402, F401
from checks import bad_replies, second_provider, sign_in, themselves  # noqa: E402, F401
