package component

import (
	"context"
	"io"
	"iter"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/zeebo/xxh3"
)

// A Piecer is a parameter struct of a sink that writes a row for each sample into
// one file, after what may come first.
type Piecer interface {
	// Pieces says what the row of a sample of in depends on beside that sample
	// and the parameters. ok is false if that cannot be said.
	Pieces(ctx context.Context, in Samples) (on []string, ok bool, err error)
}

// A Stander is a [Piecer] that writes files of their own for each sample, in a place
// that follows from the position of that. So a piece of its output stands where it
// is, or not at all.
type Stander interface {
	Piecer
	// Standing says for which samples of p the output has the files that were
	// written before, touched by nobody since, so that they need not be written.
	Standing(env *Env, p *Pieces) ([]Copy, error)
}

// Pieces is how a sink that is a [Piecer] writes again only what is made of
// something else than the last time. What it wrote for the samples of a stretch is
// a piece. It takes the pieces of stretches that are as they were from the file
// that is there, if they are still in it.
type Pieces struct {
	Stretches []dataset.Stretch // what the samples to be written are made of
	Before    Layout            // what the sink wrote the last time; it may be gone

	// The sink sets what follows.
	After  Layout // what it wrote, a piece for each stretch
	Copied []Copy // what of that it took from the file that was there, in its order
	// Seal, if not nil, is told of all files of the output, by their names in it
	// with slashes, when a change of them would show. It sets the sums of After, and
	// is false if what was taken over has another content by now: then the output is
	// nobody's to rely on.
	Seal func(files iter.Seq2[string, key.FileStat]) bool
}

// A Layout is where in a file there is what.
type Layout struct {
	Head   int64 // bytes before the first piece
	Pieces []Piece
}

// A Piece is what was written for the samples of one stretch.
type Piece struct {
	dataset.Stretch
	Bytes int64    // of files of their own: how many items the samples share with others
	Sum   [16]byte // XXH3 of these bytes; of files of their own, of their names and states
}

// A Copy is some consecutive samples for which nothing was made.
type Copy struct {
	Was, Now int // position of the first one, the last time and this time
	Samples  int
}

// A Place is where a piece was.
type Place struct {
	*Piece
	Offset int64 // in the file
	First  int   // position of its first sample
}

// maxPiece bounds the memory that a piece takes.
const maxPiece = 16 << 20

// Known returns for each of the stretches where the piece of it was; nil if it was
// not.
func (p *Pieces) Known() []*Place {
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
	known := make([]*Place, len(p.Stretches))
	for i, s := range p.Stretches {
		if at := of[s.Digest]; at != nil && at.Samples == s.Samples {
			known[i] = at
		}
	}
	return known
}

// PieceReader reads pieces, those that follow each other at once.
type PieceReader struct {
	File io.ReaderAt

	from   int64 // of the file
	window []byte
}

// aheadBytes is how much is read at once.
const aheadBytes = 1 << 20

// Read returns the bytes of a piece, if they are still in the file, whatever else has
// become of that. They are good until the next call.
func (r *PieceReader) Read(at *Place) (text []byte, ok bool) {
	if at.Offset < r.from || at.Offset+at.Bytes > r.from+int64(len(r.window)) {
		n := max(at.Bytes, aheadBytes)
		if int64(cap(r.window)) < n {
			r.window = make([]byte, n)
		}
		read, _ := r.File.ReadAt(r.window[:n], at.Offset) // which may end here
		r.from, r.window = at.Offset, r.window[:read]
		if int64(read) < at.Bytes {
			return nil, false
		}
	}
	text = r.window[at.Offset-r.from:][:at.Bytes]
	return text, xxh3.Hash128(text).Bytes() == at.Sum
}
