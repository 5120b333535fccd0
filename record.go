package larder

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// settled is a [computed] value that is ready to store and to return.
type settled[T any] struct {
	outcome
	record *store.Record // nil if not to be stored
	keep   bool          // whether to cache it in memory
	value  T
}

// settleBuffers has the buffers of settle.
type settleBuffers struct {
	entry   *entry              // memory for the entry
	record  *store.Record       // memory for the record
	text    []byte              // buffer to which provenance is appended
	changed func(*key.Op) error // nil means (*key.Op).Changed
}

// settle encodes a value that was computed under k. The caller stores the record.
func (c Call[T]) settle(ctx context.Context, l *Larder, k key.Key, v computed[T], at *settleBuffers) (s settled[T], err error) {
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
		e.value, s.own = unencodable{v.value}, nil
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
		at.text = l.appendProvenance(ctx, at.text, c.Action, v.reads)
		*at.record = store.Record{Key: e.key, Type: e.typ, Payload: payload, Cost: v.cost, Provenance: slices.Clip(at.text[from:])}
		s.record = at.record
	}
	return s, nil
}

// putSettled stores the value in memory if it may be cached. stored reports whether its
// record, if it has one, is in the store.
func (c Call[T]) putSettled(l *Larder, s settled[T], stored bool) {
	if s.keep {
		c.putInMemory(l, s.key, s.entry, s.value, stored && s.record != nil)
	}
}

// doubt returns an error if a result may not be what its key identifies. changed
// reports whether an operation changed; nil means the method of the operation.
func (c Call[T]) doubt(read *notebook, changed func(*key.Op) error) error {
	if err := read.checkUnchanged(); err != nil {
		return err
	}
	if changed == nil {
		changed = (*key.Op).Changed
	}
	if err := cmp.Or(changed(c.Action.Op()), c.Action.ArgumentsChanged()); err != nil {
		return fmt.Errorf("%w: %w", ErrInputChanged, err)
	}
	return nil
}

// warn sets the reason why a result is not cached, and logs it once for each operation
// and reason.
func (c Call[T]) warn(l *Larder, e *entry, reason string, err error) {
	e.uncached = fmt.Errorf("larder: %s: the result is not cached: %s: %w", c.Action.Op().Name(), reason, err)
	l.count.uncached.Add(1)
	name := c.Action.Op().Name()
	l.WarnOnce([2]string{name, reason}, "larder: a result is returned but not cached, and will be computed again: "+reason, "operation", name, "key", e.key, "error", err)
}

// put stores records, with the descriptions to which they refer, and reports whether it
// did. If the store cannot take them, the computation still succeeds.
func (l *Larder) put(ctx context.Context, records ...store.Record) bool {
	if len(records) == 0 {
		return true
	}
	err := l.store.Put(context.WithoutCancel(ctx), append(l.descriptions.take(), records...)...)
	if err == nil {
		for _, r := range records {
			l.count.bytesWritten.Add(int64(len(r.Payload)))
		}
		return true
	}
	l.count.uncached.Add(int64(len(records)))
	l.putWarning.Do(func() {
		l.log.Warn("larder: results are computed but not cached", "error", err)
	})
	return false
}
