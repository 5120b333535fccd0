package columns

import (
	"fmt"
	"os"
	"runtime"

	"github.com/larder-data/larder/codec"
)

// A spool stores the values of rows until all are known: in memory, and above a bound in
// an unnamed file. The file is removed with its last user, or the process.
type spool struct {
	encoding *codec.Value[[]any]
	ends     []int64 // of rows
	held     []byte  // of rows not in the file
	file     *os.File
	written  int64
}

// maxHeld bounds the rows in memory, in bytes.
const maxHeld = 8 << 20

func newSpool() (*spool, error) {
	encoding, err := codec.For[[]any]()
	return &spool{encoding: encoding}, err
}

// add stores the values of the next row.
func (s *spool) add(row []any) (err error) {
	if s.held, err = s.encoding.Encode(s.held, row); err != nil {
		return err
	}
	s.ends = append(s.ends, s.written+int64(len(s.held)))
	if len(s.held) < maxHeld {
		return nil
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "larder-columns-*"); err != nil {
			return fmt.Errorf("%w; TMPDIR sets the directory of temporary files", err)
		}
		_ = os.Remove(s.file.Name()) // on systems that cannot remove open files, it stays
		runtime.AddCleanup(s, func(f *os.File) { _ = f.Close() }, s.file)
	}
	n, err := s.file.Write(s.held)
	s.written += int64(n)
	s.held = s.held[:0]
	return err
}

// row returns the values of a row.
func (s *spool) row(i int) ([]any, error) {
	from := int64(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	b := make([]byte, s.ends[i]-from)
	if from >= s.written {
		copy(b, s.held[from-s.written:])
	} else if _, err := s.file.ReadAt(b, from); err != nil {
		return nil, err
	}
	runtime.KeepAlive(s)
	return s.encoding.Decode(b)
}
