// Package cleanup knows what a program must not leave behind: folders in which commands
// run, files that are written and have no name yet. Each is cleared by whoever made it, and
// by [Clear] when the program is made to end at once and its makers do not get to it.
package cleanup

import (
	"maps"
	"sync"
	"time"
)

// A Remain is something that would be left behind.
type Remain struct{ clear func() error }

var all struct {
	sync.Mutex
	list map[*Remain]bool
	over bool // what is there is being cleared, and the program ends
}

// Add has clear called if the program is made to end. It must be quick, and it may be
// called again if it fails, while others are at work on the same. Once the program ends, Add
// does not return: nothing is begun any more.
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

// Done says that it is nothing that is left: it is cleared or, as a file that gets its name
// now, to stay. Once the program ends, Done does not return, so that nothing gets a name of
// which a part is cleared. Of nil it does nothing.
func (r *Remain) Done() {
	if r == nil {
		return
	}
	all.Lock()
	defer all.Unlock()
	wait()
	delete(all.list, r)
}

// wait waits for the end of the program if that has come. The lock is held.
func wait() {
	for all.over {
		all.Unlock()
		<-make(chan struct{})
	}
}

// pause is how long what could not be cleared is left alone.
const pause = 5 * time.Millisecond

// Clear clears all that there is, for a program that ends then. What cannot be cleared, as
// somebody is at work on it, is tried again for as long as is said.
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
