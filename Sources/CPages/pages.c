#include "hearth_pages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char terminal[] = {
#embed "../../etc/docs/terminal.md"
};
static const unsigned char helpers[] = {
#embed "../../etc/docs/helpers.md"
};
static const unsigned char keep_your_token[] = {
#embed "../../etc/docs/keep-your-token.md"
};
static const unsigned char programs[] = {
#embed "../../etc/docs/programs.md"
};
static const unsigned char operators[] = {
#embed "../../etc/docs/operators.md"
};
static const unsigned char servers[] = {
#embed "../../etc/docs/servers.md"
};
static const unsigned char troubleshooting[] = {
#embed "../../etc/docs/troubleshooting.md"
};
static const unsigned char providers[] = {
#embed "../../etc/hearth/providers.md"
};
static const unsigned char config[] = {
#embed "../../etc/hearth/config.toml"
};

static const struct hearth_page pages[] = {
    {"terminal", terminal, sizeof terminal},
    {"helpers", helpers, sizeof helpers},
    {"keep-your-token", keep_your_token, sizeof keep_your_token},
    {"programs", programs, sizeof programs},
    {"operators", operators, sizeof operators},
    {"servers", servers, sizeof servers},
    {"troubleshooting", troubleshooting, sizeof troubleshooting},
    {"providers", providers, sizeof providers},
    {"config", config, sizeof config},
};

const struct hearth_page *hearth_find_page(size_t number) {
    return number < sizeof pages / sizeof *pages ? &pages[number] : NULL;
}
