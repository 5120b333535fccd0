package executable_test

import (
	"testing"

	"github.com/larder-data/larder/internal/values/executable"
)

// Results of calls during the initialisation of this test's package.
var (
	early    = executable.Started()
	inInit   bool
	adjacent bool
	deep     bool
)

func init() {
	inInit = executable.Started()
	done := make(chan bool)
	go func() { done <- executable.Started() }()
	adjacent = <-done
	deep = below(300)
}

func below(n int) bool {
	if n > 0 {
		return below(n-1) || executable.Started()
	}
	return executable.Started()
}

// TestStarted checks that during init functions the program has not started, for any
// caller.
func TestStarted(t *testing.T) {
	if early || inInit || adjacent || deep {
		t.Errorf("before main: %v, %v, %v, %v", early, inInit, adjacent, deep)
	}
	if !executable.Started() {
		t.Error("not started in a test")
	}
	if !(T{}).init() {
		t.Error("a method of the name counts as an init function")
	}
}

// T has a method that is called like init functions.
type T struct{}

func (T) init() bool { return executable.Started() }
