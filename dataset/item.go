package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// An Item is one value, read on demand. Its value is by definition what its bytes decode
// to, whether it is read from a file, cached in a store, or just computed.
//
// The value is read once and stays in memory as long as the item lives, which is as long
// as a sample that has it. A value of 128 MiB or more stays only until the transform
// that read it is done. Goroutines that request the value concurrently wait for one
// read. Errors are not cached. Values must not be changed. An Item may be used by many
// goroutines.
type Item struct {
	origin Origin

	// The value is unread, reading, or read. A goroutine that finds it unread reads it; after
	// an error it is unread again. Releasing a read value that is not retained makes it
	// unread, too.
	mu       sync.Mutex
	reading  bool // a goroutine is reading
	read     bool // value is set
	retained bool // the value stays in memory, however large
	readers  readers
	value    any
	others   *others // nil while no goroutine waits or watches: there are many items
}

// others are the goroutines and watchers to notify of an item's value.
type others struct {
	waiting  chan struct{} // closed when the current read has ended; nil if no goroutine waits
	watchers []*watcher    // notified once, when the value is stored
}

// A watcher receives the size in bytes of a value when it is stored, until the watcher
// has ended.
type watcher struct {
	notified func(bytes int64)
	ended    atomic.Bool
}

// An Origin is the source of an item's bytes. Its methods may be slow and may be called
// from many goroutines.
type Origin interface {
	// Ref identifies the item without reading or computing more than that needs.
	Ref(ctx context.Context) (key.Ref, error)
	// Ext returns the extension, without dot, that selects the codec.
	Ext(ctx context.Context) (string, error)
	// Bytes returns the encoded item. Callers must not change the bytes.
	Bytes(ctx context.Context) ([]byte, error)
	// Digest returns the digest of Bytes.
	Digest(ctx context.Context) (key.Digest, error)
}

// ItemFrom returns the item with origin o.
func ItemFrom(o Origin) *Item { return &Item{origin: o} }

// Origin returns the origin of the item.
func (it *Item) Origin() Origin { return it.origin }

// Ref identifies the item: by content if that is known without computing it, and
// otherwise by the computation.
func (it *Item) Ref(ctx context.Context) (key.Ref, error) { return it.origin.Ref(ctx) }

// Ext returns the extension, without dot, that is the format of the item. It may have
// to compute an item that is not computed yet.
func (it *Item) Ext(ctx context.Context) (string, error) { return it.origin.Ext(ctx) }

// Bytes returns the encoded item, which must not be changed.
func (it *Item) Bytes(ctx context.Context) ([]byte, error) { return it.origin.Bytes(ctx) }

// Open returns the bytes of the item as a stream, and their number. A file is not read
// into memory. If it changes during the read, a Read fails with [ErrChanged], at the end
// at the latest; until then the caller must not use the bytes for a result.
func (it *Item) Open(ctx context.Context) (r io.ReadCloser, size int64, err error) {
	if o, ok := it.origin.(opener); ok {
		return o.Open(ctx)
	}
	b, err := it.Bytes(ctx)
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
}

// opener is an origin that can stream its bytes.
type opener interface {
	Open(ctx context.Context) (io.ReadCloser, int64, error)
}

// IsRaw reports whether the item's value is its undecoded bytes, so that [Item.Open]
// returns all of it.
func (it *Item) IsRaw(ctx context.Context) (bool, error) {
	ext, err := it.Ext(ctx)
	return err == nil && codecFor(ext).Name == codec.Raw.Name, err
}

// Digest returns the digest of the item's bytes.
func (it *Item) Digest(ctx context.Context) (key.Digest, error) { return it.origin.Digest(ctx) }

// Value returns the decoded item. A file of unknown extension is a []byte.
func (it *Item) Value(ctx context.Context) (any, error) {
	for {
		it.mu.Lock()
		switch {
		case it.read:
			v := it.value
			it.mu.Unlock() // not deferred: a defer in a loop allocates
			return v, nil
		case !it.reading:
			it.reading = true
			it.mu.Unlock()
			return it.load(ctx)
		}
		other := it.ended()
		it.mu.Unlock()
		if err := waitFor(ctx, other); err != nil {
			return nil, err
		}
	}
}

// ended returns a channel that is closed when the current read ends. The lock is held.
func (it *Item) ended() <-chan struct{} {
	o := it.notified()
	if o.waiting == nil {
		o.waiting = make(chan struct{})
	}
	return o.waiting
}

// notified returns the waiters and watchers of the item. The lock is held.
func (it *Item) notified() *others {
	if it.others == nil {
		it.others = &others{}
	}
	return it.others
}

