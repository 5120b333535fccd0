package content

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/larder-data/larder/stream"
)

// A Line is one line of a file, without its final line feed and a carriage return before
// that.
type Line struct {
	Name   string // of the file
	Number int    // from 1
	Text   string
}

// Lines reads files by line, of at most longest bytes; 0 means 16 MiB. Invalid UTF-8 is
// an error unless raw is true, which returns the bytes unchanged. A byte order mark at
// the beginning of a file is removed.
func Lines(s stream.Stream[File], longest int, raw bool) stream.Stream[Line] {
	return parsed(s, "lines", func(f File, in *bounded) func() (Line, error) {
		r, number := bufio.NewReader(in), 0
		return func() (Line, error) {
			b, err := line(r)
			if err != nil {
				return Line{}, err
			}
			number++
			if !raw && !utf8.Valid(b) {
				return Line{}, fmt.Errorf("line %d is not UTF-8; convert the file, or set raw", number)
			}
			return Line{f.Name, number, string(b)}, nil
		}
	}, longest)
}

// line reads a line, which is valid until the next call.
func line(r *bufio.Reader) ([]byte, error) {
	b, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(b)
		for errors.Is(err, bufio.ErrBufferFull) {
			b, err = r.ReadSlice('\n')
			long = append(long, b...)
		}
		b = long
	}
	if err != nil && (len(b) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	if cut, ok := bytes.CutSuffix(b, []byte("\n")); ok {
		b = bytes.TrimSuffix(cut, []byte("\r"))
	}
	return b, nil
}
