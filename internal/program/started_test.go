package program_test

import (
	"testing"

	"github.com/larder-data/larder/internal/program"
)

// What was told while this test's package started.
var (
	early  = program.Started()
	inInit bool
	beside bool
	deep   bool
)

func init() {
	inInit = program.Started()
	done := make(chan bool)
	go func() { done <- program.Started() }()
	beside = <-done
	deep = below(300)
}

func below(n int) bool {
	if n > 0 {
		return below(n-1) || program.Started()
	}
	return program.Started()
}

// TestStarted: while init functions run the program has not started, whoever asks.
func TestStarted(t *testing.T) {
	if early || inInit || beside || deep {
		t.Errorf("before main: %v, %v, %v, %v", early, inInit, beside, deep)
	}
	if !program.Started() {
		t.Error("not started in a test")
	}
	if !(T{}).init() {
		t.Error("a method of the name counts as an init function")
	}
}

// T has a method that is called as init functions are.
type T struct{}

func (T) init() bool { return program.Started() }
