# All tasks of this repository. Missing tools are installed or built once, and kept outside the tree (HAGGLE_CACHE,
# by default ~/.cache/haggle).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: leaks arena-load help demo test nightly program idl generate localnet lint test-rust test-fuzz test-go test-chains test-faults test-anchor test-mcp verify verify-engine engine deploy cu \
    cross portable go-get fuzz-parsers snapshot bench bench-engine negmas negmas-domains load gateway-load hire-load hire-kills pictures schemas yellowstone differential faults fuzz mutants fmt clean prerequisites validator record-validator anchor-packages \
    postgresql sqlc browser test-gateway-api image

export HAGGLE_CACHE := $(or $(HAGGLE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/haggle)
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin:/usr/local/go/bin

# Cargo and rustup take the Rust version from the folder they run in.
wrapper = RUSTC_WORKSPACE_WRAPPER="$(CURDIR)/toolchain/$(1)"
program := cd program && $(call wrapper,rustc-here) CARGO_TARGET_DIR="$$HAGGLE_CACHE/target/program"
engine := cd program/wasm && $(call wrapper,rustc-here) CARGO_TARGET_DIR="$$HAGGLE_CACHE/target/engine-host"
fuzz := cd program/fuzz && $(call wrapper,rustc-here) CARGO_TARGET_DIR="$$HAGGLE_CACHE/target/fuzz"
# SQLite is C, translated to Go: it is slow with the race detector, which cannot follow its memory.
race := -race -gcflags=modernc.org/...=-race=false
# Many packages wait for a chain or a database, so more of them run at once than there are processors.
packages := -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 3 / 2)))
# Its time passes as on the clusters: blocks every 0.4 seconds, blockhashes that live for a minute.
validator := HAGGLE_CHAIN=$(or $(HAGGLE_CHAIN),validator)
clippy := CLIPPY_ARGS=-Dwarnings $(call wrapper,clippy-here) cargo build --locked --all-targets

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## two agents bargain on a chain in the process, and settle
	@toolchain/demo $(ARGS)

test: program anchor-packages postgresql sqlc browser lint cross portable fuzz-parsers test-rust test-fuzz test-go test-chains test-faults test-anchor ## build what is missing, lint, and run every test

nightly: export ALL := 1
nightly: verify-engine validator test-chains leaks differential fuzz fuzz-parsers faults mutants portable go-get test-gateway-api ## runs of hours: long random runs, 500 negotiations under faults, mutation testing

program: prerequisites ## build the on-chain program: sdk/localnet/haggle.so
	@toolchain/build-program

idl: prerequisites ## write the IDL, Anchor.toml and the SDK's fixtures from the program's table
	@$(program) cargo run --locked --quiet --package haggle-idl

pictures: program browser ## draw docs/offers.svg (from a run of the demo), docs/load.svg (from docs/load.csv), those of docs/RESEARCH.md, and the arena
	@go run ./cmd/haggle demo --svg docs/offers.svg >/dev/null
	@HAGGLE_WRITE_PICTURES=1 go test -count=1 -run TestThePictureIsUpToDate ./tests/load
	@go run ./internal/lab/research docs
	@HAGGLE_ARENA_PICTURES="$(CURDIR)/docs" go test -count=1 -run TestSpectatorsWatchInABrowser ./tests/arena

schemas: ## write docs/schemas: the JSON Schemas of every command's --json, and of HIRE's messages
	@HAGGLE_WRITE_SCHEMAS=1 go test -count=1 -run 'Test(Hire)?SchemasAreUpToDate' ./cmd/haggle

generate: prerequisites sqlc browser ## write the generated files: the SDK's from the IDL, query functions from their statements, pages from their templates
	@echo "==> go generate"
	@go generate ./...

image: ## build the image of compose.yaml, and run the demonstration in it: needs Docker
	@toolchain/image

