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

// Random says that a transform draws random numbers, and what they depend on. They
// are a function of
//
//	the transform's name, Seed, Epoch, and the key of the sample
//
// and of nothing else: not of code, other parameters, the node, the number of
// workers, the process, or evictions. All of that is part of the keys of results,
// too.
//
// So transforms with different names draw independently for one sample. Transforms
// with the same name draw the same numbers, wherever they are; give them different
// seeds to avoid that.
type Random struct {
	Seed  int
	Epoch int // pass over the data; each has its own random numbers
	Per   Per // what the key of a sample is
}

// Per selects the key of a sample in [Random].
type Per string

// The keys that a sample can have.
const (
	// PerPosition is the sample's position in the dataset of the transform, so a repeated
	// sample gets new random numbers. It is the default, as is "".
	PerPosition Per = "position"
	// PerContent is the content of the items that the transform reads, so a sample gets the
	// same random numbers at any position.
	PerContent Per = "content"
)

// Check refuses an unknown Per.
func (r Random) Check() error {
	switch r.Per {
	case "", PerPosition, PerContent:
		return nil
	}
	return fmt.Errorf("per is %q; give %s or %s", r.Per, PerPosition, PerContent)
}

func (r Random) perPosition() bool { return r.Per != PerContent }

// params returns the part of r that belongs to the transform's identity.
func (r Random) params() []key.Param {
	return []key.Param{{Name: "seed", Value: r.Seed}, {Name: "epoch", Value: r.Epoch}, {Name: "per content", Value: !r.perPosition()}}
}

// draws is the part of an action that distinguishes samples by position.
type draws struct{ Position int }

// source returns the generator for one sample: ChaCha8, seeded with the SHA-256 of the
// values that [Random] lists.
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

// withRand returns the context of a transform, with the generator r unless it is nil.
func withRand(ctx context.Context, r *rand.Rand) context.Context {
	if r == nil && ctx.Value(drawsKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, drawsKey{}, r)
}

// Rand returns the random number generator of the transform that runs under ctx, the
// same in each call. Only one goroutine may use it at a time. In a transform that does
// not declare Random it panics, which is the error of that sample. Keys do not cover
// random numbers from any other generator.
func Rand(ctx context.Context) *rand.Rand {
	r, _ := ctx.Value(drawsKey{}).(*rand.Rand)
	if r == nil {
		panic("dataset.Rand: the transform does not declare that it is random: set TransformFunc.Random")
	}
	return r
}
