package place

import (
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// AskOnce has each part of a file be asked for once, however late the answer is: see [Reader].
var AskOnce atomic.Bool

// Limits on what is asked for twice.
const (
	fewest        = 40  // reads must have been answered before
	window        = 100 // reads say how soon a host answers
	nearly        = 95  // of a hundred are answered in two thirds of the time that is waited
	leastPatience = 10 * time.Millisecond
	dear          = 20          // reads allow for one request more
	mostSaved     = 8           // such requests at once
	quietTime     = time.Minute // since a host had too much to do
	mostHosts     = 1000        // are remembered
)

// A host is what is known of a host: how soon it answers, and how much may be asked of it.
type host struct {
	mu     sync.Mutex
	took   []time.Duration // of the last reads, in a ring
	next   int             // in took
	credit int             // reads that were not used up by requests that were sent twice
	busy   time.Time       // when it had too much to do
}

var (
	hostsMu sync.Mutex
	hosts   = map[string]*host{}
)

// hostOf returns what is known of the host of a URL.
func hostOf(u *url.URL) *host {
	name := u.Scheme + "://" + u.Host
	hostsMu.Lock()
	defer hostsMu.Unlock()
	h := hosts[name]
	if h == nil {
		if len(hosts) >= mostHosts {
			clear(hosts) // they are soon known again
		}
		h = &host{}
		hosts[name] = h
	}
	return h
}

// patience is for how long an answer is waited for before it is late, and false if nothing is.
func (h *host) patience() (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.credit = min(h.credit+1, dear*mostSaved)
	if AskOnce.Load() || len(h.took) < fewest || h.isBusy() {
		return 0, false
	}
	sorted := slices.Clone(h.took)
	slices.Sort(sorted)
	enough := sorted[len(sorted)*nearly/100]
	return max(leastPatience, enough+enough/2), true // what takes as long as all do is not late
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

// answered notes how long a read was waited for.
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

// overworked notes that the host has too much to do.
func (h *host) overworked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = time.Now()
}
