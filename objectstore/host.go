package objectstore

import (
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// AskOnce turns off hedged requests: see [Reader].
var AskOnce atomic.Bool

// Limits of hedged requests.
const (
	fewest        = 40  // reads that must have been answered before
	window        = 100 // reads that measure how fast a host answers
	nearly        = 95  // percent of reads answered in two thirds of the waiting time
	leastPatience = 10 * time.Millisecond
	dear          = 20          // reads that allow one more request
	maxSaved      = 8           // most such requests in a row
	quietTime     = time.Minute // since the host was overloaded
	maxHosts      = 1000        // hosts remembered
)

// A host records how fast a host answers, and how many requests it may get.
type host struct {
	mu     sync.Mutex
	took   []time.Duration // by the last reads, in a ring
	next   int             // index in took
	credit int             // reads not used up by hedged requests
	busy   time.Time       // when it was overloaded
}

var (
	hostsMu sync.Mutex
	hosts   = map[string]*host{}
)

// hostOf returns the record of the host of a URL.
func hostOf(u *url.URL) *host {
	name := u.Scheme + "://" + u.Host
	hostsMu.Lock()
	defer hostsMu.Unlock()
	h := hosts[name]
	if h == nil {
		if len(hosts) >= maxHosts {
			clear(hosts) // they are soon recorded again
		}
		h = &host{}
		hosts[name] = h
	}
	return h
}

// patience returns how long to wait for an answer before it is late; false if none is late.
func (h *host) patience() (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.credit = min(h.credit+1, dear*maxSaved)
	if AskOnce.Load() || len(h.took) < fewest || h.isBusy() {
		return 0, false
	}
	sorted := slices.Clone(h.took)
	slices.Sort(sorted)
	enough := sorted[len(sorted)*nearly/100]
	return max(leastPatience, enough+enough/2), true // an answer as slow as all others is not late
}

// mayRepeat reports whether another request may be sent, and counts it.
func (h *host) mayRepeat() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.credit < dear || h.isBusy() {
		return false
	}
	h.credit -= dear
	return true
}

func (h *host) isBusy() bool { return !h.busy.IsZero() && time.Since(h.busy) < quietTime }

// answered records how long a read waited.
func (h *host) answered(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.took) < window {
		h.took = append(h.took, took)
		return
	}
	h.took[h.next] = took
	h.next = (h.next + 1) % window
}

// overworked records that the host is overloaded.
func (h *host) overworked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = time.Now()
}
