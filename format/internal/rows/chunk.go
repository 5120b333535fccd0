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

// Samples returns the dataset of the samples of all rows.
func (x *Index) Samples(sample func(Row) (dataset.Sample, error)) dataset.Dataset[dataset.Sample] {
	return dataset.Func(x.Len(), func(ctx context.Context, i int) (dataset.Sample, error) {
		r, err := x.Row(ctx, i)
		if err != nil {
			return dataset.Sample{}, err
		}
		return sample(r)
	})
}

// Alone is [Index.Samples] for samples that depend only on the text of their row, the
// parameters of the source, and on. So the text of rows identifies consecutive samples:
// see [dataset.Chunked].
func (x *Index) Alone(on []string, sample func(Row) (dataset.Sample, error)) dataset.Dataset[dataset.Sample] {
	return &alone{x.Samples(sample), x, on}
}

type alone struct {
	dataset.Dataset[dataset.Sample]
	index *Index
	on    []string
}

// A chunk ends after a row that is selected by its own hash, so an insertion changes
// only the adjacent boundaries. It has a minimum of rows, as equal rows would each form
// a chunk, and a maximum.
const (
	meanChunk  = 32
	minChunk   = 8
	maxChunk   = 1024
	chunkBytes = 1 << 20
)

// Chunks reads all rows once.
func (a *alone) Chunks(ctx context.Context) (all []dataset.Chunk, err error) {
	on, err := key.Of(a.on)
	if err != nil {
		return nil, err
	}
	s := &chunker{on: on, sum: sha256.New()}
	for _, in := range a.index.files {
		if err := s.file(ctx, in); err != nil {
			return nil, err
		}
	}
	return s.all, nil
}

// chunker finds chunks.
type chunker struct {
	on      key.Digest
	sum     hash.Hash // of the text of rows
	lengths []byte    // lengths of rows, which mark their boundaries
	bytes   int64
	all     []dataset.Chunk
}

// file finds the chunks of a file, if it is unchanged. A chunk is within one file.
func (s *chunker) file(ctx context.Context, in *file) (err error) {
	f, done, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	end := in.starts[len(in.starts)-1]
	r := bufio.NewReaderSize(io.NewSectionReader(f, in.starts[0], end-in.starts[0]), chunkBytes)
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

// row reads a row of n bytes, and reports whether a chunk ends with it.
func (s *chunker) row(r *bufio.Reader, n int64) (last bool, err error) {
	s.bytes += n
	s.lengths = binary.LittleEndian.AppendUint64(s.lengths, uint64(n))
	if n > chunkBytes {
		_, err = io.CopyN(s.sum, r, n)
		return true, err
	}
	text, err := r.Peek(int(n))
	if err != nil {
		return false, err
	}
	s.sum.Write(text)
	rows := len(s.lengths) / 8
	last = s.bytes >= chunkBytes || rows >= maxChunk || rows >= minChunk && xxh3.Hash(text)%meanChunk == 0
	_, err = r.Discard(int(n))
	return last, err
}

// end ends the current chunk, if there is one. The digest ends with the lengths and the
// number of rows, so that it is unambiguous.
func (s *chunker) end() {
	rows := len(s.lengths) / 8
	if rows == 0 {
		return
	}
	s.sum.Write(binary.LittleEndian.AppendUint64(s.lengths, uint64(rows)))
	s.sum.Write(s.on[:])
	s.all = append(s.all, dataset.Chunk{Samples: rows, Digest: key.DigestOf(s.sum.Sum(nil))})
	s.sum.Reset()
	s.lengths, s.bytes = s.lengths[:0], 0
}