// waitFor waits until another goroutine has finished.
func waitFor(ctx context.Context, other <-chan struct{}) error {
	defer pool.Wait(ctx)()
	select {
	case <-other:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// load reads and stores the value. Only the goroutine that set reading calls it.
func (it *Item) load(ctx context.Context) (v any, err error) {
	ok := false
	defer func() { // also after a panic, or others would wait forever
		it.mu.Lock()
		defer it.mu.Unlock()
		it.reading = false
		if ok {
			it.value, it.read = v, true
		}
		if it.others != nil {
			it.notify()
		}
	}()
	v, err = read(ctx, it.origin)
	ok = err == nil
	return v, err
}

// notify notifies the others that a read has ended. The lock is held.
func (it *Item) notify() {
	if it.others.waiting != nil {
		close(it.others.waiting)
		it.others.waiting = nil
	}
	if !it.read {
		return
	}
	for _, w := range it.others.watchers {
		if !w.ended.Load() {
			w.notified(BytesHeld(it.value))
		}
	}
	it.others = nil
}

// Retain makes the value stay in memory as long as the item lives, however large it is.
func (it *Item) Retain() {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.retained = true
}

// forget releases a large value that is not held; the next request reads it again.
func (it *Item) forget() {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.read && !it.retained && BytesHeld(it.value) >= largeValue {
		it.value, it.read = nil, false
	}
}

// drop releases a value of any size that is not held.
func (it *Item) drop() {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.read && !it.retained {
		it.value, it.read = nil, false
	}
}

// valuer is an origin that may have the value in memory, equal to what its bytes would
// decode to.
type valuer interface {
	value(ctx context.Context) (v any, ok bool, err error)
}

// read returns the value of an origin.
func read(ctx context.Context, o Origin) (any, error) {
	if at, ok := o.(valuer); ok {
		if v, ok, err := at.value(ctx); ok || err != nil {
			return v, err
		}
	}
	ext, err := o.Ext(ctx)
	if err != nil {
		return nil, err
	}
	b, err := o.Bytes(ctx)
	if err != nil {
		return nil, err
	}
	c := codecFor(ext)
	done, err := takeIn(ctx, claims(c, b))
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := decode(ctx, c, b, o)
	if err != nil {
		return nil, notDecoded(ctx, o, err)
	}
	return v, nil
}

// notDecoded adds the origin to a decoding error.
func notDecoded(ctx context.Context, o Origin, err error) error {
	if errors.Is(err, codec.ErrSetting) {
		larder.NoStore(ctx, err) // no key covers a result computed without the value
	}
	return fmt.Errorf("%s: %w", Describe(o), err)
}

func decode(ctx context.Context, c codec.Codec, b []byte, o Origin) (any, error) {
	ctx, leave := timing.Enter(ctx, timing.Decode, c.Name)
	defer leave()
	return noting(ctx, c, b, o)
}

// watch reports the size of the stored value to w, now or when it is first read. It
// removes ended watchers, so at most as many remain as there are active ones.
func (it *Item) watch(w *watcher) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.retained = true // the cache has its own bound
	if it.read {
		w.notified(BytesHeld(it.value))
		return
	}
	o := it.notified()
	o.watchers = append(o.watchers, w)
	if n := len(o.watchers); n&(n-1) == 0 { // it doubled
		o.watchers = slices.DeleteFunc(o.watchers, func(w *watcher) bool { return w.ended.Load() })
	}
}

// codecFor returns the codec of an extension, or [codec.Raw] for unknown extensions.
func codecFor(ext string) codec.Codec {
	if c, ok := codec.ByExtension(ext); ok {
		return c
	}
	return codec.Raw
}

// Describe names the origin of an item for an error message.
func Describe(o Origin) string {
	if s, ok := o.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", o)
}

// NewItem returns an item in memory: a value and the extension with which its bytes are
// encoded on demand.
func NewItem(ext string, value any) *Item {
	it := &struct {
		Item
		of memory
	}{of: memory{ext: ext, given: value}}
	it.origin = &it.of
	return &it.Item
}

// memory is the origin of an item created from its value.
type memory struct {
	ext   string
	given any

	once   sync.Once
	bytes  []byte
	err    error
	digest lazyDigest
}

func (m *memory) String() string { return display.Value(m.given) + " in memory" }

func (m *memory) value(context.Context) (v any, ok bool, err error) { //nolint:unparam // valuer may fail
	return m.given, exact(m.ext, m.given), nil
}

func (m *memory) encode() {
	m.once.Do(func() {
		m.bytes, m.err = codecFor(m.ext).Encode(m.given)
		if m.err != nil {
			m.err = fmt.Errorf("encode %s as %s: %w", m, m.ext, m.err)
		}
	})
}

func (m *memory) Ext(context.Context) (string, error) { return m.ext, nil }

func (m *memory) Bytes(context.Context) ([]byte, error) {
	m.encode()
	return m.bytes, m.err
}

func (m *memory) Digest(context.Context) (key.Digest, error) {
	if m.encode(); m.err != nil {
		return key.Digest{}, m.err
	}
	return m.digest.of(m.bytes), nil
}

func (m *memory) Ref(ctx context.Context) (key.Ref, error) {
	d, err := m.Digest(ctx)
	return key.Content(d), err
}

// FormatOf returns the name of the format of an extension, such as "jpeg" for jpg, or ""
// for unknown extensions.
func FormatOf(ext string) string {
	if c, ok := codec.ByExtension(ext); ok {
		return c.Name
	}
	return ""
}

// IsKnown reports whether items with that extension can be decoded.
func IsKnown(ext string) bool {
	_, ok := codec.ByExtension(ext)
	return ok
}