localnet: ## run a local chain with the program loaded until interrupted
	@go build -o "$$HAGGLE_CACHE/bin/haggle" ./cmd/haggle
	@exec "$$HAGGLE_CACHE/bin/haggle" localnet $(ARGS)

lint: prerequisites ## formats, go mod tidy, go vet, staticcheck, prose, phrases, shellcheck, clippy
	@echo "==> go mod tidy, gofmt, go vet, staticcheck, prose, phrases, shellcheck"
	@go mod tidy -diff || { echo "go.mod: \"go mod tidy\" fails or changes go.mod or go.sum (above); a test dependency of a" \
	    "dependency that the module proxy does not serve needs another version of that dependency"; exit 1; }
	@unformatted=$$(gofmt -l .); \
	    [ -z "$$unformatted" ] || { echo "not formatted (make fmt): $$unformatted"; exit 1; }
	@go vet ./...
	@toolchain/staticcheck ./...
	@toolchain/prose
	@go run ./toolchain/phrases
	@toolchain/shellcheck
	@echo "==> cargo fmt --check, clippy"
	@$(program) cargo fmt --all --check
	@$(engine) cargo fmt --check
	@$(fuzz) cargo fmt --check
	@$(program) $(clippy) --workspace
	@$(engine) $(clippy)
	@$(fuzz) $(clippy)

test-rust: program ## the program's tests against the built ELF, and the IDL's
	@echo "==> cargo test"
	@$(program) cargo test --locked --workspace

test-go: program postgresql sqlc browser ## the Go tests except the scenarios, the faults, Anchor's clients and Yellowstone's plugin
	@export HAGGLE_FIRST_SEED=$${HAGGLE_FIRST_SEED:-$$(date +%s)000000}; \
	    echo "==> go test, differential test with HAGGLE_FIRST_SEED=$$HAGGLE_FIRST_SEED"; \
	    go test -count=1 $(race) $(packages) -timeout 20m $$(go list ./... | grep -v -e '/tests/scenarios$$' -e '/tests/faults$$' -e '/tests/anchor$$' -e '/tests/yellowstone$$')

test-chains: program ## the scenarios of tests/scenarios on a chain in the process, and on a validator if there is one (make validator)
	@toolchain/scenarios

record-validator: validator ## record a validator's JSON-RPC responses, with which the tests compare those of the chain in the process
	@HAGGLE_RECORD_VALIDATOR=1 go test -count=1 -timeout 20m -run TestResponsesAreThoseOfAValidator ./sdk/localnet/jsonrpc

test-anchor: program ## negotiations with the Anchor TypeScript clients, from the IDL alone
	@toolchain/anchor-client

test-mcp: ## conformance tests of the Model Context Protocol, against the gateway's handler
	@toolchain/mcp-conformance

verify: prerequisites ## check that the committed ELF and the chain's engine are the sources'; with CLUSTER=... also that the ELF is deployed there
	@toolchain/build-engine --check
	@toolchain/verify

verify-engine: prerequisites ## two clean builds of program/wasm give the committed engine of the in-process chain
	@toolchain/verify-engine

engine: prerequisites ## build the engine of the in-process chain: sdk/localnet/engine/engine.wasm.zst
	@toolchain/build-engine

deploy: prerequisites ## deploy the program with the Solana CLI: CLUSTER=... PROGRAM_KEYPAIR=... (docs/DEPLOYMENT.md)
	@toolchain/deploy

cu: program ## measure the compute units of every instruction: program/CU.md, and the SDK's table of them
	@$(program) HAGGLE_WRITE_CU=1 cargo test --locked --quiet --workspace compute
	@go generate ./sdk/protocol

bench: program validator ## measure the SDK: codecs, actions beyond their requests, subscriptions, sessions: docs/BENCHMARKS.md
	@go run ./internal/lab/benchreport && cat docs/BENCHMARKS.md

negmas-domains: ## the part of it without measurements: docs/NEGMAS_DOMAINS.md
	@python=$$(toolchain/negmas) && go run ./tests/negmas/report --python "$$python" --domains

