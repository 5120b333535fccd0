package larder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// ErrCycle is returned to a computation that requests its own result, through any
// context or goroutine that it started, and to computations that need each other's
// results. The error lists the cycle. For child processes see [Environ].
var ErrCycle = errors.New("larder: a computation needs its own result")

// Do returns the value of action a from memory, from the store, or by running compute.
// At most one compute per key runs at a time over all goroutines and processes that
// share the store.
//
// Every waiter receives the error of compute; errors are not cached. A panic in compute
// becomes a *singleflight.PanicError with its stack. When ctx ends, Do returns its
// cause immediately. The context of compute is cancelled only when no caller waits for
// it; a result after that is not cached. If a type cannot be stored without loss, Do
// returns an error before it runs compute.
//
// Some values are returned but not cached, with a warning in the log: values that
// package codec cannot encode, and values during whose computation the arguments of the
// action, or files that compute read, changed.
//
// The value belongs to the caller. But a large *array.Array may be memory mapped from
// the store: the caller may read it, and a write to it ends the program.
func Do[T any](ctx context.Context, l *Larder, a *key.Action, compute func(context.Context) (T, error)) (T, error) {
	r, err := Call[T]{Action: a, Compute: compute}.Do(ctx, l)
	return r.Value, err
}

// A Call is one use of the cache with all its options.
type Call[T any] struct {
	Action *key.Action
	// Compute computes the value.
	Compute func(context.Context) (T, error)
	// Resolve returns the action's inputs by content. It is needed where some inputs
	// are identified by the computation that produces them (key.Result). It is called
	// only if the action's own key finds nothing. If the inputs have the same content
	// as before, the old value is found (early cutoff).
	Resolve func(context.Context) ([]key.Input, error)
	// Value encodes and decodes a T; nil means codec.For[T].
	Value *codec.Value[T]
	// Share returns the same decoded value to all callers, which must not change what
	// it refers to. Otherwise each caller gets its own value.
	Share bool
	// MemoryOnly caches the value in memory and not in the store. Together with Share
	// it allows any T, such as a model, a function or a connection.
	MemoryOnly bool
	// Bytes estimates the memory of a shared value; nil means the length of its
	// encoding, if it has one.
	Bytes func(T) int64

	ofBuild bool // the value depends on the program alone, so verification would learn nothing
}

// A Result is a value and its origin.
type Result[T any] struct {
	Value T
	From  From
	Key   key.Key       // of the record that holds the value
	Cost  time.Duration // of the computation, whenever it ran
	Bytes int64         // of the encoding
	Reads []Read        // dependencies of the value and of its inputs beyond its arguments
	// Unkept is the reason why the value is not cached; nil if it is. All callers that
	// waited for a value that cannot be encoded share it, because it cannot be copied
	// either.
	Unkept error
}

// From is the origin of a value.
type From int

// Origins of values.
const (
	Computed From = iota
	FromMemory
	FromStore
)

// entry is a value in the memory cache: one that callers may share, or an [encoding]
// from which each caller decodes its own.
type entry struct {
	value  any
	typ    uint64
	key    key.Key
	mapped bool // whether the encoding is in mapped memory
	cost   time.Duration
	bytes  int64
	unkept error // why the value is not cached
}

// encoding is an encoded value. Callers must not share what it decodes to.
type encoding []byte

// unwritten is a value that cannot be encoded, and so neither stored nor copied.
type unwritten struct{ value any }

// outcome is an entry that is passed to the waiters.
type outcome struct {
	*entry
	from  From
	reads []Read
	own   any // value decoded for the first waiter, or nil
}

// Find returns the value if it is cached in memory, or in the store under the action's
// own key. It computes nothing.
func (c Call[T]) Find(ctx context.Context, l *Larder) (Result[T], bool) {
	return c.find(ctx, l, l.reads.Get)
}

// Peek is Find, but ignores records that other processes stored in the last moments. It
// is for callers that have just looked, or whose next step is [Call.Do].
func (c Call[T]) Peek(ctx context.Context, l *Larder) (Result[T], bool) {
	return c.find(ctx, l, l.reads.GetSeen)
}

func (c Call[T]) find(ctx context.Context, l *Larder, get getter) (Result[T], bool) {
	if c.complete() != nil {
		return Result[T]{}, false // such values are never cached
	}
	k := c.Action.Key()
	r, ok := c.remembered(ctx, l, k)
	if !ok && context.Cause(ctx) == nil {
		r, ok = c.kept(ctx, l, k, get)
	}
	if ok {
		Note(ctx, r.Reads...)
	}
	return r, ok
}

