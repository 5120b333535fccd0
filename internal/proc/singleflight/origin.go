package singleflight

import (
	"bytes"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// The stack trace of a goroutine shows its origin: its number, which is not reused, its
// functions with their arguments, and the number of the goroutine that started it.

// marked calls f so that the stack trace shows n.
//
//go:noinline
func marked(n uint64, f func()) {
	f()
	runtime.KeepAlive(n) // keep it alive during f
}

// mark precedes n in the stack trace.
var mark = []byte(runtime.FuncForPC(reflect.ValueOf(marked).Pointer()).Name() + "(0x")

// kin is the information in a goroutine's stack trace.
type kin struct {
	id     uint64
	parent uint64 // goroutine that started it, or 0
	call   uint64 // number of the call whose goroutine it is, or 0
}

// family has the goroutines that were alive at the last dump.
var family = struct {
	sync.Mutex
	all    map[uint64]kin
	looked time.Time
	took   time.Duration
}{}

// rest bounds the cost of dumps, which stop all goroutines: the time between two is
// rest times the duration of one.
const rest = 50

// maxDump bounds a dump of all goroutines: some 50,000.
const maxDump = 64 << 20

// origin returns the call that the current goroutine, or one of its ancestors, belongs
// to, or nil. known is false if too many dumps were made recently.
func origin() (c *Call, known bool) {
	text := make([]byte, 64<<10)
	own := read(text[:runtime.Stack(text, false)])
	if c := callOf(own); c != nil || own.parent == 0 {
		return c, true
	}
	return ancestor(own.id)
}

func callOf(k kin) *Call {
	graph.Lock()
	defer graph.Unlock()
	return graph.numbered[k.call]
}

// ancestor searches all goroutines.
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
	for range family.all { // longer than any chain
		k, ok := family.all[id]
		if c := callOf(k); c != nil || !ok {
			return c, true
		}
		id = k.parent
	}
	return nil, true
}

func dump() []byte {
	for size := 1 << 20; ; size *= 4 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size >= maxDump {
			return text[:n]
		}
	}
}

// read parses a stack trace, from "goroutine 7 [running]:" to "created by main.main in
// goroutine 1".
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

// number parses the digits at the start of text.
func number(text []byte, base int) uint64 {
	end := bytes.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
	if end < 0 {
		end = len(text)
	}
	n, _ := strconv.ParseUint(string(text[:end]), base, 64)
	return n
}
