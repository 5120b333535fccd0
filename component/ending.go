package component

import "sync"

// An Ending is what is to be over before a run of a flow is: work outside of the
// process, which has to be ended and cleared up also when nobody waits for what
// comes of it. Its zero value is ready, and a nil *Ending waits for nothing. It
// may be used by many goroutines.
type Ending struct {
	mu    sync.Mutex
	left  int
	empty chan struct{} // closed when nothing is left; nil if nobody waits
	last  []func()
}

// Begin says that something has begun; ended is called once when it is over.
func (e *Ending) Begin() (ended func()) {
	if e == nil {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left++
	return e.end
}

func (e *Ending) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left--; e.left == 0 && e.empty != nil {
		close(e.empty)
		e.empty = nil
	}
}

// Last has f called by Wait.
func (e *Ending) Last(f func()) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = append(e.last, f)
}

// Wait waits until all that began is over, and then does what was to be done last.
func (e *Ending) Wait() {
	for _, f := range e.over() {
		f()
	}
}

// over waits, and returns what is to be done then.
func (e *Ending) over() []func() {
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
