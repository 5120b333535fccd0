.PHONY: bench check lint release test

# Measures Larder beside other software and writes its sections of
# docs/benchmarks.md and README.md: half an hour on two cores. BENCH=--quick tries everything in three minutes.
bench:
	cd bench && go run ./run $(BENCH)

# Everything that decides whether a change lands.
check:
	.ci/run

# Makes the files of a release from the checked-out commit, in out/.
release:
	.ci/release "$$(git describe --tags --always)" out

test:
	go test ./...
	cd bench && go test ./...

lint:
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...
