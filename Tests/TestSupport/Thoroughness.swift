import Glibc

/// Whether the suites that compute for long do all they can: `make torture` sets `HEARTH_THOROUGH`. `make test` takes a
/// sample, the same each time.
package let isThorough = getenv("HEARTH_THOROUGH") != nil
