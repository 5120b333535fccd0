package webdataset

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

func (s Source) isStream() bool { return s.path().IsStream() }

// whose identifies the sample of a member.
type whose struct{ archive, key string }

type run = stream.Grouped[whose, content.Content]

// OpenStream returns a stream of the samples in archives, in order.
func (s Source) OpenStream(ctx context.Context, env *component.Env) (component.Stream, error) {
	files, err := streamed.Files(ctx, env, s.Path, endings...)
	of := stream.Filter(content.MembersBy(files, codec.ItemLimit(), wholeSamples), func(_ context.Context, c content.Content) (bool, error) {
		_, _, ok := members.SplitName(c.Name)
		return ok, nil
	})
	runs := stream.RunsWithin(of, 0, codec.ItemLimit(), func(c content.Content) int64 { return int64(len(c.Bytes)) }, func(c content.Content) whose {
		key, _, _ := members.SplitName(c.Name)
		return whose{c.Archive, key}
	})
	return streamed.Samples(runs, "webdataset", func(r run) string { return r.Key.archive }, sampleOf), err
}

// wholeSamples returns a function that refuses non-adjacent members of a sample, because
// a stream does not hold them until all have arrived.
func wholeSamples() func(name string) error {
	seen, last := map[uint64]bool{}, ""
	seed := maphash.MakeSeed()
	return func(name string) error {
		key, _, ok := members.SplitName(name)
		if !ok || key == last && len(seen) > 0 {
			return nil
		}
		hash := maphash.String(seed, key)
		if seen[hash] {
			return fmt.Errorf("members of sample %s are not adjacent; read the archive without stream", display.Name(key))
		}
		if len(seen) >= maxSeen {
			clear(seen)
		}
		seen[hash], last = true, key
		return nil
	}
}

// maxSeen bounds the memory of that function.
const maxSeen = 1 << 22

// sampleOf returns the sample of consecutive members.
func sampleOf(r run) (dataset.Sample, error) {
	suffixes := make([]string, len(r.Values))
	for i, c := range r.Values {
		_, suffixes[i], _ = members.SplitName(c.Name)
	}
	names, err := members.NamesOf(r.Key.key, suffixes)
	if err != nil {
		return dataset.Sample{}, err
	}
	fields := []dataset.Field{{Key: members.Key, Item: dataset.NewItem("txt", r.Key.key)}}
	for i, n := range names {
		content := r.Values[i].Bytes
		if n.Integer {
			if err := members.Integer(n.Member, content); err != nil {
				return dataset.Sample{}, err
			}
		}
		fields = append(fields, dataset.Field{Key: n.Item, Item: dataset.NewBytes(n.Ext, content)})
	}
	return dataset.NewSample(fields...), nil
}
