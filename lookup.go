package larder

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// getter reads a record: [store.Records.Get], or GetWithoutRefresh.
type getter = func(context.Context, key.Key) (store.Record, error)

// maxHops bounds the path from a key to a value: recorded inputs, a link, recorded
// inputs and a value.
const maxHops = 4

// findInMemory looks up k in memory.
func (c Call[T]) findInMemory(ctx context.Context, l *Larder, k key.Key) (Result[T], bool) {
	if l.memory == nil {
		return Result[T]{}, false
	}
	e, ok := l.memory.Get(k)
	if ok && e.typ == records.Recorded {
		return c.findRecorded(ctx, l, k, e.value.(recorded), func(k key.Key) (Result[T], bool) { return c.findInMemory(ctx, l, k) })
	}
	if !ok || e.typ != c.Value.Type {
		return Result[T]{}, false
	}
	r, err := c.result(e, FromMemory)
	if err != nil {
		return Result[T]{}, false
	}
	l.count.memoryHits.Add(1)
	l.count.saved.Add(int64(e.cost))
	return r, true
}

// findInStore looks up k in the store with get.
func (c Call[T]) findInStore(ctx context.Context, l *Larder, k key.Key, get getter) (Result[T], bool) {
	if c.MemoryOnly {
		return Result[T]{}, false
	}
	return c.follow(ctx, l, k, get, maxHops)
}

// follow looks up k in the store and follows links and recorded inputs.
func (c Call[T]) follow(ctx context.Context, l *Larder, k key.Key, get getter, hops int) (Result[T], bool) {
	if hops == 0 {
		return Result[T]{}, false
	}
	rec, err := get(ctx, k)
	if err != nil {
		l.unreadable(ctx, k, err)
		return Result[T]{}, false
	}
	return c.open(ctx, l, k, rec, get, hops)
}

// open returns the value of a record, or follows it.
func (c Call[T]) open(ctx context.Context, l *Larder, k key.Key, rec store.Record, get getter, hops int) (Result[T], bool) {
	switch {
	case !rec.Link.IsZero():
		r, ok := c.follow(ctx, l, rec.Link, get, hops-1)
		if ok && len(r.Reads) == 0 {
			c.aliasInMemory(l, k, rec.Link)
		}
		return r, ok
	case rec.Type == records.Recorded:
		t, err := decodeRecorded(rec.Payload)
		if err != nil {
			return Result[T]{}, false
		}
		if l.memory != nil {
			l.memory.Put(k, &entry{value: t, typ: records.Recorded, key: k}, int64(len(rec.Payload))+entryOverhead, 0)
		}
		return c.findRecorded(ctx, l, k, t, func(k key.Key) (Result[T], bool) { return c.follow(ctx, l, k, get, hops-1) })
	case rec.Type != c.Value.Type:
		return Result[T]{}, false // a record of another type is not our value
	}
	r, err := c.decode(l, k, rec)
	if err != nil {
		l.log.Warn("larder: a cached value could not be decoded; computing it again", "key", k, "error", err)
		return Result[T]{}, false
	}
	l.count.storeHits.Add(1)
	l.count.saved.Add(int64(rec.Cost))
	l.count.bytesRead.Add(int64(len(rec.Payload)))
	return r, true
}

// findRecorded looks for a value of k whose dependencies all have their present state.
func (c Call[T]) findRecorded(ctx context.Context, l *Larder, k key.Key, t recorded, find func(key.Key) (Result[T], bool)) (Result[T], bool) {
	for _, list := range t {
		reads, err := present(ctx, l, list)
		if err != nil {
			continue // it cannot be read now, so it changed
		}
		under, err := recordedKey(k, reads)
		if err != nil {
			continue
		}
		if r, ok := find(under); ok {
			r.Reads = slices.Concat(reads, r.Reads)
			return r, true
		}
	}
	return Result[T]{}, false
}

// aliasInMemory stores in memory under k the entry of another key.
func (c Call[T]) aliasInMemory(l *Larder, k, other key.Key) {
	if l.memory == nil {
		return
	}
	if e, ok := l.memory.Get(other); ok && e.typ == c.Value.Type {
		l.memory.Put(k, e, e.bytes+entryOverhead, e.cost)
	}
}

// decode decodes a record and stores the value in memory.
func (c Call[T]) decode(l *Larder, k key.Key, rec store.Record) (Result[T], error) {
	e := &entry{typ: rec.Type, key: rec.Key, cost: rec.Cost, bytes: int64(len(rec.Payload)), mapped: rec.Mapped}
	payload := rec.Payload
	if l.memory != nil && !rec.Mapped && len(payload) <= smallPayload && (c.Value.Aliases || !c.shareable()) {
		payload = slices.Clone(payload)
	}
	v, err := c.Value.Decode(c.own(payload, rec.Mapped))
	if err != nil {
		return Result[T]{}, err
	}
	if c.shareable() {
		e.value = v
	} else {
		e.value = encoding(payload)
	}
	c.putInMemory(l, k, e, v, true)
	return Result[T]{Value: v, From: FromStore, Key: rec.Key, Cost: rec.Cost, Bytes: e.bytes}, nil
}

// unreadable logs an error of the store, which counts as a miss, unless ctx ended.
func (l *Larder) unreadable(ctx context.Context, k key.Key, err error) {
	if ctx.Err() == nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, fs.ErrClosed) {
		l.log.Warn("larder: the store could not be read; computing", "key", k, "error", err)
	}
}

// found returns the value of a record, if there is one.
func (c Call[T]) found(ctx context.Context, l *Larder, k key.Key, records []store.Record, j int, get getter) (Result[T], bool) {
	if records == nil || records[j].Key.IsZero() {
		return Result[T]{}, false
	}
	return c.open(ctx, l, k, records[j], get, maxHops)
}

// records is GetMany; it returns no records if the store cannot be read.
func (l *Larder) records(ctx context.Context, keys []key.Key) []store.Record {
	if len(keys) == 0 {
		return nil
	}
	records, err := l.reads.GetMany(ctx, keys)
	if err != nil {
		l.unreadable(ctx, keys[0], err)
		return nil
	}
	return records
}

// changes returns the change count of the store, if it has one: see [store.ChangeCounter].
func (l *Larder) changes(look bool) (n uint64, ok bool) {
	s, ok := l.reads.(store.ChangeCounter)
	if ok {
		n = s.Changes(look)
	}
	return n, ok
}
