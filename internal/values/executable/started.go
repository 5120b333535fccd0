package executable

import (
	"bytes"
	"regexp"
	"runtime"
	"sync/atomic"
)

// started is set once the program is known to have started.
var started atomic.Bool

// Started reports whether all init functions have run and all package variables are
// initialized.
func Started() bool {
	if !started.Load() && !initializing() {
		started.Store(true)
	}
	return started.Load()
}

// initFrame matches the stack frame of an init function, or of the initialization of
// package variables.
var initFrame = regexp.MustCompile(`(?m)^(?:[^\s(]*/)?[^\s./()]+\.init(?:\.\d+)?\(`)

// initializing reports whether the main goroutine is in an init function. It reads the
// stack trace, which contains the outermost functions at any depth.
func initializing() bool {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	for trace := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.HasPrefix(trace, []byte("goroutine 1 ")) {
			return initFrame.Match(trace)
		}
	}
	return false
}
