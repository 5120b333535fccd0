package larder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Two processes can deadlock if each holds the lease that the other waits for. So a
// process that waits long within a computation repeatedly stores a note: which of its
// computations waits for which key. It also reads the notes of others. If they lead
// back to its own computations, that is a cycle.

// leasePatience is the time before a waiting process stores its first note, and then
// the time between notes.
const leasePatience = 2 * time.Second

var waitOp = func() *key.Op {
	op, err := key.NewOp("waiting for a lease", key.Version("1"))
	if err != nil {
		panic(err) // no parameter can be wrong
	}
	return op
}()

// waitKey returns the key of the note that says what the computation of k waits for.
func waitKey(k key.Key) key.Key {
	return waitOp.Key(key.Input{Name: "key", Ref: key.Result(k, "")})
}

// lease acquires the lease of k. It fails with [ErrCycle] if the holder waits for a
// computation of this process, or of the process that started it.
func (l *Larder) lease(ctx context.Context, k key.Key) (release func(), err error) {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.queued.Store(k, true)
	defer l.queued.Delete(k)
	w := &waiter{larder: l, key: k, stop: stop, beats: map[key.Key]int64{}}
	timer := time.AfterFunc(leasePatience, func() { w.run(waiting) })
	release, err = l.store.Lease(waiting, k)
	timer.Stop()
	stop(nil)
	w.end()
	if cause := context.Cause(waiting); err != nil && errors.Is(cause, ErrCycle) {
		return nil, fmt.Errorf("waiting for another process: %w", cause)
	}
	if errors.Is(err, fs.ErrClosed) {
		return nil, fmt.Errorf("%w: close the Larder after its last use", err)
	}
	if err != nil {
		return nil, err
	}
	return l.hold([]key.Key{k}, release), nil
}

// tryLease acquires, without waiting, the leases of those keys that no other process
// holds.
func (l *Larder) tryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	if len(keys) == 0 {
		return nil, func() {}, nil
	}
	leased, release, err = l.store.TryLease(ctx, keys)
	if errors.Is(err, fs.ErrClosed) {
		return nil, nil, fmt.Errorf("%w: close the Larder after its last use", err)
	}
	if err != nil {
		return nil, nil, err
	}
	mine := make([]key.Key, 0, len(keys))
	for i, k := range keys {
		if leased[i] {
			mine = append(mine, k)
		}
	}
	return leased, l.hold(mine, release), nil
}

// waiter looks for cycles during the wait for a lease.
type waiter struct {
	larder *Larder
	key    key.Key
	stop   context.CancelCauseFunc

	mu    sync.Mutex // held while run runs
	noted []key.Key
	beats map[key.Key]int64 // last notes of others, by the computation that waits
}

func (w *waiter) run(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if within := inherited(); within[w.larder.Key(w.key)] {
		w.stop(fmt.Errorf("%w: the process that started this one computes %s, and waits for it", ErrCycle, w.key))
		return
	}
	for ctx.Err() == nil {
		if around := w.around(ctx); len(around) > 0 {
			w.note(ctx, around)
			if back, ok := w.cycle(ctx, around); ok {
				w.stop(fmt.Errorf("%w: %s (%s) waits for %s, whose computation in another process waits for it", ErrCycle, around[back], back, w.key))
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(leasePatience):
		}
	}
}

// end deletes the notes.
func (w *waiter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.noted) > 0 {
		_ = w.larder.store.Delete(context.Background(), w.noted...) // if it fails, the note is not renewed and means nothing
	}
}

// around returns the computations of this process that wait for the key and have the
// same store and salt.
func (w *waiter) around(ctx context.Context) map[key.Key]string {
	all := map[key.Key]string{}
	for _, c := range singleflight.Around(ctx) {
		if k, ok := c.Key.(key.Key); ok && k != w.key && c.Scope == w.larder.flight.Scope {
			all[k] = c.Name
		}
	}
	return all
}

// note stores a note for each computation that waits for the key.
func (w *waiter) note(ctx context.Context, around map[key.Key]string) {
	payload := binary.BigEndian.AppendUint64(w.key[:], uint64(time.Now().UnixNano()))
	for k := range around {
		at := waitKey(k)
		if w.larder.store.Put(ctx, store.Record{Key: at, Type: records.Waiting, Payload: payload}) == nil && !slices.Contains(w.noted, at) {
			w.noted = append(w.noted, at)
		}
	}
}

// cycle follows the notes of others from the key. It returns the computation of this
// process to which they lead, and whether each note was renewed since the last check:
// if so, its writers are alive and waiting.
func (w *waiter) cycle(ctx context.Context, around map[key.Key]string) (back key.Key, found bool) {
	renewed, seen := true, map[key.Key]bool{}
	for at := w.key; !seen[at]; {
		seen[at] = true
		rec, err := w.larder.store.Get(ctx, waitKey(at))
		if err != nil || rec.Type != records.Waiting || len(rec.Payload) != key.Size+8 {
			return key.Key{}, false
		}
		beat := int64(binary.BigEndian.Uint64(rec.Payload[key.Size:]))
		before, known := w.beats[at]
		renewed = renewed && known && before != beat
		w.beats[at] = beat
		at = key.Key(rec.Payload[:key.Size])
		if _, mine := around[at]; mine {
			return at, renewed
		}
	}
	return key.Key{}, false // a cycle of others
}
