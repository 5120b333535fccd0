// Package cleanup removes what a program must not leave on a forced exit, such as the
// working directories of commands and incomplete files. Each is normally removed by its
// owner. [Clear] removes the others if the program must end immediately.
package cleanup

import (
	"maps"
	"sync"
	"time"
)

// A Remain is something to remove on a forced exit.
type Remain struct{ clear func() error }

var all struct {
	sync.Mutex
	list map[*Remain]bool
	over bool // Clear runs, and the program ends
}

// Add registers clear for a forced exit. clear must be quick. If it fails it may be
// called again, and its owner may still work on the same files. Once the program ends,
// Add does not return, so no new work begins.
func Add(clear func() error) *Remain {
	r := &Remain{clear}
	all.Lock()
	defer all.Unlock()
	wait()
	if all.list == nil {
		all.list = map[*Remain]bool{}
	}
	all.list[r] = true
	return r
}

// Done unregisters r: its files are removed, or become permanent, as when a file gets
// its final name. Once the program ends, Done does not return, so that no partly
// removed data becomes permanent. It does nothing for nil.
func (r *Remain) Done() {
	if r == nil {
		return
	}
	all.Lock()
	defer all.Unlock()
	wait()
	delete(all.list, r)
}

// wait blocks for ever if the program ends. The caller holds the lock.
func wait() {
	for all.over {
		all.Unlock()
		<-make(chan struct{})
	}
}

const pause = 5 * time.Millisecond

// Clear removes everything registered before the program ends. It repeats failed
// removals, for example while a goroutine still writes, until most has passed.
func Clear(most time.Duration) {
	all.Lock()
	all.over = true
	left := maps.Clone(all.list)
	all.Unlock()
	for end := time.Now().Add(most); len(left) > 0; <-time.After(pause) {
		for r := range left {
			if r.clear() == nil {
				delete(left, r)
			}
		}
		if time.Now().After(end) {
			return
		}
	}
}
