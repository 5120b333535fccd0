package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// Random says that a maker draws random numbers, and what they depend on. They
// are a function of
//
//	the maker's name, Seed, Epoch, and the key of the sample
//
// and of nothing else: not of the maker's code or other parameters, nor of the
// node, the number of workers, the process, or what was evicted in between.
// All of that is part of the keys of results, too.
//
// So two makers of different names draw independently for one sample, and two
// of the same name, wherever they are, draw alike: give them different seeds
// where that is not wanted.
type Random struct {
	Seed  int
	Epoch int // the pass over the data, for draws of its own in each
	Per   Per // what the key of a sample is
}

// Per says what tells samples apart in [Random].
type Per string

// What the key of a sample can be.
const (
	// PerPosition is the sample's position in the dataset that the maker is
	// applied to, so that a sample that is repeated is drawn for anew. It is
	// the default, as is "".
	PerPosition Per = "position"
	// PerContent is the content of the items that the maker is given, so that
	// a sample is drawn for alike wherever it is.
	PerContent Per = "content"
)

// Check refuses a Per that is not known.
func (r Random) Check() error {
	switch r.Per {
	case "", PerPosition, PerContent:
		return nil
	}
	return fmt.Errorf("per is %q and must be %s or %s", r.Per, PerPosition, PerContent)
}

func (r Random) perPosition() bool { return r.Per != PerContent }

// params are what of r is part of the maker's identity.
func (r Random) params() []key.Param {
	return []key.Param{{Name: "seed", Value: r.Seed}, {Name: "epoch", Value: r.Epoch}, {Name: "per content", Value: !r.perPosition()}}
}

// draws is the part of an action that tells samples apart by position.
type draws struct{ Position int }

// source returns the generator for one sample of a maker: ChaCha8, seeded with
// the SHA-256 of what [Random] names.
func (r Random) source(ctx context.Context, name string, index int, in Sample) (*rand.Rand, error) {
	h := sha256.New()
	h.Write([]byte("larder random 1\n"))
	writeText(h, name)
	writeNumber(h, r.Seed)
	writeNumber(h, r.Epoch)
	if r.perPosition() {
		h.Write([]byte{'p'})
		writeNumber(h, index)
	} else {
		h.Write([]byte{'c'})
		fields := slices.SortedFunc(in.Fields(), func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
		for _, f := range fields {
			d, err := f.Item.Digest(ctx)
			if err != nil {
				return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
			}
			writeText(h, f.Key)
			h.Write(d[:])
		}
	}
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil)))), nil
}

func writeNumber(h hash.Hash, n int) {
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(int64(n))))
}

func writeText(h hash.Hash, s string) {
	writeNumber(h, len(s))
	h.Write([]byte(s))
}

type drawsKey struct{}

// withRand returns the context in which a maker is run, with a generator or, if
// r is nil, without.
func withRand(ctx context.Context, r *rand.Rand) context.Context {
	if r == nil && ctx.Value(drawsKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, drawsKey{}, r)
}

// Rand returns the source of random numbers of the maker that is run under ctx,
// the same in each call. It is for one goroutine at a time. In a maker that
// does not declare Random it panics, which is the error of that sample: what
// is drawn in any other way is not part of a key.
func Rand(ctx context.Context) *rand.Rand {
	r, _ := ctx.Value(drawsKey{}).(*rand.Rand)
	if r == nil {
		panic("dataset.Rand: the maker does not declare that it is random: set MakerFunc.Random")
	}
	return r
}
