//go:build race

package source_test

const raceEnabled = true
