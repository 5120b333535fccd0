package content

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/stream"
)

// Members reads the files in tar archives, each as a whole, of at most most bytes; 0
// means 256 MiB. It decompresses archives by name (.tar.gz, .tgz, .tar.zst, .tar.xz,
// .tar.bz2). It skips directories and devices. Links, sparse files, names that lead out
// of a directory, and truncated archives are errors.
func Members(s stream.Stream[File], most int64) stream.Stream[Content] {
	return MembersBy(s, most, func() func(string) error { return func(string) error { return nil } })
}

// MembersBy is [Members] with a check of file names. It calls begin for each archive,
// and the returned function with the name of each file, from the archive's beginning
// even if reading is resumed. An error ends the stream.
func MembersBy(s stream.Stream[File], most int64, begin func() func(name string) error) stream.Stream[Content] {
	if most <= 0 {
		most = defaultLargest
	}
	return stream.Expand(s, "members", func(_ context.Context, f File) (stream.Source[Content], error) {
		return stream.Source[Content]{Name: f.Name, Kind: f.kind(), Open: func(ctx context.Context, _ int64) (stream.Feed[Content], error) {
			r, err := f.unpacked(ctx)
			if err != nil {
				return nil, err
			}
			c := &counted{from: r}
			return &members{name: f.Name, file: r, in: c, tar: tar.NewReader(c), most: most, check: begin()}, nil
		}}, nil
	})
}

// counted counts the bytes read, and the zero bytes at the end, up to a block.
type counted struct {
	from  io.Reader
	n     int64
	zeros int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	zeros := 0
	for zeros < min(n, blockBytes) && b[n-1-zeros] == 0 {
		zeros++
	}
	if zeros == n {
		zeros += c.zeros
	}
	c.zeros = min(zeros, blockBytes)
	return n, err
}

// members is an archive during reading.
type members struct {
	name string
	file io.Closer
	in   *counted
	tar  *tar.Reader
	most int64
	end  int64 // end of the last member, with the padding of its last block

	check func(name string) error
}

const blockBytes = 512

func (m *members) Next(context.Context) (c Content, err error) {
	for {
		h, err := m.tar.Next()
		if err == io.EOF { //nolint:errorlint // an EOF that is wrapped is an error
			return c, m.ended()
		}
		if err != nil {
			return c, m.wrong(err)
		}
		file, err := IsFile(h)
		if err != nil {
			return c, m.wrong(err)
		}
		if h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink {
			return c, m.wrong(fmt.Errorf("%.200q is a link to %.200q, which a stream cannot follow; make the archive with --dereference --hard-dereference", h.Name, h.Linkname))
		}
		if m.end = m.in.n; !file {
			continue // directories and devices have no data
		}
		if !filepath.IsLocal(filepath.FromSlash(h.Name)) || strings.ContainsAny(h.Name, "\\\x00") {
			return c, m.wrong(fmt.Errorf("the name %.200q leads out of a directory; this is an archive to beware of", h.Name))
		}
		if err := m.check(h.Name); err != nil {
			return c, m.wrong(err)
		}
		if h.Size > m.most {
			return c, m.wrong(fmt.Errorf("%.200q: %w: %d bytes", h.Name, ErrTooLarge, m.most))
		}
		m.end += (h.Size + blockBytes - 1) / blockBytes * blockBytes
		b, err := readAll(m.tar, m.most)
		if err != nil {
			return c, m.wrong(fmt.Errorf("%.200q: %w", h.Name, err))
		}
		return Content{m.name, h.Name, b}, nil
	}
}

func (m *members) Close() error { return m.file.Close() }

func (m *members) wrong(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the archive is truncated: %w", err)
	case errors.Is(err, tar.ErrHeader):
		err = fmt.Errorf("not a tar archive, or damaged: %w", err)
	}
	return fmt.Errorf("%s: %w", m.name, err)
}

// ended reads the rest of the file after the archive's end, because the checksum of a
// compressed file is at its end. An archive without an end marker may have been
// truncated between two members.
func (m *members) ended() error {
	if m.in.n < m.end+blockBytes || m.in.zeros < blockBytes { // a truncated member has a longer header, too
		return fmt.Errorf("%s: the end of the archive is missing", m.name)
	}
	if _, err := io.Copy(io.Discard, m.in); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return io.EOF
}

// IsFile reports whether a member of a tar archive is a file. Contiguous files count, as
// in other software. Members that have content but would be skipped or misread are an
// error.
func IsFile(h *tar.Header) (bool, error) {
	switch {
	case sparse(h):
		return false, fmt.Errorf("%.200q is a sparse file, which is not read; make the archive without --sparse", h.Name)
	case h.Size == 0 || strings.ContainsRune(headersOnly, rune(h.Typeflag)):
		return isRegular(h.Typeflag), nil
	case !isRegular(h.Typeflag):
		return false, fmt.Errorf("%.200q has content and the type %q, which is not read; make the archive of regular files", h.Name, h.Typeflag)
	case strings.HasSuffix(h.Name, "/"):
		return false, fmt.Errorf("%.200q is a file with the name of a directory; rename it and create the archive again", h.Name)
	}
	return true, nil
}

func isRegular(kind byte) bool { return kind == tar.TypeReg || kind == tar.TypeCont }

// headersOnly lists the types without content, whatever size they declare: links,
// devices, directories and pipes. It omits directories that list their entries (tar
// --incremental).
const headersOnly = "123456D"

// sparse reports whether a member has holes, so that its bytes differ from those in the
// archive.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}
