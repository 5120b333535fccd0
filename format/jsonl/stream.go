package jsonl

import (
	"context"
	"strings"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

func (s Source) isStream() bool { return s.path().IsStream() }

// OpenStream returns a stream of the lines of files, in order.
func (s Source) OpenStream(ctx context.Context, env *component.Env) (component.Stream, error) {
	files, err := streamed.Files(ctx, env, s.Path, rows.Packed(".jsonl", ".ndjson")...)
	lines := stream.Filter(content.Lines(content.Unpack(files), int(codec.ItemLimit()), true), func(_ context.Context, l content.Line) (bool, error) {
		return strings.Trim(l.Text, blanks) != "", nil
	})
	in := &reader{Source: s}
	return streamed.Samples(lines, "jsonl", streamed.Place, func(l content.Line) (dataset.Sample, error) {
		text := []byte(strings.TrimRight(l.Text, blanks))
		sample, err := in.items(text)
		if err != nil {
			if _, wrong := check(text); wrong != nil {
				err = wrong
			}
		}
		return sample, err
	}), err
}
