package content

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/larder-data/larder/stream"
)

// parsed replaces files by the elements that a parser finds in them.
func parsed[T any](s stream.Stream[File], name string, parse func(File, *bounded) func() (T, error), longest int) stream.Stream[T] {
	if longest <= 0 {
		longest = defaultLongest
	}
	return stream.Expand(s, name, func(_ context.Context, f File) (stream.Source[T], error) {
		return stream.Source[T]{Name: f.Name, Kind: f.kind(), Open: func(ctx context.Context, _ int64) (stream.Feed[T], error) {
			r, err := f.open(ctx)
			if err != nil {
				return nil, err
			}
			b := &bounded{from: withoutMark(r), longest: longest}
			return &feed[T]{f.Name, r, b, parse(f, b)}, nil
		}}, nil
	})
}

const defaultLongest = 16 << 20

// feed is a file during parsing.
type feed[T any] struct {
	name string
	file io.Closer
	in   *bounded
	next func() (T, error)
}

func (f *feed[T]) Next(context.Context) (T, error) {
	f.in.since = 0
	v, err := f.next()
	if err != nil && err != io.EOF { //nolint:errorlint // an EOF that is wrapped is an error
		err = fmt.Errorf("%s: %w", f.name, err)
	}
	return v, err
}

func (f *feed[T]) Close() error { return f.file.Close() }

// bounded is a reader that fails after the largest size of an element.
type bounded struct {
	from           io.Reader
	since, longest int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.since > b.longest {
		return 0, fmt.Errorf("%w: an element of more than %d bytes", ErrTooLarge, b.longest)
	}
	n, err := b.from.Read(p)
	b.since += n
	return n, err
}

const byteOrderMark = "\ufeff"

// withoutMark removes a byte order mark at the beginning.
func withoutMark(r io.Reader) io.Reader { return &markless{r: bufio.NewReader(r)} }

type markless struct {
	r     *bufio.Reader
	begun bool
}

func (m *markless) Read(p []byte) (int, error) {
	if !m.begun {
		m.begun = true
		if b, _ := m.r.Peek(len(byteOrderMark)); string(b) == byteOrderMark {
			_, _ = m.r.Discard(len(byteOrderMark)) // already read
		}
	}
	return m.r.Read(p)
}
