package singleflight

import "time"

// patience is how long a call is waited for before a closer look is taken at who
// waits, and then the time between two looks.
const patience = 2 * time.Second

// long is how long a wait is before it is told.
const long = time.Minute

// A waiter waits for a call.
type waiter struct {
	from  *Call // that it works for; nil if it works for none, or that is not known yet
	known bool  // nobody will know better
	call  *Call // that it waits for
	begun bool  // it began that call
	long  func(Call)
	start time.Time
	timer *time.Timer
}

func (w *waiter) begin() error {
	if err := w.from.wait(w.call); err != nil {
		w.from = nil // which does not wait
		return err
	}
	w.timer = time.NewTimer(patience)
	w.start, w.known = time.Now(), w.from != nil
	return nil
}

func (w *waiter) end() {
	w.from.waited(w.call)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look returns an error if the call waits for itself, as far as that can be told
// by now.
func (w *waiter) look() error {
	w.timer.Reset(patience)
	if w.long != nil && time.Since(w.start) >= long {
		w.long(Call{Name: w.call.Name, Key: w.call.Key, Scope: w.call.Scope, Since: w.call.Since})
		w.long = nil
	}
	if !w.known {
		from, known := origin()
		w.known = known
		if err := from.wait(w.call); err != nil {
			return err
		}
		w.from = from
		if w.begun {
			from.began(w.call)
		}
	}
	for k := range w.call.keys {
		if err := w.from.within(w.call.Scope, k, w.call.Name); err != nil {
			return err
		}
	}
	return nil
}
