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
	"github.com/larder-data/larder/store/disk/internal/medium"
	"github.com/larder-data/larder/store/internal/lease"
)

// leases lends keys among goroutines by a table, and among processes by another one
// that they share, or where that cannot be by locks on single bytes of a file.
type leases struct {
	local lease.Table

	mu      sync.Mutex
	file    *medium.File   // nil until the first lease
	other   *medium.File   // the same once more, if there is a table
	table   *byTable       // nil: there is none
	batches []*medium.File // open for those who take many leases at once without a table, and end them by one call
	free    []*medium.File // those of them that nobody has
	none    bool           // keys cannot be lent to other processes
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
	by := s.leases.open(s)
	if by == nil {
		return local, nil
	}
	var shared func()
	err = medium.Retry(ctx, func() (err error) { shared, err = by.one(k); return err })
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
	by := s.leases.open(s)
	if by == nil {
		return lent, local, nil
	}
	mine, shared, err := by.many(keys, lent)
	if err != nil && !s.closed.Load() {
		s.leases.giveUp(s, err) // from now on each process lends for itself
	}
	return mine, sync.OnceFunc(func() { shared(); local() }), nil
}

// open returns who lends among processes, nil if nobody can.
func (l *leases) open(s *Store) lender {
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

// begin opens the file of leases, and finds out how all who use it lend. The lock is
// held.
func (l *leases) begin(s *Store) {
	file, err := s.files.OpenLock(medium.LeasesFile)
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
	err = medium.Retry(ctx, func() error { return agree(file, byBytesAt, byTableAt) })
	if err != nil && s.life.Err() == nil {
		l.none = true
		l.report(s, fmt.Errorf("two may compute the same: %w", err))
	}
}

// agreePatience is for how long those are waited for who are about to agree on bytes.
const agreePatience = 50 * time.Millisecond

// openTable has keys lent by the table, if it can be.
func (l *leases) openTable(s *Store) error {
	if err := s.files.Mark(); err != nil { // what the file holds belongs to a store
		return err
	}
	other, err := s.files.OpenLock(medium.LeasesFile)
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

// take returns a file of locks for one caller alone.
func (l *leases) take(s *Store) (*medium.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		file := l.free[n-1]
		l.free = l.free[:n-1]
		return file, nil
	}
	file, err := s.files.OpenLock(medium.LeasesFile)
	if err == nil {
		l.batches = append(l.batches, file)
	}
	return file, err
}

// leave takes back what take returned, without a lock.
func (l *leases) leave(file *medium.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, file)
}

// report says why keys are not lent.
func (l *leases) report(s *Store, err error) {
	s.files.Report(s.files.Path(medium.LeasesFile), "cannot lend keys to other processes", err)
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
func (l *leases) all() []*medium.File {
	all := slices.Clone(l.batches)
	for _, f := range []*medium.File{l.file, l.other} {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// files is how many files are open.
func (l *leases) files() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all())
}
