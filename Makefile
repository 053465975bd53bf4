.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start a server on SQLite with no keys
	CGO_ENABLED=0 go run ./cmd/hippocampus serve

build: ## build the static binary bin/hippocampus
	CGO_ENABLED=0 go build -o bin/hippocampus ./cmd/hippocampus

test: ## run every check and test on real Postgres and Milvus
	./scripts/test

quick: ## run the tests that need no server, in under a minute
	./scripts/test --quick

long: ## run the tests with every crash point and the long campaigns
	./scripts/test --long

lint: ## run golangci-lint and the wording list
	./scripts/lint

services: ## start Postgres, Milvus and pgvector for development
	./scripts/services up

down: ## stop them
	./scripts/services down

.PHONY: help run build test quick long lint services down
