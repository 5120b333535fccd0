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

// An Item is one value, read on demand. Its value is by definition what its
// bytes decode to, wherever they are: so it does not matter whether it was
// read from a file, kept in a store, or has just been computed.
//
// The value is read once and remembered as long as the item lives, which is as
// long as a sample that has it (one of 128 MiB and more only until the maker that
// read it is done); goroutines that ask at the same time wait for
// one read. An error is not remembered. Values must not be changed. An Item may
// be used by many goroutines.
type Item struct {
	origin Origin

	mu      sync.Mutex
	read    bool
	held    bool // the value stays, however large
	reading bool // some goroutine is at it
	makers  makers
	value   any
	others  *others // nil as long as nobody waits or watches: there are many items
}

// others are those who are told of an item's value.
type others struct {
	waiting  chan struct{} // closed when the read under way has ended; nil if nobody waits
	watchers []*watcher    // told once, when the value is remembered
}

// A watcher is told how many bytes a value holds when it is remembered, until
// it has ended.
type watcher struct {
	told  func(bytes int64)
	ended atomic.Bool
}

// An Origin is where an item comes from. Its methods may be slow and may be
// called from many goroutines.
type Origin interface {
	// Ref names the item without reading or computing more than its name
	// needs.
	Ref(ctx context.Context) (key.Ref, error)
	// Ext is the extension that says how the bytes are read, without dot.
	Ext(ctx context.Context) (string, error)
	// Bytes returns the encoded item. They must not be changed.
	Bytes(ctx context.Context) ([]byte, error)
	// Digest is the digest of Bytes.
	Digest(ctx context.Context) (key.Digest, error)
}

// ItemFrom returns the item that comes from o.
func ItemFrom(o Origin) *Item { return &Item{origin: o} }

// Origin returns where the item comes from.
func (it *Item) Origin() Origin { return it.origin }

// Ref names the item: by content where that is known without computing it, and
// otherwise by the computation that makes it.
func (it *Item) Ref(ctx context.Context) (key.Ref, error) { return it.origin.Ref(ctx) }

// Ext returns the extension that says how the item is encoded, without dot.
// For an item still to be computed it may have to be computed.
func (it *Item) Ext(ctx context.Context) (string, error) { return it.origin.Ext(ctx) }

// Bytes returns the encoded item, which must not be changed.
func (it *Item) Bytes(ctx context.Context) ([]byte, error) { return it.origin.Bytes(ctx) }

// Open is Bytes for who takes them one part after another, and how many they are.
// What lies in a file is not read into memory. If it changes meanwhile, a Read fails
// with [ErrChanged], at the end at the latest: before that, nothing may come of what
// was read.
func (it *Item) Open(ctx context.Context) (r io.ReadCloser, size int64, err error) {
	if o, ok := it.origin.(opener); ok {
		return o.Open(ctx)
	}
	b, err := it.Bytes(ctx)
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
}

// opener is an origin that need not have all bytes at hand.
type opener interface {
	Open(ctx context.Context) (io.ReadCloser, int64, error)
}

// IsRaw reports whether the item's value is its bytes as they are, so that [Item.Open]
// hands out all that there is.
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
			it.mu.Unlock() // a deferred one would be an allocation in a loop
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

// ended returns what is closed when the read under way has ended. The lock is held.
func (it *Item) ended() <-chan struct{} {
	o := it.told()
	if o.waiting == nil {
		o.waiting = make(chan struct{})
	}
	return o.waiting
}

// told returns those who are told. The lock is held.
func (it *Item) told() *others {
	if it.others == nil {
		it.others = &others{}
	}
	return it.others
}

// waitFor waits for the end of what another goroutine does.
func waitFor(ctx context.Context, other <-chan struct{}) error {
	defer pool.Wait(ctx)()
	select {
	case <-other:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// load reads the value and remembers it, for the one goroutine that set
// reading.
func (it *Item) load(ctx context.Context) (v any, err error) {
	ok := false
	defer func() { // also after a panic, or others would wait for ever
		it.mu.Lock()
		defer it.mu.Unlock()
		it.reading = false
		if ok {
			it.value, it.read = v, true
		}
		if it.others != nil {
			it.tell()
		}
	}()
	v, err = read(ctx, it.origin)
	ok = err == nil
	return v, err
}

// tell tells the others that a read has ended. The lock is held.
func (it *Item) tell() {
	if it.others.waiting != nil {
		close(it.others.waiting)
		it.others.waiting = nil
	}
	if !it.read {
		return
	}
	for _, w := range it.others.watchers {
		if !w.ended.Load() {
			w.told(BytesHeld(it.value))
		}
	}
	it.others = nil
}

// Hold has the value remembered as long as the item lives, however large it is.
func (it *Item) Hold() {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.held = true
}

// forget lets go of a large value that nobody holds; who asks for it again reads it
// again.
func (it *Item) forget() {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.read && !it.held && BytesHeld(it.value) >= largeValue {
		it.value, it.read = nil, false
	}
}

// drop lets go of a value that nobody holds, however small.
func (it *Item) drop() {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.read && !it.held {
		it.value, it.read = nil, false
	}
}

// valuer is an origin that may have the value at hand, equal to what its bytes
// would decode to.
type valuer interface {
	value(ctx context.Context) (v any, ok bool, err error)
}

// read gets the value of an origin.
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

// notDecoded says whose value there is not.
func notDecoded(ctx context.Context, o Origin, err error) error {
	if errors.Is(err, codec.ErrSetting) {
		larder.Unkeep(ctx, err) // no key covers what is made without the value
	}
	return fmt.Errorf("%s: %w", Describe(o), err)
}

func decode(ctx context.Context, c codec.Codec, b []byte, o Origin) (any, error) {
	ctx, leave := timing.Enter(ctx, timing.Decode, c.Name)
	defer leave()
	return noting(ctx, c, b, o)
}

// watch has w told how many bytes the remembered value holds, now or when it is
// first read. Of those that have ended no more stay than of the others.
func (it *Item) watch(w *watcher) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.held = true // by a cache, which has its own bound
	if it.read {
		w.told(BytesHeld(it.value))
		return
	}
	o := it.told()
	o.watchers = append(o.watchers, w)
	if n := len(o.watchers); n&(n-1) == 0 { // it doubled
		o.watchers = slices.DeleteFunc(o.watchers, func(w *watcher) bool { return w.ended.Load() })
	}
}

// codecFor returns the codec of an extension; bytes of unknown extensions are
// carried as they are.
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

// NewItem returns an item in memory: a value and the extension that says how
// it is encoded when its bytes are asked for.
func NewItem(ext string, value any) *Item {
	it := &struct {
		Item
		of memory
	}{of: memory{ext: ext, given: value}}
	it.origin = &it.of
	return &it.Item
}

// memory is the origin of an item given by its value.
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

// FormatOf returns the name of the format of files with that extension: "jpeg" for
// jpg. It is "" for extensions that are not known.
func FormatOf(ext string) string {
	if c, ok := codec.ByExtension(ext); ok {
		return c.Name
	}
	return ""
}

// IsKnown reports whether items of files with that extension can be decoded.
func IsKnown(ext string) bool {
	_, ok := codec.ByExtension(ext)
	return ok
}
