package arrow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
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
	ShardBytes   component.Size   `param:"shard-bytes" doc:"most bytes of a file, such as 256MiB: the path is then a directory of files, in which 000000.arrow has as many samples as fit, followed by 000001.arrow and so on"`
	ShardSamples int              `param:"shard-samples" doc:"most samples of a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// shards returns the bounds of the files.
func (s Sink) shards() rows.Shards { return rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples} }

// Check refuses unknown types and invalid bounds.
func (s Sink) Check() error {
	return cmp.Or(s.Types.Check(), output.CheckPath(s.Path), s.shards().Check())
}

// CheckSingle refuses a file name with the extension of another format.
func (s Sink) CheckSingle() error {
	if s.shards().On() {
		return s.shards().CheckFolder(s.Path, ".arrow")
	}
	if rows.PackingOf(string(s.Path)) != rows.Plain {
		return fmt.Errorf("%s: Arrow files are not compressed as a whole; use a name that ends with .arrow or .arrows", s.Path)
	}
	return output.CheckFile(s.Path)
}

// Far marks sinks that also write to URLs.
func (s Sink) Far() {}

// Outputs reports that a directory may also contain other files.
func (s Sink) Outputs(env *component.Env) []pathguard.Output {
	return []pathguard.Output{{Path: env.Path(s.Path), Files: true, Shared: true, Split: s.shards().On()}}
}

// Listed reports that an output that is unchanged since it was written may stay.
func (s Sink) Listed() bool { return s.Overwrite == output.Replace }

// Write writes a dataset. It refuses values that a column cannot hold exactly.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	to := rows.Target{Path: s.Path, Overwrite: s.Overwrite, Ending: ".arrow", Shards: s.shards()}
	stream := strings.HasSuffix(string(s.Path), ".arrows") && in.Names == nil && !s.shards().On()
	return rows.Write(ctx, env, to, in, func(ctx context.Context, ds component.Samples) (rows.Table[[]columns.Piece], error) {
		table, err := s.Types.TableOf(ctx, env, ds)
		if err != nil {
			return rows.Table[[]columns.Piece]{}, err
		}
		return rows.Table[[]columns.Piece]{Rows: table, Begin: func(to io.Writer) (rows.File[[]columns.Piece], error) { return begin(to, table, stream) }}, nil
	})
}
