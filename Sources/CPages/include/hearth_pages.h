#pragma once

#include <stddef.h>

/// A page of the documentation in etc/, embedded when the program was built.
struct hearth_page {
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// Returns the page with this number, starting at 0, or `NULL` if there is no such page.
const struct hearth_page *hearth_find_page(size_t number);
