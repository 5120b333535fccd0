package blockcache

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// extentBlocks lie in an extent, 2 MiB: what a good connection brings in the time that a
	// request takes before its answer begins.
	extentBlocks = 32
	// often is how many misses an extent had lately, before one has all of it fetched.
	often = 4
)

// wary is how long nothing is fetched only because it lies where something could not be had: the
// service may have been away.
var wary = time.Minute

// recent is how many misses ago is recent in a store of so many bytes, or one without a cap: as
// many as it has extents, twice.
func recent(bytes int64) int64 {
	if bytes <= 0 {
		return math.MaxInt64
	}
	return 2 * bytes / (extentBlocks * Bytes)
}

// missed counts misses of all files, which is the clock by which they are recent.
var missed atomic.Int64

// misses are what was read of a file, and what was fetched: several may go through it side by
// side.
type misses struct {
	mu      sync.Mutex
	ends    [32]int64                             // of the last reads
	reads   int                                   // modulo those
	last    [32]struct{ first, end, ahead int64 } // blocks of which runs were fetched
	next    int                                   // which is replaced next
	extents map[int64]*extent
}

// An extent is a part of a file in which reads hit.
type extent struct {
	misses  [often]int64 // when, the oldest at next
	next    int
	fetched uint32    // a bit for each block
	failed  time.Time // when something of it could not be had
}

// A plan says what a miss fetches: blocks from one to before another, or what was asked for and
// no block.
type plan struct {
	from, end int64
	exact     bool
}

// gap is what a reader who goes through a file may leave out, in bytes: headers, and what fills
// up blocks.
const gap = 4 << 10

// note notes a read, and reports whether it goes on where another one of the last ended.
func (m *misses) note(at, n int64) (goesOn bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, end := range m.ends {
		if at >= end && at-end <= gap && end > 0 {
			goesOn = true
			break
		}
	}
	m.ends[m.reads] = at + n
	m.reads = (m.reads + 1) % len(m.ends)
	return goesOn
}

// plan says what a read fetches of a file of so many blocks of which one that it needs is missing.
// recent is how many misses ago is recent.
//
// Where what is missing follows what was fetched, some is fetched ahead. An extent that misses
// often is fetched as a whole: reads that are shuffled in a window hit each of its blocks soon. And
// a block that was fetched before and is gone was not worth its room: reads that are shuffled over
// more than the store holds get what they ask for, and the store keeps what it has.
func (m *misses) plan(r read, missing, blocks, recent int64) plan {
	m.mu.Lock()
	defer m.mu.Unlock()
	ahead, follows := m.ahead(r)
	p := plan{from: r.first, end: min(r.last+1+ahead, blocks, r.first+mostBlocks)}
	gone, dense := m.extent(missing).has(missing), false
	now := missed.Add(1)
	for e := r.first / extentBlocks; e <= r.last/extentBlocks; e++ {
		if x := m.extent(e * extentBlocks); x.miss(now, recent) && !x.failsLately() {
			dense = true
			p.from, p.end = min(p.from, e*extentBlocks), max(p.end, min((e+1)*extentBlocks, blocks))
		}
	}
	for e := (r.last + 1) / extentBlocks; e*extentBlocks < p.end; e++ {
		if m.extent(e * extentBlocks).failsLately() {
			p.end = max(r.last+1, min(p.end, e*extentBlocks))
		}
	}
	p.exact = gone && !follows && !dense && 2*int64(len(r.to)) <= (r.last-r.first+1)*Bytes
	return p
}

// failed notes that something between blocks could not be had: what is only fetched because it
// lies there is not tried for a while.
func (m *misses) failed(from, end int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := from / extentBlocks; e*extentBlocks < end; e++ {
		m.extent(e * extentBlocks).failed = time.Now()
	}
}

// fetched notes blocks that are kept.
func (m *misses) fetched(from, end int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := from; i < end; i++ {
		m.extent(i).fetched |= 1 << (i % extentBlocks)
	}
}

// ahead says how many blocks are fetched beyond those that are needed: none at first, and twice
// as many each time that what is missing goes on where a fetch ended, in which case it follows.
// Who needs what a fetch has that is under way waits for that one.
func (m *misses) ahead(r read) (n int64, follows bool) {
	first, last := r.first, r.last
	for i := range m.last {
		switch at := &m.last[i]; {
		case first < at.first || first > at.end || at.end == 0 || !r.goesOn:
		case last < at.end:
			return 0, false
		default:
			at.ahead = min(2*at.ahead+1, mostBlocks-(last-first+1))
			at.first, at.end = first, last+1+at.ahead
			return at.ahead, true
		}
	}
	at := &m.last[m.next]
	at.first, at.end, at.ahead = first, last+1, 0
	m.next = (m.next + 1) % len(m.last)
	return 0, false
}

// extent returns that in which a block lies.
func (m *misses) extent(block int64) *extent {
	if m.extents == nil {
		m.extents = map[int64]*extent{}
	}
	x := m.extents[block/extentBlocks]
	if x == nil {
		x = &extent{}
		m.extents[block/extentBlocks] = x
	}
	return x
}

// failsLately reports whether something of it could not be had lately.
func (x *extent) failsLately() bool { return !x.failed.IsZero() && time.Since(x.failed) < wary }

// has reports whether a block was fetched before.
func (x *extent) has(block int64) bool { return x.fetched>>(block%extentBlocks)&1 == 1 }

// miss notes a miss, and reports whether there were many lately.
func (x *extent) miss(now, recent int64) bool {
	oldest := x.misses[x.next]
	x.misses[x.next] = now
	x.next = (x.next + 1) % often
	return oldest > 0 && now-oldest <= recent
}
