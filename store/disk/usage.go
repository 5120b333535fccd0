package disk

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Usage returns the size of all files of the store, in bytes, not blocks, including removed
// files that this process has mapped. It reads the metadata of every file. Files with
// foreign names, which are not evicted, and bytes of a pack beyond its greatest size do not
// count.
func (s *Store) Usage(context.Context) (store.Usage, error) {
	if s.closed.Load() {
		return store.Usage{}, errClosed
	}
	s.refresh()
	held, err := s.measure()
	return store.Usage{Records: int64(len(s.stored())), Bytes: held + s.mapped.Removed(), Limit: s.limit}, err
}

// MaxBytes returns the size limit of the directory, 0 for none.
func (s *Store) MaxBytes() int64 { return s.limit }

// measure adds up the store's files, without those that every store has.
func (s *Store) measure() (total int64, err error) { return s.sum("") }

// estimate is measure without a stat of each blob.
func (s *Store) estimate() (total int64, err error) {
	total, err = s.sum(vfs.Blobs)
	for _, p := range s.directory.all() {
		total += int64(s.index.blobsOf(p))
	}
	return total, err
}

// sum adds up the directories of the store except but, and the merged index.
func (s *Store) sum(but string) (total int64, err error) {
	total = s.mergedSize()
	for dir, own := range ownNames {
		if dir == but {
			continue
		}
		size, err := s.sizeOf(s.files.Path(dir), own)
		if err != nil {
			return total, err
		}
		total += size
	}
	return total, nil
}

// sizeOf adds up the files of the store in a directory and its subdirectories.
func (s *Store) sizeOf(dir string, own func(name string) bool) (total int64, err error) {
	err = s.files.Each(dir, func(path string, e fs.DirEntry) error {
		if !own(e.Name()) {
			return nil
		}
		if e.IsDir() {
			size, err := vfs.TreeSize(path)
			total += size
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			total += countedSize(info)
		}
		return err
	})
	return total, err
}

// countedSize returns the size of a file, for a pack at most its greatest size.
func countedSize(info fs.FileInfo) int64 {
	if _, ok := parsePackName(info.Name()); ok {
		return min(info.Size(), format.MaxPack)
	}
	return info.Size()
}

// mergedSize returns the size of the merged index, 0 if there is none.
func (s *Store) mergedSize() int64 { return s.files.Size(s.mergedPath()) }

// stored returns the positions of all stored records, in the order of packs.
func (s *Store) stored() []format.Located {
	all := s.index.all(func(at format.Place) bool { return !at.IsTombstone() })
	slices.SortFunc(all, func(a, b format.Located) int {
		return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Off, b.Off), cmp.Compare(a.FP, b.FP))
	})
	return all
}

// Records yields the records stored when the iteration began.
func (s *Store) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		if s.closed.Load() {
			yield(store.Info{}, errClosed)
			return
		}
		s.refresh()
		s.touches.reread(s)
		pinned, err := s.pinned(ctx)
		if err != nil {
			yield(store.Info{}, err)
			return
		}
		g := format.BorrowGroup()
		defer g.GiveBack()
		for _, r := range s.stored() {
			if err := ctx.Err(); err != nil {
				yield(store.Info{}, err)
				return
			}
			info, ok := s.info(g, r, pinned)
			if ok && !yield(info, nil) {
				return
			}
		}
	}
}

// info describes the record at r; g is its group if already read. It returns false for a
// damaged or missing record.
func (s *Store) info(g *format.Group, r format.Located, pinned map[uint64]bool) (info store.Info, ok bool) {
	var h format.Header
	ok = s.readFound(r.FP, func(p *pack, at format.Place) error { return g.Describe(&h, &p.Pack, r.FP, at) }, true)
	if !ok {
		return info, false
	}
	info = infoOf(&h, s.touches.used(s, r.FP, h.Stamp))
	info.Pinned = pinned[r.FP]
	return info, true
}

// infoOf describes the record with header h, without its pin.
func infoOf(h *format.Header, used time.Time) store.Info {
	return store.Info{
		Key: h.Key, Link: linkOf(h), Type: h.Type, Size: int64(h.Size), Cost: time.Duration(h.Cost),
		Created: time.Unix(0, h.Created), Used: used,
	}
}

// pinned returns the fingerprints of the keys that pinned manifests name, and of the keys
// that these link to.
func (s *Store) pinned(ctx context.Context) (map[uint64]bool, error) {
	pinned := make(map[uint64]bool)
	g := format.BorrowGroup()
	defer g.GiveBack()
	for m, err := range s.manifests(ctx) {
		if err != nil {
			return nil, err
		}
		if !m.Pinned {
			continue
		}
		for _, k := range m.Keys {
			for !k.IsZero() && !pinned[format.Fingerprint(k)] {
				pinned[format.Fingerprint(k)] = true
				k = s.linked(g, k)
			}
		}
	}
	return pinned, nil
}

// linked returns the key to which the record under k links, zero for none; g is its group
// if already read.
func (s *Store) linked(g *format.Group, k key.Key) key.Key {
	var h format.Header
	fp := format.Fingerprint(k)
	if !s.readFound(fp, func(p *pack, at format.Place) error { return g.Describe(&h, &p.Pack, fp, at) }, true) {
		return key.Key{}
	}
	return linkOf(&h)
}

func linkOf(h *format.Header) key.Key {
	if h.Kind == format.KindLink {
		return h.Ref
	}
	return key.Key{}
}
