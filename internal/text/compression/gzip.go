package compression

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A gzipReader reads consecutive members and the zeros after them. Tapes and devices
// pad their last block with zeros; gzip and tar skip them.
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

// next begins the next member. It returns io.EOF if there is none.
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
		err = io.ErrUnexpectedEOF // of an incomplete header
	}
	r.Multistream(false)
	return err
}
