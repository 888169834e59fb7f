#ifndef HEARTH_EMPTY_ICU_H
#define HEARTH_EMPTY_ICU_H

/// GRDB imports Foundation, and a static Foundation brings 34 MB of ICU data: names, calendars and sort orders of all
/// languages. hearthd never uses this data, so in a release build, this target replaces it with an empty package. A
/// program that links this target must not use Foundation's formatters, calendars, locales or regular expressions.

#endif
