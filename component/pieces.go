package component

import (
	"context"
	"io"
	"iter"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/zeebo/xxh3"
)

// An IncrementalSink is a parameter struct of a sink that writes its output in pieces, one for each
// sample: rows of one file after an optional header, or, if it is a [ReusableFiles], separate
// files.
type IncrementalSink interface {
	// Pieces lists what the row of a sample depends on, besides the sample and the
	// parameters. ok is false if that is unknown.
	Pieces(ctx context.Context, in Samples) (on []string, ok bool, err error)
}

// A ReusableFiles is an [IncrementalSink] that writes separate files for each sample, at a place that
// depends on the position of the sample. So a piece of its output can be reused only at
// the same position.
type ReusableFiles interface {
	IncrementalSink
	// Standing returns the samples of p whose output files exist and have not changed
	// since they were written, so that they need not be written again.
	Standing(env *Env, p *OutputChunks) ([]Copy, error)
}

// OutputChunks lets an [IncrementalSink] rewrite only the output whose input has changed. The output
// for the samples of a chunk is a piece. The sink copies the pieces of unchanged chunks
// from the existing file, if they are still in it.
type OutputChunks struct {
	Chunks []dataset.Chunk // chunks of the samples to write
	Before Layout          // what the sink wrote the last time; it may no longer exist

	// The sink sets the following fields.

	After  Layout // what it wrote, a piece for each chunk
	Copied []Copy // samples copied from the existing file, in order
	// Seal, if not nil, receives all files of the output, as slash-separated paths in
	// it, once a later change to them would be detected. It sets the sums of After. It
	// returns false if reused files have changed; then the output cannot be reused
	// later.
	Seal func(files iter.Seq2[string, key.FileStat]) bool
}

// A Layout describes the contents of a file.
type Layout struct {
	Head   int64 // bytes before the first piece
	Pieces []Piece
}

// A Piece is the output for the samples of one chunk.
type Piece struct {
	dataset.Chunk
	Bytes int64    // for separate files: how many items the samples share with others
	Sum   [16]byte // XXH3 of these bytes; for separate files, of their names and states
}

// A Copy is a run of consecutive samples whose output is reused.
type Copy struct {
	Was, Now int // position of the first one, the last time and this time
	Samples  int
}

// A Place is the old position of a piece.
type Place struct {
	*Piece
	Offset int64 // in the file
	First  int   // position of its first sample
}

const maxPiece = 16 << 20

// Places returns the old place of the piece of each chunk, or nil for a new chunk.
func (p *OutputChunks) Places() []*Place {
	places := make([]Place, len(p.Before.Pieces))
	of := make(map[key.Digest]*Place, len(places))
	offset, first := p.Before.Head, 0
	for i := range places {
		was := &p.Before.Pieces[i]
		places[i] = Place{was, offset, first}
		if was.Bytes <= maxPiece {
			of[was.Digest] = &places[i]
		}
		offset += was.Bytes
		first += was.Samples
	}
	known := make([]*Place, len(p.Chunks))
	for i, s := range p.Chunks {
		if at := of[s.Digest]; at != nil && at.Samples == s.Samples {
			known[i] = at
		}
	}
	return known
}

// PieceReader reads pieces. It reads ahead, because pieces usually follow each other.
type PieceReader struct {
	File io.ReaderAt

	from   int64 // offset of the window in the file
	window []byte
}

const aheadBytes = 1 << 20

// Read returns the bytes of a piece if they are still in the file, even if other parts
// of it have changed. They are valid until the next call.
func (r *PieceReader) Read(at *Place) (text []byte, ok bool) {
	if at.Offset < r.from || at.Offset+at.Bytes > r.from+int64(len(r.window)) {
		n := max(at.Bytes, aheadBytes)
		if int64(cap(r.window)) < n {
			r.window = make([]byte, n)
		}
		read, _ := r.File.ReadAt(r.window[:n], at.Offset) // the file may end here
		r.from, r.window = at.Offset, r.window[:read]
		if int64(read) < at.Bytes {
			return nil, false
		}
	}
	text = r.window[at.Offset-r.from:][:at.Bytes]
	return text, xxh3.Hash128(text).Bytes() == at.Sum
}
