package disk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/medium"
	"github.com/larder-data/larder/store/internal/lease"
)

// leases lends keys among goroutines by a table, and among processes by
// locks on single bytes of a file that has none.
type leases struct {
	local lease.Table

	mu      sync.Mutex
	file    *medium.File   // nil until the first lease
	batches []*medium.File // open for those who take many leases at once, and end them by one call
	free    []*medium.File // those of them that nobody has
	none    bool           // this file system has no such locks
}

// Lease lends k to the caller, alone among all processes that use the
// folder. In a store that is read-only it lends nothing and does not wait.
func (s *Store) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	if s.files.ReadOnly {
		return func() {}, ctx.Err()
	}
	local, err := s.leases.local.Acquire(ctx, k)
	if err != nil {
		return nil, err
	}
	file := s.leases.open(s)
	if file == nil {
		return local, nil
	}
	at := leaseOffset(k)
	err = medium.Retry(ctx, func() error { return file.LockByte(at) })
	if err == nil {
		return sync.OnceFunc(func() {
			_ = file.UnlockByte(at) // fails only once the store is closed
			local()
		}), nil
	}
	if ctx.Err() != nil || s.closed.Load() {
		local()
		return nil, cmp.Or(ctx.Err(), errClosed)
	}
	s.leases.giveUp(s, err)
	return local, nil
}

// TryLease lends those of the keys that nobody has, among all processes that use
// the folder.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (lent []bool, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.closed.Load() {
		return nil, nil, errClosed
	}
	lent, local := s.leases.local.TryAcquire(keys)
	if s.files.ReadOnly {
		return lent, local, nil
	}
	file := s.leases.take(s)
	if file == nil {
		return lent, local, nil
	}
	mine := slices.Clone(lent)
	for i, k := range keys {
		if !lent[i] {
			continue
		}
		err := file.LockByte(leaseOffset(k))
		switch {
		case err == nil:
			continue
		case !errors.Is(err, medium.ErrLocked) && !s.closed.Load():
			s.leases.giveUp(s, err) // from now on each process lends for itself
			continue
		}
		mine[i] = false
	}
	return mine, sync.OnceFunc(func() {
		_ = file.UnlockBytes() // fails only once the store is closed
		s.leases.leave(file)
		local()
	}), nil
}

// leaseOffset spreads keys over 62 bits. Two keys at one offset would only
// wait for each other.
func leaseOffset(k key.Key) int64 {
	return int64(format.Fingerprint(k) >> 2)
}

// open returns the file of locks, nil if there can be none.
func (l *leases) open(s *Store) *medium.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil || l.none {
		return l.file
	}
	l.file = l.openFile(s)
	return l.file
}

// take returns a file of locks for one caller alone, nil if there can be none.
func (l *leases) take(s *Store) *medium.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.none {
		return nil
	}
	if n := len(l.free); n > 0 {
		file := l.free[n-1]
		l.free = l.free[:n-1]
		return file
	}
	file := l.openFile(s)
	if file != nil {
		l.batches = append(l.batches, file)
	}
	return file
}

// leave takes back what take returned, without a lock.
func (l *leases) leave(file *medium.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, file)
}

// openFile opens the file of locks once more. The lock is held.
func (l *leases) openFile(s *Store) *medium.File {
	file, err := s.files.OpenLock(medium.LeasesFile)
	if err != nil {
		s.files.Report(s.files.Path(medium.LeasesFile), "cannot lend keys to other processes", err)
		return nil
	}
	return file
}

func (l *leases) giveUp(s *Store, err error) {
	s.files.Report("leases", "cannot lend keys to other processes: two may compute the same", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.none = true
}

func (l *leases) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, f := range l.all() {
		errs = append(errs, f.Close())
	}
	l.file, l.batches, l.free, l.none = nil, nil, nil, true
	return errors.Join(errs...)
}

// all lists the open files. The lock is held.
func (l *leases) all() []*medium.File {
	if l.file == nil {
		return l.batches
	}
	return append(slices.Clip(l.batches), l.file)
}

// files is how many files are open.
func (l *leases) files() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all())
}
