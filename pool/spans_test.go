package pool

import (
	"testing"
	"time"
)

// TestOneLongWaitChangesLittle checks that a worker that was delayed gives back the rest of its elements and halves the
// number taken. If every element takes long, workers soon take one at a time.
func TestOneLongWaitChangesLittle(t *testing.T) {
	s := spans{n: 1 << 20, limit: maxStretch}
	next := func() span {
		at, ok := s.take(s.n)
		if !ok {
			t.Fatal("there are no more")
		}
		return at
	}
	for range 20 {
		at := next()
		s.settle(at, at.to-at.from, false, durations{took: time.Duration(at.to-at.from) * time.Microsecond})
	}
	if s.most() != maxStretch {
		t.Fatalf("of quick elements %d are taken together", s.most())
	}
	at := next()
	s.settle(at, 10, false, durations{took: time.Second})
	if s.most() != maxStretch/2 {
		t.Errorf("after one wait %d are taken together, want half as many as before", s.most())
	}
	if back := next(); back.from != at.from+10 || back.to-back.from != maxStretch/2 {
		t.Errorf("of what was given back %v is taken, want %d from %d on", back, maxStretch/2, at.from+10)
	}
	for range 9 {
		at := next()
		s.settle(at, 1, false, durations{took: time.Second})
	}
	if at := next(); at.to-at.from != 1 {
		t.Errorf("of elements that take a second each %d are taken together", at.to-at.from)
	}
}
