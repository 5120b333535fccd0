package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/internal/lease"
)

// leases tracks the leases of a store: among goroutines in a local table, among processes
// in a table in shared memory. Without such a table, processes lock single bytes of a file.
type leases struct {
	local lease.Table

	mu      sync.Mutex
	file    *vfs.File   // nil until the first lease
	other   *vfs.File   // a second open file of it, if there is a table
	table   *byTable    // nil if there is none
	batches []*vfs.File // open files for many leases without a table; one call ends them
	free    []*vfs.File // the unused ones of batches
	none    bool        // keys cannot be leased among processes
}

// Lease leases k to the caller, exclusively among all processes that use the directory. In
// a read-only store it leases nothing and does not wait.
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
	by := s.leases.open(s)
	if by == nil {
		return local, nil
	}
	var shared func()
	err = vfs.Retry(ctx, func() (err error) { shared, err = by.one(k); return err })
	if err == nil {
		return sync.OnceFunc(func() { shared(); local() }), nil
	}
	if ctx.Err() != nil || s.closed.Load() {
		local()
		return nil, cmp.Or(ctx.Err(), errClosed)
	}
	s.leases.giveUp(s, err)
	return local, nil
}

// TryLease leases those of the keys that no process using the directory holds.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.closed.Load() {
		return nil, nil, errClosed
	}
	leased, local := s.leases.local.TryAcquire(keys)
	if s.files.ReadOnly {
		return leased, local, nil
	}
	by := s.leases.open(s)
	if by == nil {
		return leased, local, nil
	}
	mine, shared, err := by.many(keys, leased)
	if err != nil && !s.closed.Load() {
		s.leases.giveUp(s, err) // from now on, this process leases only among its goroutines
	}
	return mine, sync.OnceFunc(func() { shared(); local() }), nil
}

// open returns the lock table that processes share, or nil.
func (l *leases) open(s *Store) keyLocker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !l.none {
		l.begin(s)
	}
	switch {
	case l.none || l.file == nil:
		return nil
	case l.table != nil:
		return l.table
	}
	return byBytes{l, s, l.file}
}

// begin opens the file of leases, and finds out by which method its users lease keys. The
// lock is held.
func (l *leases) begin(s *Store) {
	file, err := s.files.OpenLock(vfs.LeasesFile)
	if err != nil {
		l.report(s, err)
		return
	}
	l.file = file
	if l.openTable(s) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, agreePatience)
	defer cancel()
	err = vfs.Retry(ctx, func() error { return agree(file, byBytesAt, byTableAt) })
	if err != nil && s.life.Err() == nil {
		l.none = true
		l.report(s, fmt.Errorf("two processes may compute the same result: %w", err))
	}
}

// agreePatience is how long begin waits for other processes that are about to agree on
// bytes.
const agreePatience = 50 * time.Millisecond

// openTable uses the table, if possible.
func (l *leases) openTable(s *Store) error {
	if err := s.files.Mark(); err != nil { // the content of the file belongs to a store
		return err
	}
	other, err := s.files.OpenLock(vfs.LeasesFile)
	if err != nil {
		return err
	}
	l.table, err = openTable(l.file, other)
	if err != nil {
		return errors.Join(err, other.Close())
	}
	l.other = other
	return nil
}

// take returns a file of locks for one caller.
func (l *leases) take(s *Store) (*vfs.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		file := l.free[n-1]
		l.free = l.free[:n-1]
		return file, nil
	}
	file, err := s.files.OpenLock(vfs.LeasesFile)
	if err == nil {
		l.batches = append(l.batches, file)
	}
	return file, err
}

// leave returns an unlocked file of take to free.
func (l *leases) leave(file *vfs.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, file)
}

// report logs why keys are not leased.
func (l *leases) report(s *Store, err error) {
	s.files.Report(s.files.Path(vfs.LeasesFile), "cannot lock results against other processes", err)
}

func (l *leases) giveUp(s *Store, err error) {
	s.files.Report("leases", "cannot lock results against other processes: two processes may compute the same result", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.none = true
}

func (l *leases) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.table != nil {
		errs = append(errs, l.table.close())
	}
	for _, f := range l.all() {
		errs = append(errs, f.Close())
	}
	l.file, l.other, l.table, l.batches, l.free, l.none = nil, nil, nil, nil, nil, true
	return errors.Join(errs...)
}

// all lists the open files. The lock is held.
func (l *leases) all() []*vfs.File {
	all := slices.Clone(l.batches)
	for _, f := range []*vfs.File{l.file, l.other} {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// files returns the number of open files.
func (l *leases) files() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all())
}
