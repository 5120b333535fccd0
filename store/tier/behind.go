package tier

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store"
)

const (
	maxBehind       = 64 << 20 // bytes of records that wait to be stored in far
	maxBehindWrite  = 8 << 20  // bytes of a write that may wait
	maxOffered      = 1 << 20  // keys of near that are looked up in far, in all
	offeredTogether = 256
)

// A Lister is an optional ability of a far store: it knows which keys it has. Results that
// were computed while far could not be used are stored there when they are read again.
type Lister interface {
	// Lacks returns those of the keys under which the store has no record and accepts one.
	Lacks(ctx context.Context, keys []key.Key) ([]key.Key, error)
}

// behind stores records in far in the background, in the order of the calls, and ends leases
// after the results.
type behind struct {
	near, far store.Records
	lister    Lister // nil if far is none

	mu      sync.Mutex
	changed sync.Cond // a write of far ended
	records []store.Record
	ends    []ending
	ended   map[key.Key]int // leases that have not ended in far yet
	bytes   int64           // of the records that are not stored yet
	running bool
	offered []key.Key // found in near, and not looked up in far yet
	asked   map[key.Key]bool
}

// ending is leases that end once the records put before are stored.
type ending struct {
	keys []key.Key
	end  func()
}

func newBehind(near, far store.Records) *behind {
	b := &behind{near: near, far: far, ended: map[key.Key]int{}, asked: map[key.Key]bool{}}
	b.lister, _ = far.(Lister)
	b.changed.L = &b.mu
	return b
}

// put stores records soon. It waits only while too many bytes wait.
func (b *behind) put(ctx context.Context, records []store.Record) {
	n := bytesOf(records)
	if n > maxBehindWrite { // too large to copy
		defer pool.RoundTrip(ctx, n)()
		b.flush()
		_ = b.far.Put(ctx, records...)
		return
	}
	copies := make([]store.Record, len(records))
	for i, r := range records {
		r.Payload, r.Provenance = bytes.Clone(r.Payload), bytes.Clone(r.Provenance)
		copies[i] = r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes > maxBehind-n {
		defer pool.RoundTrip(ctx, n)()
		for b.bytes > maxBehind-n {
			b.changed.Wait()
		}
	}
	b.records, b.bytes = append(b.records, copies...), b.bytes+n
	b.start()
}

// offer stores records of near that far lacks.
func (b *behind) offer(records ...store.Record) {
	if b.lister == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range records {
		r := &records[i]
		if r.Key.IsZero() || !isShared(r) || b.asked[r.Key] || len(b.asked) == maxOffered {
			continue
		}
		b.asked[r.Key] = true
		b.offered = append(b.offered, r.Key)
	}
	if len(b.offered) > 0 {
		b.start()
	}
}

// copyOffered copies those records of near to far that far lacks. It reports whether far can
// be used.
func (b *behind) copyOffered(keys []key.Key) bool {
	lacks, err := b.lister.Lacks(context.Background(), keys)
	if err != nil || len(lacks) == 0 {
		return err == nil
	}
	records, err := whole(context.Background(), b.near, lacks)
	if err != nil {
		return false
	}
	records = slices.DeleteFunc(records, func(r store.Record) bool { return r.Key.IsZero() })
	return len(records) == 0 || b.far.Put(context.Background(), records...) == nil
}

// then calls end, which ends the leases of keys, once the records put so far are stored.
func (b *behind) then(keys []key.Key, end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends = append(b.ends, ending{keys, end})
	for _, k := range keys {
		b.ended[k]++
	}
	b.start()
}

// flush waits until the records put so far are stored.
func (b *behind) flush() {
	done := make(chan struct{})
	b.then(nil, func() { close(done) })
	<-done
}

// wait waits until those leases of keys that have ended here have ended in far.
func (b *behind) wait(keys ...key.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slices.ContainsFunc(keys, func(k key.Key) bool { return b.ended[k] > 0 }) {
		b.changed.Wait()
	}
}

// start starts the writer unless it runs. The caller holds the lock.
func (b *behind) start() {
	if !b.running {
		b.running = true
		go b.run()
	}
}

// run stores what was put since its last write, and ends when that is nothing.
func (b *behind) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.records) > 0 || len(b.ends) > 0 || len(b.offered) > 0 {
		records, ends := b.records, b.ends
		b.records, b.ends = nil, nil
		some := b.offered[:min(len(b.offered), offeredTogether)]
		b.offered = b.offered[len(some):]
		b.mu.Unlock()
		b.write(records, ends)
		usable := len(some) == 0 || b.copyOffered(some) // last, because callers wait for the others
		b.mu.Lock()
		if !usable {
			b.offered = nil
		}
		b.bytes -= bytesOf(records)
		for _, e := range ends {
			b.forget(e.keys)
		}
		b.changed.Broadcast()
	}
	b.running = false
	b.changed.Broadcast()
}

// close waits until all is stored.
func (b *behind) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.running {
		b.changed.Wait()
	}
}

func (b *behind) write(records []store.Record, ends []ending) {
	if len(records) > 0 {
		_ = b.far.Put(context.Background(), records...) // far logs its errors
	}
	var all sync.WaitGroup
	for _, e := range ends { // each may be a request
		all.Go(e.end)
	}
	all.Wait()
}

// forget removes leases that have ended. The caller holds the lock.
func (b *behind) forget(keys []key.Key) {
	for _, k := range keys {
		if b.ended[k]--; b.ended[k] == 0 {
			delete(b.ended, k)
		}
	}
}

func bytesOf(records []store.Record) (n int64) {
	for i := range records {
		n += int64(key.Size + len(records[i].Payload) + len(records[i].Provenance))
	}
	return n
}