// Do runs the call as the function [Do] does.
func (c Call[T]) Do(ctx context.Context, l *Larder) (Result[T], error) {
	if err := c.complete(); err != nil {
		return Result[T]{}, err
	}
	r, err := c.do(ctx, l, c.Action.Key())
	return r, c.told(ctx, r, err)
}

// complete sets the default of c.Value.
func (c *Call[T]) complete() (err error) {
	if c.Value == nil {
		c.Value, err = codec.For[T]()
	}
	if err != nil && c.MemoryOnly && c.Share {
		c.Value, err = unencoded[T](), nil
	}
	if err != nil {
		err = fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
	}
	return err
}

func unencoded[T any]() *codec.Value[T] {
	typ, _ := typeNumbers.LoadOrStore(reflect.TypeFor[T](), rand.Uint64())
	return &codec.Value[T]{
		ID: "memory", Type: typ.(uint64),
		Encode: func(dst []byte, _ T) ([]byte, error) { return dst, nil },
		Decode: func([]byte) (v T, err error) { return v, errors.New("larder: the value is cached in memory only") },
	}
}

// typeNumbers distinguishes types that have no fingerprint.
var typeNumbers sync.Map // of reflect.Type to uint64

// told reports the dependencies of a result to the enclosing computation.
func (c Call[T]) told(ctx context.Context, r Result[T], err error) error {
	if err == nil {
		Note(ctx, r.Reads...)
	}
	if errors.Is(r.Unkept, ErrUnsteady) {
		Unkeep(ctx, r.Unkept)
	}
	return err
}

func (c Call[T]) do(ctx context.Context, l *Larder, k key.Key) (Result[T], error) {
	if r, ok := c.remembered(ctx, l, k); ok {
		return r, nil
	}
	if err := context.Cause(ctx); err != nil {
		return Result[T]{}, err
	}
	if r, ok := c.kept(ctx, l, k, l.reads.GetSeen); ok {
		return r, c.verify(ctx, l, r)
	}
	if IsDry(ctx) {
		return c.dry(ctx, l)
	}
	o, joined, err := l.flight.Do(ctx, k, c.Action.Op().Name(), func(ctx context.Context) (outcome, error) {
		return c.make(ctx, l, k)
	})
	if joined && errors.Is(err, ErrDeferred) {
		return c.do(ctx, l, k) // claimed as part of a batch, but not begun
	}
	return c.handOut(k, o, joined, err)
}

// handOut returns to a caller the outcome that was found or computed for all waiters of
// k.
func (c Call[T]) handOut(k key.Key, o outcome, joined bool, err error) (Result[T], error) {
	if cycle, ok := errors.AsType[*singleflight.CycleError](err); ok && !errors.Is(err, ErrCycle) {
		err = fmt.Errorf("%w: %s (%s)", ErrCycle, strings.Join(cycle.Path, " -> "), k)
	}
	if err != nil {
		return Result[T]{}, err
	}
	if joined && o.from == Computed {
		o.from = FromMemory // computed, but not by this caller
	}
	if own, ok := o.own.(T); ok && !joined {
		return Result[T]{own, o.from, o.key, o.cost, o.bytes, o.reads, o.unkept}, nil
	}
	r, err := c.result(o.entry, o.from)
	r.Reads = o.reads
	return r, err
}

