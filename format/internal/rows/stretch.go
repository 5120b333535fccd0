package rows

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/zeebo/xxh3"
)

// Samples is the dataset of what sample makes of each row.
func (x *Index) Samples(sample func(Row) (dataset.Sample, error)) dataset.Dataset[dataset.Sample] {
	return dataset.Func(x.Len(), func(ctx context.Context, i int) (dataset.Sample, error) {
		r, err := x.Row(ctx, i)
		if err != nil {
			return dataset.Sample{}, err
		}
		return sample(r)
	})
}

// Alone is [Index.Samples] where a sample depends on the text of its row, on the
// parameters of the source, on what else is given here, and on nothing else. So
// consecutive samples can be known by the text of their rows: see
// [dataset.Stretched].
func (x *Index) Alone(on []string, sample func(Row) (dataset.Sample, error)) dataset.Dataset[dataset.Sample] {
	return &alone{x.Samples(sample), x, on}
}

type alone struct {
	dataset.Dataset[dataset.Sample]
	index *Index
	on    []string
}

// A stretch ends after a row that its own hash picks out, one in so many, so that
// what is inserted moves no end but those beside it. It has some rows, as rows that
// are alike would be a stretch each, and not too many.
const (
	stretchEvery = 32
	stretchLeast = 8
	stretchMost  = 1024
	stretchBytes = 1 << 20
)

// Stretches reads all rows once.
func (a *alone) Stretches(ctx context.Context) (all []dataset.Stretch, err error) {
	on, err := key.Of(a.on)
	if err != nil {
		return nil, err
	}
	s := &stretcher{on: on, sum: sha256.New()}
	for _, in := range a.index.files {
		if err := s.file(ctx, in); err != nil {
			return nil, err
		}
	}
	return s.all, nil
}

// stretcher finds stretches.
type stretcher struct {
	on      key.Digest
	sum     hash.Hash // of the text of rows
	lengths []byte    // of the rows, which tell them apart
	bytes   int64
	all     []dataset.Stretch
}

// file finds those of a file, if it is what it was. A stretch is of one file.
func (s *stretcher) file(ctx context.Context, in *file) (err error) {
	f, done, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	end := in.starts[len(in.starts)-1]
	r := bufio.NewReaderSize(io.NewSectionReader(f, in.starts[0], end-in.starts[0]), stretchBytes)
	for i, start := range in.starts[:len(in.starts)-1] {
		last, err := s.row(r, in.starts[i+1]-start)
		if err != nil {
			return fmt.Errorf("read %s: %w", in.path, err)
		}
		if last {
			s.end()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	s.end()
	return nil
}

// row takes in a row of n bytes, and says whether a stretch ends with it.
func (s *stretcher) row(r *bufio.Reader, n int64) (last bool, err error) {
	s.bytes += n
	s.lengths = binary.LittleEndian.AppendUint64(s.lengths, uint64(n))
	if n > stretchBytes {
		_, err = io.CopyN(s.sum, r, n)
		return true, err
	}
	text, err := r.Peek(int(n))
	if err != nil {
		return false, err
	}
	s.sum.Write(text)
	rows := len(s.lengths) / 8
	last = s.bytes >= stretchBytes || rows >= stretchMost || rows >= stretchLeast && xxh3.Hash(text)%stretchEvery == 0
	_, err = r.Discard(int(n))
	return last, err
}

// end ends a stretch, if one has begun. The number of rows comes last, and their
// lengths before it, so that nothing else has the same digest.
func (s *stretcher) end() {
	rows := len(s.lengths) / 8
	if rows == 0 {
		return
	}
	s.sum.Write(binary.LittleEndian.AppendUint64(s.lengths, uint64(rows)))
	s.sum.Write(s.on[:])
	s.all = append(s.all, dataset.Stretch{Samples: rows, Digest: key.DigestOf(s.sum.Sum(nil))})
	s.sum.Reset()
	s.lengths, s.bytes = s.lengths[:0], 0
}
