package dataset

import (
	"context"
	"encoding/binary"
	"os"

	"github.com/larder-data/larder/key"
)

// Stretches is for the source of n samples that are made of files, each sample of some
// of them and of on, and of nothing else: see [Stretched]. For a file stands its state
// where a change of it would show, and else its content. In doubt a sample is taken
// for another one.
func (l *Listing) Stretches(ctx context.Context, n int, memo key.Memo, sample func(i int) (on, files []string)) ([]Stretch, error) {
	all := make([]Stretch, n)
	var b []byte
	for i := range all {
		on, files := sample(i)
		b = binary.AppendUvarint(b[:0], uint64(len(on)))
		for _, text := range on {
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		for _, path := range files {
			var err error
			if b, err = l.appendKnown(ctx, b, path, memo); err != nil {
				return nil, err
			}
		}
		all[i] = Stretch{Samples: 1, Digest: key.DigestOf(b)}
	}
	return all, l.Check()
}

// appendKnown appends what stands for the content of a file.
func (l *Listing) appendKnown(ctx context.Context, b []byte, path string, memo key.Memo) ([]byte, error) {
	now := l.now()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if s := key.StatOf(info); info.Mode().IsRegular() && key.ShowsChanges(path, s, now) {
		b = append(b, 's')
		for _, n := range []uint64{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Ctime)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		return b, nil
	}
	d, _, err := key.DigestFile(ctx, path, memo)
	return append(append(b, 'c'), d[:]...), err
}
