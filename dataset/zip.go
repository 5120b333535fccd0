package dataset

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/internal/called"
)

// Zip joins the samples at the same position of its parts. The parts must be
// of equal length, and no key may be in two of them.
func Zip(node string, parts ...Dataset[Sample]) (Dataset[Sample], error) {
	if len(parts) == 0 {
		return List[Sample](), nil
	}
	for k, p := range parts {
		if p.Len() != parts[0].Len() {
			return nil, fmt.Errorf("zip: input 0 has %d samples and input %d has %d: they must be equal", parts[0].Len(), k, p.Len())
		}
	}
	return &zipped{node, parts}, nil
}

type zipped struct {
	node  string
	parts []Dataset[Sample]
}

func (z *zipped) Len() int { return z.parts[0].Len() }

func (z *zipped) At(ctx context.Context, i int) (Sample, error) {
	var out Sample
	for k, p := range z.parts {
		s, err := p.At(ctx, i)
		if err != nil {
			return Sample{}, err
		}
		for f := range s.Fields() {
			if _, clash := out.Field(f.Key); clash {
				err := fmt.Errorf("zip: item %s is in input %d and in one before it; rename or drop one of them", called.Name(f.Key), k)
				return Sample{}, &SampleError{Node: z.node, Index: i, Err: err}
			}
			out.fields = append(out.fields, f)
		}
	}
	return out, nil
}