negmas: ## run NegMAS and the bargaining engine side by side: docs/NEGMAS.md, and the answers for the tests
	@python=$$(toolchain/negmas) && go run ./tests/negmas/report --python "$$python"

bench-engine: ## measure the bargaining engine, and replace its section of docs/BENCHMARKS.md
	@go run ./internal/lab/benchreport -engine

load: program ## many negotiations at once beside plain transfers, on a validator: docs/LOAD.md (PAIRS=1000)
	@go build -o "$$HAGGLE_CACHE/bin/haggle-loadtest" ./tests/load/loadtest
	@exec env -u HAGGLE_RPC_URL "$$HAGGLE_CACHE/bin/haggle-loadtest" --report docs/LOAD.md --pairs $(or $(PAIRS),1000) $(ARGS)

gateway-load: postgresql ## the gateway under load beside pgbench with the same SQL: docs/GATEWAY_LOAD.md (ARGS="--windows 5 --lasting 20s")
	@go build -o "$$HAGGLE_CACHE/bin/haggle" ./cmd/haggle
	@go build -o "$$HAGGLE_CACHE/bin/haggle-gateway-loadtest" ./tests/gatewayload/loadtest
	@exec "$$HAGGLE_CACHE/bin/haggle-gateway-loadtest" --program "$$HAGGLE_CACHE/bin/haggle" --report docs/GATEWAY_LOAD.md $(ARGS)

hire-load: postgresql ## the reply of a home in one conversation, and many at once: docs/HIRE_LOAD.md (CONVERSATIONS=1000)
	@HAGGLE_HIRE_REPORT="$(CURDIR)/docs/HIRE_LOAD.md" HAGGLE_HIRE_CONVERSATIONS=$(or $(CONVERSATIONS),1000) HAGGLE_HIRE_REPLIES=2000 \
	    go test -count=1 -timeout 20m -run TestManyConversationsAtOnce ./tests/hire

arena-load: ## the arena under load beside a server that only passes frames on: docs/ARENA_LOAD.md (MARKETS=100)
	@HAGGLE_ARENA_REPORT="$(CURDIR)/docs/ARENA_LOAD.md" HAGGLE_ARENA_MARKETS=$(or $(MARKETS),100) \
	    go test -count=1 -timeout 20m -v -run TestManyMarketsAtOnce ./tests/arena

hire-kills: program postgresql ## kill homes, workers and seekers at random moments: KILLS=200 SEEKERS=5 PURCHASES=20
	@HAGGLE_HIRE_KILLS=$(or $(KILLS),200) HAGGLE_HIRE_SEEKERS=$(or $(SEEKERS),5) HAGGLE_HIRE_PURCHASES=$(or $(PURCHASES),20) \
	    HAGGLE_HIRE_MINUTES=30 \
	    go test -count=1 -v -timeout 70m -run TestKillsLoseNothingAndPayNothingTwice ./tests/hire

yellowstone: program ## the Geyser source against a validator with Yellowstone's plugin: PLUGIN=.../libyellowstone_grpc_geyser.so
	@toolchain/yellowstone

test-fuzz: program ## the fuzzer's own tests, and a short run of it
	@echo "==> cargo test: the fuzzer"
	@$(fuzz) cargo test --locked
	@echo "==> fuzzing"
	@EXECUTIONS=100000 toolchain/fuzz

test-gateway-api: ## random requests to the gateway, compared with its OpenAPI description: LIMIT=600 (seconds), EXAMPLES=5, SEED=1, DATABASE=sqlite
	@toolchain/schemathesis

differential: program ## play random instructions against the program, on two virtual machines, and the reference model: INSTRUCTIONS=1000000, SEED=...
	@HAGGLE_INSTRUCTIONS=$(or $(INSTRUCTIONS),1000000) HAGGLE_FIRST_SEED=$(or $(SEED),$$(date +%s)000000) \
	    go test -count=1 -v -timeout 2h ./tests/differential

