.PHONY: bench check lint test

# Measures Larder beside other software and writes its sections of
# docs/benchmarks.md and README.md: half an hour on two cores. BENCH=--quick tries everything in three minutes.
bench:
	cd bench && go run ./run $(BENCH)

# Everything that decides whether a change lands.
check:
	.ci/run

test:
	go test ./...
	cd bench && go test ./...

lint:
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...
