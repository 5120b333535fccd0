package webdataset

import (
	"context"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

func (s Source) isStream() bool { return streamed.Is(s.Path, s.Stream) }

// whose says which sample a member belongs to.
type whose struct{ archive, key string }

type run = stream.Grouped[whose, content.Content]

// OpenStream returns a stream of the samples in archives, one archive after another.
func (s Source) OpenStream(ctx context.Context, env *component.Env) (component.Stream, error) {
	files, err := streamed.Files(ctx, env, s.Path, endings...)
	of := stream.Filter(content.Members(files, codec.ItemLimit()), func(_ context.Context, c content.Content) (bool, error) {
		_, _, ok := members.SplitName(c.Name)
		return ok, nil
	})
	runs := stream.RunsWithin(of, 0, codec.ItemLimit(), func(c content.Content) int64 { return int64(len(c.Bytes)) }, func(c content.Content) whose {
		key, _, _ := members.SplitName(c.Name)
		return whose{c.Archive, key}
	})
	return streamed.Samples(runs, "webdataset", func(r run) string { return r.Key.archive }, sampleOf), err
}

// sampleOf makes the sample of consecutive members.
func sampleOf(r run) (dataset.Sample, error) {
	fields := []dataset.Field{{Key: members.Key, Item: dataset.NewItem("txt", r.Key.key)}}
	for _, c := range r.Values {
		_, suffix, _ := members.SplitName(c.Name)
		item, ext, err := members.Named(fields, r.Key.key, suffix)
		if err != nil {
			return dataset.Sample{}, err
		}
		fields = append(fields, dataset.Field{Key: item, Item: dataset.NewBytes(ext, c.Bytes)})
	}
	return dataset.NewSample(fields...), nil
}