// remembered looks up k in memory.
func (c Call[T]) remembered(ctx context.Context, l *Larder, k key.Key) (Result[T], bool) {
	if l.memory == nil {
		return Result[T]{}, false
	}
	e, ok := l.memory.Get(k)
	if ok && e.typ == records.Recorded {
		return c.asRecorded(ctx, l, k, e.value.(recorded), func(k key.Key) (Result[T], bool) { return c.remembered(ctx, l, k) })
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

// asRecorded looks for a value of k whose dependencies all have their present state.
func (c Call[T]) asRecorded(ctx context.Context, l *Larder, k key.Key, t recorded, find func(key.Key) (Result[T], bool)) (Result[T], bool) {
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

type getter = func(context.Context, key.Key) (store.Record, error)

// kept looks up k in the store with get.
func (c Call[T]) kept(ctx context.Context, l *Larder, k key.Key, get getter) (Result[T], bool) {
	if c.MemoryOnly {
		return Result[T]{}, false
	}
	return c.follow(ctx, l, k, get, maxHops)
}

// maxHops bounds the path from a key to a value: recorded inputs, a link, recorded
// inputs and a value.
const maxHops = 4

// follow looks up k in the store and follows links and recorded inputs.
func (c Call[T]) follow(ctx context.Context, l *Larder, k key.Key, get getter, hops int) (Result[T], bool) {
	if hops == 0 {
		return Result[T]{}, false
	}
	rec, err := get(ctx, k)
	if err != nil {
		l.unreadable(k, err)
		return Result[T]{}, false
	}
	return c.open(ctx, l, k, rec, get, hops)
}

func (l *Larder) unreadable(k key.Key, err error) {
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, fs.ErrClosed) {
		l.log.Warn("larder: the store could not be read; computing", "key", k, "error", err)
	}
}

// open returns the value of a record, or follows it.
func (c Call[T]) open(ctx context.Context, l *Larder, k key.Key, rec store.Record, get getter, hops int) (Result[T], bool) {
	switch {
	case !rec.Link.IsZero():
		r, ok := c.follow(ctx, l, rec.Link, get, hops-1)
		if ok && len(r.Reads) == 0 {
			c.rememberAs(l, k, rec.Link)
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
		return c.asRecorded(ctx, l, k, t, func(k key.Key) (Result[T], bool) { return c.follow(ctx, l, k, get, hops-1) })
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

// rememberAs stores in memory under k the entry of another key.
func (c Call[T]) rememberAs(l *Larder, k, other key.Key) {
	if l.memory == nil {
		return
	}
	if e, ok := l.memory.Get(other); ok && e.typ == c.Value.Type {
		l.memory.Put(k, e, e.bytes+entryOverhead, e.cost)
	}
}

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
	c.remember(l, k, e, v)
	return Result[T]{Value: v, From: FromStore, Key: rec.Key, Cost: rec.Cost, Bytes: e.bytes}, nil
}

func (c Call[T]) shareable() bool { return c.Share || c.Value.Plain }

func (c Call[T]) remember(l *Larder, k key.Key, e *entry, v T) {
	if l.memory == nil {
		return
	}
	bytes := e.bytes
	if c.Share && c.Bytes != nil {
		bytes = c.Bytes(v)
	}
	l.memory.Put(k, e, bytes+entryOverhead, e.cost)
}

// entryOverhead is about the cost of an entry in addition to its value. With a million
// samples of 74 bytes, some 290 bytes were live for each, and the collector allows as
// much garbage again.
const entryOverhead = 512

// smallPayload is the largest payload in bytes that is copied before it stays in
// memory. The copy lets the collector free the buffer that was read.
const smallPayload = 1 << 10

// result converts an entry to a value of the caller's own, or to the shared one.
func (c Call[T]) result(e *entry, from From) (Result[T], error) {
	r := Result[T]{From: from, Key: e.key, Cost: e.cost, Bytes: e.bytes, Unkept: e.unkept}
	if u, ok := e.value.(unwritten); ok {
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
		return r, fmt.Errorf("larder: %s: asked for %T under the key of a %T", c.Action.Op().Name(), r.Value, e.value)
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

// make finds or computes the value under k after memory and store had nothing.
func (c Call[T]) make(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	if !c.Action.Resolved() {
		return c.makeResolved(ctx, l, k)
	}
	if c.MemoryOnly {
		return c.compute(ctx, l, k)
	}
	release, err := l.lease(ctx, k)
	if err != nil {
		return outcome{}, fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
	}
	defer release()
	// Another process may have stored it while we waited.
	if r, ok := c.kept(ctx, l, k, l.reads.Get); ok {
		return c.outcome(r)
	}
	return c.compute(ctx, l, k)
}

// makeResolved tries the content-addressed key, and stores a link to the value under
// the input-addressed key.
func (c Call[T]) makeResolved(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	resolved, read, err := c.resolved(ctx)
	if err != nil {
		return outcome{}, err
	}
	reads, err := read.pages()
	if err != nil {
		return outcome{}, err
	}
	r, err := resolved.Do(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	o, link, err := c.resolvedOutcome(ctx, l, k, resolved, r, reads, read, func(Result[T]) bool { return true })
	if link != nil {
		l.put(ctx, *link)
	}
	return o, err
}

// resolved returns the call with its inputs by content, and the dependencies of these
// inputs.
func (c Call[T]) resolved(ctx context.Context) (Call[T], *notebook, error) {
	if c.Resolve == nil {
		return c, nil, fmt.Errorf("larder: %s: inputs are not resolved and the call has no Resolve", c.Action.Op().Name())
	}
	read := new(notebook)
	inputs, err := singleflight.Protect(func() ([]key.Input, error) { return c.Resolve(withNotebook(ctx, read)) })
	if err != nil {
		return c, nil, err
	}
	name := c.Action.Op().Name()
	c.Action, c.Resolve = c.Action.WithInputs(inputs), nil
	if !c.Action.Resolved() {
		err = fmt.Errorf("larder: %s: Resolve left inputs without content", name)
	}
	return c, read, err
}

// resolvedOutcome returns the outcome under k if the resolved call returned r, and the
// link to store.
func (c Call[T]) resolvedOutcome(ctx context.Context, l *Larder, k key.Key, resolved Call[T], r Result[T], reads []Read, read *notebook, remembers func(Result[T]) bool) (o outcome, link *store.Record, err error) {
	if r.Unkept == nil {
		r.Unkept = read.unsteady()
	}
	if !c.MemoryOnly && r.Unkept == nil {
		if link, err = c.link(ctx, l, k, resolved.Action.Key(), r, reads); err != nil {
			return o, nil, err
		}
	}
	r.Reads = slices.Concat(reads, r.Reads)
	o, err = c.outcome(r)
	if err == nil && len(r.Reads) == 0 && r.Unkept == nil && remembers(r) {
		c.remember(l, k, o.entry, r.Value)
	}
	return o, link, err
}

// link returns the record that leads from k to the value. It is guarded by the
// dependencies of the inputs.
func (c Call[T]) link(ctx context.Context, l *Larder, k, resolved key.Key, r Result[T], reads []Read) (*store.Record, error) {
	if len(reads) > 0 {
		var err error
		if k, err = l.putRecorded(ctx, c.Action, k, reads, true, r.Cost); err != nil {
			return nil, err
		}
	}
	target := r.Key
	if len(r.Reads) > 0 {
		target = resolved // it has recorded inputs to check
	}
	return &store.Record{Key: k, Link: target, Type: c.Value.Type, Cost: r.Cost, Provenance: provenance(c.Action, reads)}, nil
}

// outcome wraps a result for the waiters. It passes only a shareable value as it is.
func (c Call[T]) outcome(r Result[T]) (outcome, error) {
	e := &entry{typ: c.Value.Type, key: r.Key, cost: r.Cost, bytes: r.Bytes, unkept: r.Unkept}
	if c.shareable() {
		e.value = r.Value
		return outcome{e, r.From, r.Reads, nil}, nil
	}
	payload, err := c.Value.Encode([]byte{}, r.Value)
	if err != nil && r.Unkept != nil {
		e.value = unwritten{r.Value}
		return outcome{e, r.From, r.Reads, nil}, nil
	}
	e.value = encoding(payload)
	return outcome{e, r.From, r.Reads, r.Value}, err
}

func (c Call[T]) compute(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	v, err := c.run(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	s, err := c.settle(ctx, l, k, v, &desk{entry: new(entry), record: new(store.Record)})
	if err == nil && s.record != nil {
		l.put(ctx, *s.record)
	}
	c.rememberSettled(l, s)
	return s.outcome, err
}

// computed is a value that was just computed.
type computed[T any] struct {
	value T
	cost  time.Duration
	notes *notebook
	reads []Read
}

func (c Call[T]) run(ctx context.Context, l *Larder) (v computed[T], err error) {
	v.notes = new(notebook)
	start := time.Now()
	v.value, err = c.Compute(withNotebook(ctx, v.notes))
	v.cost = time.Since(start)
	l.count.computed.Add(1)
	l.count.computing.Add(int64(v.cost))
	var changed error
	v.reads, changed = v.notes.pages()
	// A computation may return half a value after its context ended.
	if err = cmp.Or(err, changed, context.Cause(ctx)); err != nil {
		l.count.failed.Add(1)
	}
	return v, err
}

// settled is a value that is ready to store and to return.
type settled[T any] struct {
	outcome
	record *store.Record // nil if not to be stored
	keep   bool          // whether to cache it in memory
	value  T
}

// desk has the buffers of settle.
type desk struct {
	entry   *entry // memory for both
	record  *store.Record
	text    []byte              // buffer to which provenance is appended
	changed func(*key.Op) error // nil means (*key.Op).Changed
}

// settle encodes a value that was computed under k. The caller stores the record.
func (c Call[T]) settle(ctx context.Context, l *Larder, k key.Key, v computed[T], at *desk) (s settled[T], err error) {
	e := at.entry
	*e = entry{typ: c.Value.Type, key: k, cost: v.cost, value: v.value}
	s = settled[T]{outcome: outcome{entry: e, from: Computed, reads: v.reads}, value: v.value}
	var payload []byte
	if !c.MemoryOnly || !c.Share || c.Bytes == nil {
		payload, err = c.Value.Encode([]byte{}, v.value)
	}
	if err == nil && !c.shareable() {
		e.value = encoding(payload)
		s.own, err = c.Value.Decode(c.own(payload, false))
	}
	if err != nil {
		e.value, s.own = unwritten{v.value}, nil
	}
	e.bytes = int64(len(payload))
	if doubt := c.doubt(v.notes, at.changed); doubt != nil {
		c.warn(l, e, "it may be wrong", doubt)
		return s, nil
	}
	if err != nil {
		c.warn(l, e, "it cannot be written", err)
		return s, nil
	}
	if len(v.reads) > 0 {
		if e.key, err = l.putRecorded(ctx, c.Action, k, v.reads, !c.MemoryOnly, v.cost); err != nil {
			return s, err
		}
	}
	s.keep = true
	if !c.MemoryOnly {
		from := len(at.text)
		at.text = appendProvenance(at.text, c.Action, v.reads)
		*at.record = store.Record{Key: e.key, Type: e.typ, Payload: payload, Cost: v.cost, Provenance: slices.Clip(at.text[from:])}
		s.record = at.record
	}
	return s, nil
}

func (c Call[T]) rememberSettled(l *Larder, s settled[T]) {
	if s.keep {
		c.remember(l, s.key, s.entry, s.value)
	}
}

// doubt returns an error if a result may not be what its key identifies. changed
// reports whether an operation changed; nil means the method of the operation.
func (c Call[T]) doubt(read *notebook, changed func(*key.Op) error) error {
	if err := read.unsteady(); err != nil {
		return err
	}
	if changed == nil {
		changed = (*key.Op).Changed
	}
	if err := cmp.Or(changed(c.Action.Op()), c.Action.ArgumentsChanged()); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsteady, err)
	}
	return nil
}

// warn sets the reason why a result is not cached, and logs it once for each operation
// and reason.
func (c Call[T]) warn(l *Larder, e *entry, reason string, err error) {
	e.unkept = fmt.Errorf("larder: %s: the result is not cached: %s: %w", c.Action.Op().Name(), reason, err)
	l.count.unkept.Add(1)
	if _, before := l.warned.LoadOrStore(c.Action.Op().Name()+"\x00"+reason, true); !before {
		l.log.Warn("larder: a result is returned but not cached, and will be computed again: "+reason, "operation", c.Action.Op().Name(), "key", e.key, "error", err)
	}
}

// put stores records and reports whether it did. If the store cannot take them, the
// computation still succeeds.
func (l *Larder) put(ctx context.Context, records ...store.Record) bool {
	if len(records) == 0 {
		return true
	}
	err := l.store.Put(context.WithoutCancel(ctx), records...)
	if err == nil {
		for _, r := range records {
			l.count.bytesWritten.Add(int64(len(r.Payload)))
		}
		return true
	}
	l.count.unkept.Add(int64(len(records)))
	l.putWarning.Do(func() {
		l.log.Warn("larder: results are computed but not cached", "error", err)
	})
	return false
}

func provenance(a *key.Action, reads []Read) []byte { return appendProvenance(nil, a, reads) }

// appendProvenance appends the provenance of an action. It drops what it cannot encode:
// an explanation may be missing, the value may not.
func appendProvenance(to []byte, a *key.Action, reads []Read) []byte {
	parts := make([]key.Part, len(reads))
	for i, r := range reads {
		parts[i] = key.Part{Kind: key.ReadPart, Name: string(r.Kind) + " " + r.Name, Value: r.Digest.String(), Digest: key.DigestOf(r.Digest[:])}
	}
	if b, err := a.AppendProvenance(to, parts...); err == nil {
		return b
	}
	return to
}
