package dataset

import (
	"context"
	"fmt"
	"sync"

	"github.com/larder-data/larder/internal/text/display"
)

// Zip joins the samples at the same position of its parts. The parts must have equal
// length and must not share keys.
func Zip(node string, parts ...Dataset[Sample]) (Dataset[Sample], error) {
	return ZipWith(node, nil, parts...)
}

// ZipWith is [Zip] for parts that may share keys: add returns a sample with the items of
// another one added.
func ZipWith(node string, add func(to, s Sample) Sample, parts ...Dataset[Sample]) (Dataset[Sample], error) {
	if len(parts) == 0 {
		return List[Sample](), nil
	}
	for k, p := range parts {
		if p.Len() != parts[0].Len() {
			return nil, fmt.Errorf("zip: input 0 has %d samples but input %d has %d; give inputs of equal length", parts[0].Len(), k, p.Len())
		}
	}
	return &zipped{node, add, parts, parts[0].Len(), joinOf(parts)}, nil
}

type zipped struct {
	node  string
	add   func(to, s Sample) Sample // nil: parts must not share keys
	parts []Dataset[Sample]
	n     int
	join
}

func (z *zipped) Len() int { return z.n }

// joined caches the samples of joining datasets while one of them is assembled, so that
// each is assembled once, on any number of paths.
type joined struct {
	mu      sync.Mutex
	samples map[joinedAt]Sample
}

type joinedAt struct {
	*zipped
	index int
}

type joinedKey struct{}

func (z *zipped) At(ctx context.Context, i int) (Sample, error) {
	done, _ := ctx.Value(joinedKey{}).(*joined)
	if done == nil {
		done = &joined{samples: map[joinedAt]Sample{}}
		ctx = context.WithValue(ctx, joinedKey{}, done)
	}
	done.mu.Lock()
	s, ok := done.samples[joinedAt{z, i}]
	done.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := z.at(ctx, i)
	if err == nil {
		done.mu.Lock()
		done.samples[joinedAt{z, i}] = s
		done.mu.Unlock()
	}
	return s, err
}

func (z *zipped) at(ctx context.Context, i int) (Sample, error) {
	var out Sample
	for k, p := range z.parts {
		s, err := p.At(ctx, i)
		if err != nil {
			return Sample{}, err
		}
		if z.add != nil {
			out = z.add(out, s)
			continue
		}
		for f := range s.Fields() {
			if _, clash := out.Field(f.Key); clash {
				err := fmt.Errorf("zip: item %s is in input %d and in an earlier one; rename or drop one", display.Name(f.Key), k)
				return Sample{}, &SampleError{Node: z.node, Index: i, Err: err}
			}
			out.fields = append(out.fields, f)
		}
	}
	return out, nil
}
