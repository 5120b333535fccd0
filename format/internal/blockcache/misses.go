package blockcache

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// extentBlocks is the number of blocks of an extent, 2 MiB: what a fast connection
	// transfers during the latency of a request.
	extentBlocks = 32
	// often is the number of recent misses after which an extent is fetched as a whole.
	often = 4
)

// wary is how long speculative fetches avoid an extent after a failure, because the
// service may be down.
var wary = time.Minute

// recent returns the number of misses that count as recent, for a store of the given
// size, or without a bound: twice its number of extents.
func recent(bytes int64) int64 {
	if bytes <= 0 {
		return math.MaxInt64
	}
	return 2 * bytes / (extentBlocks * Bytes)
}

// missed counts misses of all files, and is the clock for recent.
var missed atomic.Int64

// misses records the reads and fetches of a file. Several readers may scan it
// concurrently.
type misses struct {
	mu      sync.Mutex
	ends    [32]int64                             // of the last reads
	reads   int                                   // modulo their number
	last    [32]struct{ first, end, ahead int64 } // fetched runs of blocks
	next    int                                   // the next to replace
	extents map[int64]*extent
}

// An extent is a part of a file, with statistics of its reads.
type extent struct {
	misses  [often]int64 // times of misses, the oldest at next
	next    int
	fetched uint32    // a bit for each block
	failed  time.Time // time of the last failed fetch
}

// A plan is the range of blocks that a miss fetches, or no block, for only the requested
// bytes.
type plan struct {
	from, end int64
	exact     bool
}

// gap is the number of bytes that a sequential reader may skip: headers and padding.
const gap = 4 << 10

// note records a read, and reports whether it continues where a recent one ended.
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

// plan decides what a read with a missing block fetches from a file of the given number
// of blocks. recent is the number of misses that count as recent.
//
// Blocks that continue an earlier fetch cause prefetching. An extent with frequent
// misses is fetched as a whole, because a shuffle window soon reads each of its blocks.
// A block that was fetched before and evicted was not worth its space, as in a shuffle
// over more than the store holds. Then only the requested bytes are fetched, and the
// store keeps what it has.
func (m *misses) plan(r read, missing, blocks, recent int64) plan {
	m.mu.Lock()
	defer m.mu.Unlock()
	ahead, follows := m.ahead(r)
	p := plan{from: r.first, end: min(r.last+1+ahead, blocks, r.first+maxBlocks)}
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

// failed records that a fetch of blocks failed. Speculative fetches avoid them for a
// while.
func (m *misses) failed(from, end int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := from / extentBlocks; e*extentBlocks < end; e++ {
		m.extent(e * extentBlocks).failed = time.Now()
	}
}

// fetched records cached blocks.
func (m *misses) fetched(from, end int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := from; i < end; i++ {
		m.extent(i).fetched |= 1 << (i % extentBlocks)
	}
}

// ahead returns the number of blocks to prefetch: none at first, and twice as many each
// time that a miss follows the end of a fetch. follows reports that. A caller that needs
// blocks of a running fetch waits for it.
func (m *misses) ahead(r read) (n int64, follows bool) {
	first, last := r.first, r.last
	for i := range m.last {
		switch at := &m.last[i]; {
		case first < at.first || first > at.end || at.end == 0 || !r.goesOn:
		case last < at.end:
			return 0, false
		default:
			at.ahead = min(2*at.ahead+1, maxBlocks-(last-first+1))
			at.first, at.end = first, last+1+at.ahead
			return at.ahead, true
		}
	}
	at := &m.last[m.next]
	at.first, at.end, at.ahead = first, last+1, 0
	m.next = (m.next + 1) % len(m.last)
	return 0, false
}

// extent returns the extent of a block.
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

// failsLately reports whether a fetch from the extent failed recently.
func (x *extent) failsLately() bool { return !x.failed.IsZero() && time.Since(x.failed) < wary }

// has reports whether a block was fetched before.
func (x *extent) has(block int64) bool { return x.fetched>>(block%extentBlocks)&1 == 1 }

// miss records a miss, and reports whether there were many recently.
func (x *extent) miss(now, recent int64) bool {
	oldest := x.misses[x.next]
	x.misses[x.next] = now
	x.next = (x.next + 1) % often
	return oldest > 0 && now-oldest <= recent
}
