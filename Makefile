# What is needed: Go, make, git. Node, curl and wrk are used where they are.

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null)
RACE     := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
PACKAGES := testdata/pouchdb/node_modules/.installed

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/couchgauge
	go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/couchgauge

.PHONY: run
run: build ## measure uploads of 10 B to 10 MB on the reference server
	bin/couchgauge upload --size 10^1..10^7 --method raw,base64,multipart

.PHONY: test
test: packages ## run all tests; say which were skipped, and why
	@$(if $(RACE),,echo 'No C compiler: the race detector is off.')
	go run ./internal/testsummary $(RACE) ./...

# PouchDB Server, for the tests that compare with it: without it they skip.
.PHONY: packages
packages:
	@if command -v npm >/dev/null; \
	then $(MAKE) --no-print-directory $(PACKAGES) || echo 'npm failed: tests against PouchDB Server will be skipped.'; \
	else echo 'No Node: tests against PouchDB Server will be skipped.'; fi

$(PACKAGES): testdata/pouchdb/package-lock.json
	cd testdata/pouchdb && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline
	touch $@

.PHONY: lint
lint: ## check formatting, vet, staticcheck and the other files
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	sh -n .ci/run
	@! command -v node >/dev/null || node --check testdata/pouchdb/server.js
	@! git grep -nIE '/wor[k]/|/roo[t]/|registry[.]npmjs' || { echo 'names a machine or a registry'; exit 1; }

.PHONY: bench
bench: ## compare the speed with curl and wrk (minutes; up to 2.5 GB of temporary files)
	go run ./internal/bench

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf bin testdata/pouchdb/node_modules
