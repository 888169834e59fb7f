#ifndef HEARTH_EMPTY_ICU_H
#define HEARTH_EMPTY_ICU_H

/// GRDB imports Foundation, and a static Foundation brings 34 MB of ICU data: names, calendars and sort orders of all
/// languages. hearthd formats no dates and sorts no words, so it never reads them. Linked into a release program, this
/// target takes their place with a package that contains no data. Such a program must not use Foundation's formatters,
/// calendars, locales and regular expressions.

#endif
