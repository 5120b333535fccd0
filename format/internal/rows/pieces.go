package rows

import (
	"context"
	"io"
	"os"
	"sort"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/zeebo/xxh3"
)

// writePieces writes rows. The rows of unchanged chunks are copied from the file at
// path.
func writePieces(ctx context.Context, env *component.Env, out io.Writer, path string, rows encoded, p *component.OutputChunks) error {
	w := &pieces{OutputChunks: p, env: env, out: out, rows: rows, known: p.Places(), sum: xxh3.New()}
	var old *os.File
	if len(p.Before.Pieces) > 0 {
		old = openOld(path)
	}
	if old == nil {
		clear(w.known)
	} else {
		defer old.Close()
		w.old.File = old
	}
	for text, err := range dataset.Stream(ctx, w.unknown(), env.Pool) {
		if err == nil {
			err = w.others(ctx)
		}
		if err == nil {
			err = w.add(text)
		}
		if err != nil {
			return err
		}
	}
	return w.others(ctx)
}

// openOld opens the existing file, or returns nil if it cannot be read.
func openOld(path string) *os.File {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

// pieces writes rows. Each chunk of them is copied or computed.
type pieces struct {
	*component.OutputChunks
	env   *component.Env
	out   io.Writer
	old   component.PieceReader
	rows  encoded
	known []*component.Place // of chunks: positions in the old file

	at    int   // the current chunk
	first int   // its first row
	wrote int   // its rows written
	bytes int64 // bytes of these
	sum   *xxh3.Hasher
}

// unknown returns the dataset of the rows of chunks that are not in the old file.
func (w *pieces) unknown() encoded {
	type span struct{ first, before int } // its first row, and the number of rows of such chunks before it
	var spans []span
	first, n := 0, 0
	for i, s := range w.Chunks {
		if w.known[i] == nil {
			spans = append(spans, span{first, n})
			n += s.Samples
		}
		first += s.Samples
	}
	return w.rows.only(n, func(i int) int {
		k := sort.Search(len(spans), func(k int) bool { return spans[k].before > i }) - 1
		return spans[k].first + i - spans[k].before
	})
}

// add writes a computed row.
func (w *pieces) add(text []byte) error {
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	_, _ = w.sum.Write(text) // never fails
	w.bytes += int64(len(text))
	w.wrote++
	w.env.Stats.Done.Add(1)
	if s := w.Chunks[w.at]; w.wrote == s.Samples {
		w.end(component.Piece{Chunk: s, Bytes: w.bytes, Sum: w.sum.Sum128().Bytes()})
		w.sum.Reset()
		w.bytes, w.wrote = 0, 0
	}
	return nil
}

// end records what was written for a chunk.
func (w *pieces) end(p component.Piece) {
	w.After.Pieces = append(w.After.Pieces, p)
	w.first += p.Samples
	w.at++
}

// others writes the following chunks that need no computation.
func (w *pieces) others(ctx context.Context) error {
	for w.at < len(w.Chunks) && w.wrote == 0 {
		s, known := w.Chunks[w.at], w.known[w.at]
		switch {
		case s.Samples == 0:
			w.end(component.Piece{Chunk: s})
		case known == nil:
			return nil // it is being computed
		default:
			if err := w.copy(ctx, known); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// copy copies a chunk, or computes it if the old bytes have changed.
func (w *pieces) copy(ctx context.Context, known *component.Place) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text, ok := w.old.Read(known)
	if !ok {
		return w.remake(ctx)
	}
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	w.Copied = append(w.Copied, component.Copy{Was: known.First, Now: w.first, Samples: known.Samples})
	w.env.Stats.Done.Add(int64(known.Samples))
	w.end(*known.Piece)
	return nil
}

// remake computes a chunk that should have been copied.
func (w *pieces) remake(ctx context.Context) error {
	first := w.first
	made := w.rows.only(w.Chunks[w.at].Samples, func(i int) int { return first + i })
	for text, err := range dataset.Stream(ctx, made, w.env.Pool) {
		if err == nil {
			err = w.add(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
