package arrow

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
)

func init() {
	component.RegisterSink("arrow", "Writes a dataset to an Arrow file, or to a stream if its name ends with .arrows: a row for each sample and a column for each item. An input with several outputs is written to files NAME.arrow in a directory. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the table to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the file to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite" doc:"what to do with an existing file: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	Types        columns.Types    `param:"types" doc:"item to type of its column, such as {score: float32, boxes: list<list<float64>>, meta: json}; other types are inferred from all samples"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.arrow has as many samples as fit, followed by 000001.arrow and so on"`
	ShardSamples int              `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// Check refuses unknown types and invalid bounds.
func (s Sink) Check() error { return cmp.Or(s.Types.Check(), s.target().Check()) }

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.target() }

func (s Sink) target() rows.Target {
	return rows.Target{
		Path: s.Path, Overwrite: s.Overwrite, Ending: ".arrow", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples},
		Plain: "Arrow files are not compressed as a whole; use a name that ends with .arrow or .arrows",
	}
}

// Write writes a dataset. It refuses values that a column cannot hold exactly.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	stream := strings.HasSuffix(string(s.Path), ".arrows") && in.Names == nil && !s.target().Shards.On()
	return rows.Write(ctx, env, s.target(), in, func(ctx context.Context, ds component.Samples) (rows.Table[[]columns.Piece], error) {
		table, err := s.Types.TableOf(ctx, env, ds)
		if err != nil {
			return rows.Table[[]columns.Piece]{}, err
		}
		return rows.Table[[]columns.Piece]{Rows: table, Begin: func(to io.Writer) (rows.File[[]columns.Piece], error) { return begin(to, table, stream) }}, nil
	})
}
