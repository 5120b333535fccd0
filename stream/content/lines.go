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

// A Line is one of a file, without the line feed at its end, and the carriage return before
// that.
type Line struct {
	Name   string // of the file
	Number int    // from 1
	Text   string
}

// Lines reads files by line, of longest bytes at most; 0 stands for 16 MiB. What is not
// UTF-8 is an error, unless raw is true: then the bytes are as they are. A byte order mark at
// the beginning of a file is left out.
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
				return Line{}, fmt.Errorf("line %d is not UTF-8; convert the file, or say raw", number)
			}
			return Line{f.Name, number, string(b)}, nil
		}
	}, longest)
}

// line reads a line, which is valid until the next is read.
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
