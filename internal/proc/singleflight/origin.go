package singleflight

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// Where a goroutine comes from is told by what the runtime prints of it: its
// number, which is not used again, the functions it is in, with their arguments,
// and the number of the goroutine that started it.

// marked calls f in a way that shows a number to those who look at the stack.
//
//go:noinline
func marked(n uint64, f func()) {
	f()
	runtime.KeepAlive(n) // so that it is still there meanwhile
}

// mark is how it shows.
var mark = []byte("/internal/flight.marked(0x")

// kin is what is printed of a goroutine.
type kin struct {
	id     uint64
	parent uint64 // that started it, or 0
	call   uint64 // the number of the call whose goroutine it is, or 0
}

// family has the goroutines that were alive at the last look.
var family = struct {
	sync.Mutex
	all    map[uint64]kin
	looked time.Time
	took   time.Duration
}{}

// rest is how many times as long as it took a look at all goroutines, which
// stops them, is not taken again.
const rest = 50

// maxDump bounds what is printed of all goroutines: some 50,000.
const maxDump = 64 << 20

// origin returns the call whose goroutine is the caller's, or started it, however
// far up: nil if there is none. It is not known where too many have asked of
// late.
func origin() (c *Call, known bool) {
	text := make([]byte, 64<<10)
	own := read(text[:runtime.Stack(text, false)])
	if c := callOf(own); c != nil || own.parent == 0 {
		return c, true
	}
	return ancestor(own.id)
}

// callOf returns the call under way that has the goroutine, or nil.
func callOf(k kin) *Call {
	graph.Lock()
	defer graph.Unlock()
	return graph.numbered[k.call]
}

// ancestor looks through all goroutines.
func ancestor(id uint64) (c *Call, known bool) {
	family.Lock()
	defer family.Unlock()
	if _, ok := family.all[id]; !ok {
		start := time.Now()
		if since := start.Sub(family.looked); since >= 0 && since < rest*family.took {
			return nil, false
		}
		family.all = map[uint64]kin{}
		for text := range bytes.SplitSeq(dump(), []byte("\n\n")) {
			k := read(text)
			family.all[k.id] = k
		}
		family.looked, family.took = start, time.Since(start)
	}
	for range family.all { // no way is longer
		k, ok := family.all[id]
		if c := callOf(k); c != nil || !ok {
			return c, true
		}
		id = k.parent
	}
	return nil, true
}

// dump returns what the runtime prints of all goroutines.
func dump() []byte {
	for size := 1 << 20; ; size *= 4 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size >= maxDump {
			return text[:n]
		}
	}
}

// read reads what is printed of a goroutine, from "goroutine 7 [running]:" to
// "created by main.main in goroutine 1".
func read(text []byte) kin {
	id, _ := bytes.CutPrefix(text, []byte("goroutine "))
	k := kin{id: number(id, 10), parent: creator(text)}
	if at := bytes.LastIndex(text, mark); at >= 0 {
		k.call = number(text[at+len(mark):], 16)
	}
	return k
}

func creator(text []byte) uint64 {
	at := bytes.LastIndex(text, []byte("\ncreated by "))
	if at < 0 {
		return 0
	}
	line, _, _ := bytes.Cut(text[at+1:], []byte("\n"))
	_, id, _ := bytes.Cut(line, []byte(" in goroutine "))
	return number(id, 10)
}

// number reads the digits that text begins with.
func number(text []byte, base int) uint64 {
	end := bytes.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
	if end < 0 {
		end = len(text)
	}
	n, _ := strconv.ParseUint(string(text[:end]), base, 64)
	return n
}
