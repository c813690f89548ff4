# Everything goes through scripts/; `make help` lists it.
SECONDS ?= 60
PREFIX ?= /usr/local
export PORT SANDBOX_PORT PREFIX DESTDIR

.DEFAULT_GOAL := help
.PHONY: help deps build install deb systemd run test bare bench instructions operations soak browser testssl schemathesis hostile fuzz mutants compare tsan asan format lint schema

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 12

deps: ## install the Debian packages that are missing
	@scripts/deps test

build: ## build the release program into .build/release
	@scripts/build

install: ## put the built program, a configuration and the systemd units in place (PREFIX=/usr/local DESTDIR=)
	@scripts/install

deb: ## the Debian package, into .build/deb
	@scripts/deb

systemd: ## the Debian package in a container of Debian's systemd that is booted for it: installed, used, removed
	@scripts/systemd

run: ## the sandbox with Usher in front of it, and the story of one request (PORT=3128 SANDBOX_PORT=9080)
	@scripts/run

test: ## every test
	@scripts/test

bare: ## every test on a machine that has nothing: a minimal Debian, made once, and a clone of what is committed (root)
	@scripts/bare make test

bench: ## CPU, memory and start-up beside trafficserver, haproxy, squid and nghttpx; what interceptors cost
	@bench/run
	@bench/http2
	@bench/pipeline
	@bench/stepups

instructions: ## instruction counts of the engine's pieces against those written down
	@scripts/deps instructions
	@bench/count-instructions

operations: ## 50 reloads, 5 upgrades and a drain of the release build under load: what fails, and how soon it is ready
	@bench/operations

soak: ## a million requests, slow clients and a slow reader against the release build: what is held afterwards
	@bench/soak

browser: ## headless Chromium through the release build, plain and over TLS: a page, an event stream, a WebSocket
	@bench/browser

testssl: ## testssl.sh against the TLS that the release build speaks to clients
	@bench/testssl

schemathesis: build ## schemathesis against the admin API of a running daemon
	@USHER_BINARY=.build/release/usher scripts/schemathesis

hostile: build ## nearly right inputs of every kind against the release build, for SECONDS=25 each
	@USHER_BINARY=.build/release/usher scripts/hostile $(if $(filter command line environment,$(origin SECONDS)),--seconds $(SECONDS))

fuzz: ## every fuzz target for SECONDS=60
	@scripts/deps build
	@scripts/fuzz $(SECONDS)

mutants: ## small faults in a copy of the sources, one at a time: which of them the tests notice (half an hour)
	@scripts/deps test
	@scripts/mutants

compare: ## whether the core does what it did at BASE=COMMIT: its tests' conversations and 10,000 simulations, byte for byte
	@scripts/compare $(BASE)

tsan: ## unit and end-to-end tests under the thread sanitizer
	@scripts/sanitize thread

asan: ## unit and end-to-end tests under the address sanitizer
	@scripts/sanitize address

format: ## bring every Swift file into the house's format
	@swift format format -i -r Sources Tests bench Package.swift

lint: ## warn about files that are not
	@swift format lint --strict -r Sources Tests bench Package.swift

schema: ## write what the key table generates: config/usher.schema.json and docs/reference.md
	@swift build --product usher
	@"$$(swift build --show-bin-path)/usher" check --print-schema >config/usher.schema.json
	@"$$(swift build --show-bin-path)/usher" check --print-reference >docs/reference.md
