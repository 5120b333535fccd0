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
	component.RegisterSink("arrow", "Writes a dataset to an Arrow file, a row a sample and a column an item, or to a stream, if its name ends with .arrows; of an input with several outputs (op batch makes parts of one size), each to a file NAME.arrow in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the table to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the file to write; of several outputs, the folder; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Types        columns.Types    `param:"types" doc:"item to type of its column, such as {score: float32, boxes: list<list<float64>>, meta: json}; of others all samples tell"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"a bound for the bytes of a file, such as 256MiB: the path is a folder then, in which a file 000000.arrow has as many samples as fit, and the next ones are in 000001.arrow and so on"`
	ShardSamples int              `param:"shard-samples" doc:"a bound for the samples of a file, as shard-bytes is for its bytes; with both, whichever is reached first; 0 for none" default:"0"`
}

// Check refuses unknown types and invalid bounds.
func (s Sink) Check() error { return cmp.Or(s.Types.Check(), s.target().Check()) }

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.target() }

func (s Sink) target() rows.Target {
	return rows.Target{
		Path: s.Path, Overwrite: s.Overwrite, Ending: ".arrow", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples},
		Plain: "an Arrow file is not compressed as a whole, so that values can be read where they lie; give it a name that ends with .arrow, or with .arrows for a stream",
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