leaks: ## start 1,000 chains in one process, one after the other: CHAINS=1000
	@HAGGLE_CHAINS=$(or $(CHAINS),1000) go test -count=1 -run TestChainsLeaveNothing -v ./sdk/localnet

test-faults: program ## agents under injected faults and kills, a short run: on a validator if there is one (make validator)
	@echo "==> agents under faults"
	@! toolchain/validator --installed >/dev/null || export $(validator); \
	    go test -count=1 $(race) -timeout 20m ./tests/faults

faults: program validator ## 500 negotiations under injected faults and kills, and lying nodes: docs/FAULTS.md, docs/LYING_NODES.md (NEGOTIATIONS=500, SEED=...)
	@$(validator) HAGGLE_NEGOTIATIONS=$(or $(NEGOTIATIONS),500) HAGGLE_BUYERS=$(or $(BUYERS),50) HAGGLE_SELLERS=$(or $(SELLERS),50) \
	    HAGGLE_SEED=$(SEED) HAGGLE_FAULTS_LIMIT=1h HAGGLE_FAULTS_REPORT="$(CURDIR)/docs/FAULTS.md" \
	    HAGGLE_LIES_REPORT="$(CURDIR)/docs/LYING_NODES.md" \
	    go test -count=1 $(race) -v -timeout 70m ./tests/faults

fuzz: program ## fuzz the program's entry point: EXECUTIONS=10000000; REPLAY=... describes a case that it found
	@toolchain/fuzz

fuzz-parsers: prerequisites ## fuzz the parsers of HIRE/1.0, of the arena and of strategies, and the chain in the process, 20 seconds each: TIME=10m
	@echo "==> go test -fuzz: sdk/hire sdk/arena sdk/bargain sdk/localnet"
	@TIME=$(or $(TIME),$(if $(ALL),10m,20s)) toolchain/fuzz-go ./sdk/hire ./sdk/arena ./sdk/bargain/strategy ./sdk/localnet/ledger ./sdk/localnet/jsonrpc

mutants: program ## mutation testing of the money path; survivors are explained in program/MUTANTS.md
	@toolchain/mutants

cross: ## compile the commands and the SDK for the other platforms of a release: the tests compile this machine's
	@for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
	    [ $$platform != "$$(go env GOHOSTOS)/$$(go env GOHOSTARCH)" ] || continue; \
	    echo "==> go build for $$platform"; \
	    CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -trimpath ./cmd/... ./sdk/...; \
	done

portable: prerequisites ## the bargaining engine's offers are the same on amd64, GOAMD64=v3 and arm64 (qemu), and the compute units of the chain in the process on arm64; with ALL=1 more tests
	@echo "==> the same offers on every processor"
	@toolchain/portable $(if $(ALL),all)

go-get: ## the checkout's SDK, and by "go get" the one at HEAD, into new modules, with an empty module cache
	@toolchain/go-get

snapshot: ## build the files of a release without publishing them: dist/
	@toolchain/goreleaser check
	@toolchain/goreleaser release --snapshot --clean

fmt: prerequisites ## format everything
	@gofmt -w .
	@$(program) cargo fmt --all
	@$(engine) cargo fmt
	@$(fuzz) cargo fmt

clean: ## remove build output inside the tree
	@rm -rf program/target
	@echo "removed program/target; compilers, chains and cargo's output stay in $$HAGGLE_CACHE"

prerequisites:
	@toolchain/prerequisites

validator: prerequisites ## build a solana-test-validator, if there is none: about 25 minutes
	@toolchain/validator >/dev/null

anchor-packages:
	@toolchain/anchor-packages >/dev/null

postgresql:
	@toolchain/postgresql

sqlc:
	@toolchain/sqlc version >/dev/null

browser: ## install templ, Chromium and axe-core for the tests of pages
	@toolchain/templ version >/dev/null
	@toolchain/axe >/dev/null
	@toolchain/chromium >/dev/null
