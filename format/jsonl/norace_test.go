//go:build !race

package jsonl_test

const raceEnabled = false
