package executable

import (
	"bytes"
	"regexp"
	"runtime"
	"sync/atomic"
)

// started is set once the program is seen to have started.
var started atomic.Bool

// Started reports whether all init functions have run and all package variables have
// their first values.
func Started() bool {
	if !started.Load() && !initializing() {
		started.Store(true)
	}
	return started.Load()
}

// initFrame is what a stack trace has for an init function, or for what gives package
// variables their values.
var initFrame = regexp.MustCompile(`(?m)^(?:[^\s(]*/)?[^\s./()]+\.init(?:\.\d+)?\(`)

// initializing reports whether the main goroutine is in an init function. No package
// tells, but stack traces do: they have the outermost functions, however deep they are.
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
