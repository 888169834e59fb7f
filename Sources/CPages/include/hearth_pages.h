#pragma once

#include <stddef.h>

/// One of the pages for people in etc/, as of the time when the program was built.
struct hearth_page {
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// Returns the page with this number, counted from 0, or `NULL` if there are not that many.
const struct hearth_page *hearth_find_page(size_t number);
