package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/compression"
)

// Shards bounds the files of a sink: a new file begins where one more sample would
// exceed Bytes, or after the given number of samples. Each file has at least one sample.
// The boundaries depend only on the samples, so the same samples give the same files.
// The zero value means one file.
type Shards struct {
	Bytes   component.Size
	Samples int
}

// On reports whether there is a bound.
func (s Shards) On() bool { return s.Bytes != "" || s.Samples != 0 }

// Check refuses invalid bounds.
func (s Shards) Check() error {
	if s.Samples < 0 {
		return fmt.Errorf("shard-samples is %d; give at least 1", s.Samples)
	}
	if s.Bytes == "" {
		return nil
	}
	n, err := s.Bytes.Bytes()
	if err != nil {
		return fmt.Errorf("shard-bytes: %q %w", s.Bytes, err)
	}
	if n == 0 {
		return errors.New("shard-bytes is 0; give at least 1")
	}
	return nil
}

// CheckDir refuses a directory of shards whose path has the ending of a file.
func (s Shards) CheckDir(path component.Path, ending string) error {
	if plain := Unpacked(string(path)); plain != string(path) || strings.HasSuffix(plain, ending) {
		return fmt.Errorf("%s: with shard-bytes or shard-samples the path is a directory of files such as 000000%s; remove the extension", path, ending)
	}
	return nil
}

// writeShards writes each dataset of an input to files 000000, 000001 and so on in a
// directory, or for several datasets NAME-000000 and so on.
func writeShards[T any](ctx context.Context, env *component.Env, to Target, in component.Data, open func(ctx context.Context, ds component.Samples) (Table[T], error)) error {
	if err := to.Shards.Check(); err != nil {
		return err
	}
	files, err := output.FilesAt(ctx, env, to.Path)
	if err != nil {
		return err
	}
	prefixes := []string{""}
	if in.Names != nil {
		if err := output.CheckNames(files.Path(""), in.Names, fmt.Sprintf("-%0*d%s", shardDigits, 0, to.Ending)); err != nil {
			return err
		}
		prefixes = prefixes[:0]
		for _, name := range in.Names {
			prefixes = append(prefixes, name+"-")
		}
	}
	release, err := files.LockOutput(ctx)
	if err != nil {
		return err
	}
	defer release()
	set := shardSet{files: files, prefixes: prefixes, ending: to.Ending}
	if err := set.look(ctx, to.Overwrite); err != nil {
		return err
	}
	for i, part := range in.Parts {
		env.Stats.Total.Add(int64(part.Len()))
		table, err := open(ctx, part)
		if err != nil {
			return err
		}
		n, err := cut(ctx, env, to, table, func(n int, write func(io.Writer) error) (int64, error) {
			return set.write(ctx, i, n, to.Overwrite, write)
		})
		if err == nil {
			err = set.drop(ctx, i, n)
		}
		if err != nil {
			return err
		}
	}
	return files.Settle(ctx, set.named)
}

// cut writes a table to as many files as it needs, each with a number by write. It
// returns how many.
func cut[T any](ctx context.Context, env *component.Env, to Target, table Table[T], write func(n int, write func(io.Writer) error) (int64, error)) (n int, err error) {
	next, stop := iter.Pull2(dataset.Stream(ctx, table.Rows, env.Pool))
	defer stop()
	bytes, err := to.Shards.Bytes.Bytes()
	if err != nil {
		return 0, err
	}
	c := &cutter[T]{Table: table, env: env, bytes: bytes, samples: to.Shards.Samples, next: next}
	if err := c.take(); err != nil {
		return 0, err
	}
	for ; n == 0 || c.more; n++ { // without samples there is one file, so that the directory exists
		c.wrote = 0
		written, err := write(n, c.shard)
		if err != nil {
			return n, err
		}
		countFile(env, written, c.wrote)
	}
	return n, nil
}

// A cutter reads the rows of a table. It holds the one row that is not written yet.
type cutter[T any] struct {
	Table[T]
	env     *component.Env
	bytes   int64 // 0: no bound
	samples int
	next    func() (T, error, bool)

	row   T
	more  bool // row holds a row
	wrote int  // rows of the file
}

func (c *cutter[T]) take() (err error) {
	c.row, err, c.more = c.next()
	return err
}

// shard writes a file.
func (c *cutter[T]) shard(to io.Writer) error {
	file, err := c.Begin(to)
	if err != nil {
		return err
	}
	for c.more && !c.full(file) {
		if err := file.Add(c.row); err != nil {
			return err
		}
		c.wrote++
		c.env.Stats.Done.Add(1)
		if err := c.take(); err != nil {
			return err
		}
	}
	return file.End()
}

func (c *cutter[T]) full(file File[T]) bool {
	return c.wrote > 0 && (c.wrote == c.samples || c.bytes > 0 && !file.Fits(c.row, c.bytes))
}

// texts is a file of text rows. For a compressed file it counts uncompressed bytes,
// because the compressed size is known only at the end.
type texts struct {
	to    io.Writer
	done  func() error
	bytes int64
}

func (t *texts) Fits(row []byte, most int64) bool { return t.bytes+int64(len(row)) <= most }

func (t *texts) Add(row []byte) error {
	n, err := t.to.Write(row)
	t.bytes += int64(n)
	return err
}

func (t *texts) End() error { return t.done() }

// shards writes shards of rows.
func (s Sink) shards(ctx context.Context, env *component.Env, in component.Data) error {
	to := s.Target
	to.Ending += s.Compress.Ext()
	return writeShards(ctx, env, to, in, func(ctx context.Context, ds component.Samples) (Table[[]byte], error) {
		head, row, err := s.Begin(ctx, output.PathIn(env.Path(s.Path), "000000"+to.Ending), ds)
		if err != nil {
			return Table[[]byte]{}, err
		}
		return Table[[]byte]{newEncoded(ds, env.Node, row), func(to io.Writer) (File[[]byte], error) { return s.begin(to, head) }}, nil
	})
}

// begin begins a file of rows.
func (s Sink) begin(to io.Writer, head []byte) (File[[]byte], error) {
	w, done, err := compression.Writer(cmp.Or(s.Compress, Plain), to)
	if err != nil {
		return nil, err
	}
	n, err := w.Write(head)
	return &texts{w, done, int64(n)}, err
}
