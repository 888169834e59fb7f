#pragma once

#include <stddef.h>

/// One of the pages for people in etc/, as the text that it was when the program was built.
struct hearth_page {
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// The page with this number, counted from 0. `NULL` if there are not so many.
const struct hearth_page *hearth_find_page(size_t number);
