package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// leastMerge is how many records may lack a merged index: reading them takes a few
// milliseconds. Beyond it, the limit is a part of the indexed records, so merging writes
// each record only a few times. Close, which happens once, leaves fewer.
const (
	leastMerge = 1 << 14
	mergePart  = 4
	closePart  = 32
)

func (s *Store) mergedPath() string { return s.files.Path(mergedFile) }

// openMerged returns the merged index in the directory, nil if there is none. It
// quarantines a damaged one.
func (s *Store) openMerged() *base {
	m, err := openBase(s.files, s.mergedPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.files.Quarantine(s.mergedPath(), err)
	}
	return m
}

// mergeIndexes merges what this process has learnt with the merged index, unless another
// process is merging.
func (s *Store) mergeIndexes(ctx context.Context) {
	unlock, err := s.lockCollect(ctx, lockPatience)
	if err != nil {
		s.index.postpone()
		return
	}
	defer unlock()
	s.refresh()
	x := &s.index
	covered := x.freeze()
	if m := s.openMerged(); m != nil && !x.adopt(m) {
		m.close()
	}
	if x.enough() {
		err = s.merge(covered)
	}
	x.thaw()
	if err != nil {
		s.files.Report(s.mergedPath(), "cannot merge indexes", err)
	}
}

// finishMerge merges if opening would be slow, unless another process is using the store.
func (s *Store) finishMerge() {
	if s.files.ReadOnly || !s.index.due() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), vfs.FirstPause)
	defer cancel()
	s.mergeIndexes(ctx)
}

// remerge rewrites the merged index, if there is one, after packs have disappeared. Without
// it, the next process reads the indexes of the packs.
func (s *Store) remerge() {
	if !s.index.merges() {
		return
	}
	covered := s.index.freeze()
	defer s.index.thaw()
	if err := s.merge(covered); err != nil {
		s.files.Report(s.mergedPath(), "cannot merge indexes", err)
		_ = s.files.Remove(s.mergedPath()) // only saves time
	}
}

// merge writes a merged index of all that was known before freeze, and switches to it.
// Callers must not merge concurrently.
func (s *Store) merge(covered []format.MergedPack) error {
	plan := s.index.plan(covered)
	if err := s.writeMerged(plan); err != nil {
		return err
	}
	m, err := openBase(s.files, s.mergedPath())
	if err != nil {
		return err
	}
	s.index.install(m, nil)
	return nil
}

// discardMerged drops a damaged merged index.
func (s *Store) discardMerged() {
	s.files.Quarantine(s.mergedPath(), fmt.Errorf("%w: bad checksum", format.ErrDamaged))
	s.index.mu.Lock()
	s.index.base = nil // not unmapped: a merge may be reading it
	s.index.mu.Unlock()
	for _, p := range s.directory.packs {
		found, _, err := s.contents(p, 0)
		if err != nil {
			s.files.Report(p.path, "cannot read a pack", err)
		}
		s.index.insert(p, found.Entries)
	}
}
