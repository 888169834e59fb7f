#include <stdint.h>

#include "hearth_empty_icu.h"

#ifdef HEARTH_RELEASE

/// A package of ICU data without entries, like the one in ICU's own stubdata.cpp. The layout is that of `DataHeader` in
/// udatamem.h, followed by the table of contents.
const struct icu_package {
  uint16_t header_size;
  uint8_t magic[2];
  uint16_t info_size, reserved_word;
  uint8_t is_big_endian, charset_family, size_of_character, reserved_byte;
  uint8_t data_format[4], format_version[4], data_version[4];
  uint8_t padding[8];
  uint32_t entry_count, reserved;
} hearth_empty_icu __attribute__((aligned(16))) = {
    .header_size = 32, .magic = {0xda, 0x27}, .info_size = 20, .size_of_character = 2,
    .data_format = {'T', 'o', 'C', 'P'}, .format_version = {1}};

/// ICU looks for a name with its major version, which depends on the toolchain (76 in Swift 6.3).
#define NAME(version) extern const struct icu_package icudt##version##_dat __attribute__((alias("hearth_empty_icu")))
NAME(74);
NAME(75);
NAME(76);
NAME(77);
NAME(78);

#endif
