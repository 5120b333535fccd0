package dataset

import (
	"context"
	"encoding/binary"
	"os"

	"github.com/larder-data/larder/key"
)

// Chunks lists the chunks of a source of n samples (see [Chunked]). Each sample
// depends only on its files and on the strings on. A file is represented by its state, if
// a change would show there, and else by its content. In doubt a sample counts as
// changed.
func (l *Listing) Chunks(ctx context.Context, n int, memo key.Memo, sample func(i int) (on, files []string)) ([]Chunk, error) {
	all := make([]Chunk, n)
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
		all[i] = Chunk{Samples: 1, Digest: key.DigestOf(b)}
	}
	return all, l.Check()
}

// appendKnown appends what identifies the content of a file.
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
