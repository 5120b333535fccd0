package component

import "sync"

// A Cleanup tracks work outside of the process that must end before a run of a flow
// ends, even if no caller waits for its result. Its zero value is ready to use, and a
// nil *Cleanup waits for nothing. It is safe for concurrent use.
type Cleanup struct {
	mu    sync.Mutex
	left  int
	empty chan struct{} // closed when nothing is left; nil if no goroutine waits
	last  []func()
}

// Begin registers work. The caller calls ended once when the work is over.
func (e *Cleanup) Begin() (ended func()) {
	if e == nil {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left++
	return e.end
}

func (e *Cleanup) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left--; e.left == 0 && e.empty != nil {
		close(e.empty)
		e.empty = nil
	}
}

// Last registers a function that Wait calls at the end.
func (e *Cleanup) Last(f func()) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = append(e.last, f)
}

// Wait waits until all registered work is over, and then calls the functions of Last.
func (e *Cleanup) Wait() {
	for _, f := range e.over() {
		f()
	}
}

// over waits, and returns the functions to call then.
func (e *Cleanup) over() []func() {
	for {
		e.mu.Lock()
		if e.left == 0 {
			last := e.last
			e.last = nil
			e.mu.Unlock()
			return last
		}
		if e.empty == nil {
			e.empty = make(chan struct{})
		}
		empty := e.empty
		e.mu.Unlock()
		<-empty
	}
}
