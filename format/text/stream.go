package text

import (
	"context"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/stream/content"
)

func (s Source) isStream() bool { return s.path().IsStream() }

// OpenStream returns a stream of the lines of files, in order.
func (s Source) OpenStream(ctx context.Context, env *component.Env) (component.Stream, error) {
	files, err := streamed.Files(ctx, env, s.Path, endings...)
	lines := content.Lines(content.Unpack(files), int(codec.ItemLimit()), false)
	return streamed.Samples(lines, "text", streamed.Place, func(l content.Line) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: textKey, Item: dataset.NewBytes("txt", []byte(l.Text))}), nil
	}), err
}
