package content

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/larder-data/larder/stream"
)

// hashes maps algorithms to hash functions. MD5 and SHA-1 detect damage, but not
// forgery.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// ErrSum is the error of a file with a wrong checksum.
var ErrSum = errors.New("the content does not match its checksum")

// Check compares files with hexadecimal checksums by file name. A file without one is an
// error. algorithm is sha256, sha384, sha512, sha1 or md5. A file is checked as it is
// read: with a wrong checksum, its end is [ErrSum] instead of io.EOF.
func Check(s stream.Stream[File], algorithm string, sums map[string]string) stream.Stream[File] {
	return stream.MapAs(s, "check("+algorithm+")", func(_ context.Context, f File) (File, error) {
		make, ok := hashes[strings.ToLower(algorithm)]
		if !ok {
			return f, fmt.Errorf("unknown algorithm %.80q; use sha256, sha384, sha512, sha1 or md5", algorithm)
		}
		text, ok := sums[f.Name]
		if !ok {
			return f, fmt.Errorf("%s: no checksum; add one to sums", f.Name)
		}
		sum, err := hex.DecodeString(text)
		if err != nil || len(sum) != make().Size() {
			return f, fmt.Errorf("%s: %.200q is not a %s checksum; give %d hexadecimal digits", f.Name, text, algorithm, 2*make().Size())
		}
		checked := f
		checked.Open = func(ctx context.Context) (io.ReadCloser, error) {
			r, err := f.open(ctx)
			if err != nil {
				return nil, err
			}
			return &summed{f.Name, r, make(), sum}, nil
		}
		return checked, nil
	})
}

type summed struct {
	name string
	io.ReadCloser
	hash hash.Hash
	want []byte
}

func (s *summed) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.hash.Write(b[:n])
	if errors.Is(err, io.EOF) {
		if got := s.hash.Sum(nil); subtle.ConstantTimeCompare(got, s.want) == 0 {
			return n, fmt.Errorf("%s: %w: got %x, expected %x", s.name, ErrSum, got, s.want)
		}
	}
	return n, err
}
