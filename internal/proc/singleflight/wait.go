package singleflight

import "time"

// patience is the time before a waiter is checked for a cycle, and then the time
// between checks.
const patience = 2 * time.Second

// long is the duration of a wait before it is reported.
const long = time.Minute

// A waiter waits for a call.
type waiter struct {
	from  *Call // call that it works for; nil if none or not known yet
	known bool  // from is final
	call  *Call // call that it waits for
	begun bool  // it began that call
	long  func(Call)
	start time.Time
	timer *time.Timer
}

func (w *waiter) begin() error {
	if err := w.from.wait(w.call); err != nil {
		w.from = nil // it does not wait
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

// look returns an error if the call waits for itself, as far as is known now.
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
