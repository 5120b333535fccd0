package compression

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A gzipReader reads members one after another, with zeros behind them: tapes and devices fill
// their last block with such, and gzip and tar pass over them.
type gzipReader struct {
	*gzip.Reader
	from *bufio.Reader
}

func newGzipReader(in io.Reader) (*gzipReader, error) {
	from := bufio.NewReaderSize(in, 1<<16)
	r, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return &gzipReader{r, from}, nil
}

// Read implements io.Reader.
func (r *gzipReader) Read(b []byte) (int, error) {
	for {
		n, err := r.Reader.Read(b)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := r.next(); n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins the next member. It is io.EOF where there is none.
func (r *gzipReader) next() error {
	for {
		c, err := r.from.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
	}
	if err := r.from.UnreadByte(); err != nil {
		return err
	}
	err := r.Reset(r.from)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // of a header that was begun
	}
	r.Multistream(false)
	return err
}
