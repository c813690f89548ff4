# Everything goes through scripts/; `make help` lists it.
SECONDS ?= 60
export PORT SANDBOX_PORT

.DEFAULT_GOAL := help
.PHONY: help deps build run test bench fuzz tsan asan format lint

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 10

deps: ## install the Debian packages that are missing
	@scripts/deps test

build: ## build the release program into .build/release
	@scripts/build

run: ## the sandbox with Usher in front of it, and the story of one request (PORT=3128 SANDBOX_PORT=9080)
	@scripts/run

test: ## every test
	@scripts/test

bench: ## CPU, memory and start-up beside trafficserver, haproxy and squid
	@bench/run

fuzz: ## every fuzz target for SECONDS=60
	@scripts/deps build
	@scripts/fuzz $(SECONDS)

tsan: ## unit and end-to-end tests under the thread sanitizer
	@scripts/sanitize thread

asan: ## unit and end-to-end tests under the address sanitizer
	@scripts/sanitize address

format: ## bring every Swift file into the house's format
	@swift format format -i -r Sources Tests Package.swift

lint: ## complain about files that are not
	@swift format lint --strict -r Sources Tests Package.swift
