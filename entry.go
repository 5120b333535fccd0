package larder

import (
	"fmt"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
)

// entry is a value in the memory cache: one that callers may share, or an [encoding]
// from which each caller decodes its own.
type entry struct {
	value    any
	typ      uint64
	key      key.Key
	mapped   bool // whether the encoding is in mapped memory
	cost     time.Duration
	bytes    int64
	uncached error // why the value is not cached
}

// encoding is an encoded value. Callers must not share what it decodes to.
type encoding []byte

// unencodable is a value that cannot be encoded, and so neither stored nor copied.
type unencodable struct{ value any }

// outcome is an entry that is passed to the waiters.
type outcome struct {
	*entry
	from  From
	reads []Read
	own   any // value decoded for the first waiter, or nil
}

// entryOverhead is about the cost of an entry in addition to its value. With a million
// samples of 74 bytes, some 290 bytes were live for each, and the collector allows as
// much garbage again.
const entryOverhead = 512

// smallPayload is the largest payload in bytes that is copied before it stays in
// memory. The copy lets the collector free the buffer that was read.
const smallPayload = 1 << 10

// largeEncoding is the size in bytes from which an encoded value is read from a store on
// disk, and not held in memory: the read takes some tens of microseconds more, which is
// little compared with decoding most values of this size.
const largeEncoding = 64 << 10

// shareable reports whether callers may share one decoded value.
func (c Call[T]) shareable() bool { return c.Share || c.Value.Plain }

// putInMemory stores the entry of v in memory, unless it is a large encoding that is also
// stored on disk, or refers to one.
func (c Call[T]) putInMemory(l *Larder, k key.Key, e *entry, v T, stored bool) {
	if l.memory == nil {
		return
	}
	if _, encoded := e.value.(encoding); encoded || c.Value.Aliases {
		if e.bytes >= largeEncoding && stored && l.dir != "" && !e.mapped {
			return
		}
	}
	bytes := e.bytes
	if c.Share && c.Bytes != nil {
		bytes = c.Bytes(v)
	}
	l.memory.Put(k, e, bytes+entryOverhead, e.cost)
}

// result converts an entry to a value of the caller's own, or to the shared one.
func (c Call[T]) result(e *entry, from From) (Result[T], error) {
	r := Result[T]{From: from, Key: e.key, Cost: e.cost, Bytes: e.bytes, Uncached: e.uncached}
	if u, ok := e.value.(unencodable); ok {
		r.Value, _ = u.value.(T)
		return r, nil
	}
	if payload, ok := e.value.(encoding); ok {
		var err error
		r.Value, err = c.Value.Decode(c.own(payload, e.mapped))
		return r, err
	}
	v, ok := e.value.(T)
	if !ok && e.value != nil {
		return r, fmt.Errorf("larder: %s: requested a %T, but the key belongs to a %T", c.Action.Op().Name(), r.Value, e.value)
	}
	r.Value = v
	if c.shareable() {
		return r, nil
	}
	payload, err := c.Value.Encode([]byte{}, v) // another call shares it
	if err == nil {
		r.Value, err = c.Value.Decode(payload)
	}
	return r, err
}

// own returns bytes that a value of the caller's own may refer to. It copies them if
// the caller could write to them and others would see it. Mapped memory is read-only.
func (c Call[T]) own(payload []byte, mapped bool) []byte {
	if c.Value.Aliases && !c.shareable() && !mapped {
		return slices.Clone(payload)
	}
	return payload
}

// outcome wraps a result for the waiters. It passes only a shareable value as it is.
func (c Call[T]) outcome(r Result[T]) (outcome, error) {
	e := &entry{typ: c.Value.Type, key: r.Key, cost: r.Cost, bytes: r.Bytes, uncached: r.Uncached}
	if c.shareable() {
		e.value = r.Value
		return outcome{e, r.From, r.Reads, nil}, nil
	}
	payload, err := c.Value.Encode([]byte{}, r.Value)
	if err != nil && r.Uncached != nil {
		e.value = unencodable{r.Value}
		return outcome{e, r.From, r.Reads, nil}, nil
	}
	e.value = encoding(payload)
	return outcome{e, r.From, r.Reads, r.Value}, err
}
