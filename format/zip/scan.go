package zip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/internal/text/display"
)

func shown(name string) string { return display.Name(name) }

// A found is a member of an archive.
type found struct {
	entry
	member bool  // of a sample
	extent int64 // bytes from its header to whatever follows
}

// scan reads the directory of an archive and returns the positions of its members,
// without reading them.
func scan(ctx context.Context, path string, from io.ReaderAt, size int64) (members.Index, error) {
	d, err := findDirectory(from, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x, err := d.index(ctx, from)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return x, err
}

func (d directory) index(ctx context.Context, from io.ReaderAt) (members.Index, error) {
	var all []found
	err := d.each(ctx, from, func(e entry) error {
		_, _, ok := members.SplitName(e.name)
		if ok && e.link {
			return e.fail(errors.New("symbolic links are not supported; create the archive without zip -y"))
		}
		if ok = ok && e.file; ok {
			if err := e.check(); err != nil {
				return e.fail(err)
			}
		} else if err := e.checkUnused(from); err != nil {
			return e.fail(err)
		}
		all = append(all, found{entry: e, member: ok})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := d.extents(all); err != nil {
		return nil, err
	}
	b := members.NewBuilder(placeBytes)
	for _, f := range all {
		if !f.member {
			continue
		}
		if err := b.Add(f.name, f.place()); err != nil {
			return nil, err
		}
	}
	return b.Index()
}

// extents computes how far each member may extend, and refuses overlapping members, with
// which a small archive could decompress to very much.
func (d directory) extents(all []found) error {
	order := make([]*found, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortFunc(order, func(a, b *found) int { return cmp.Compare(a.at, b.at) })
	for i, f := range order {
		end, next := d.at, "the directory"
		if i+1 < len(order) {
			end, next = order[i+1].at, shown(order[i+1].name)
		}
		if f.extent = end - f.at; f.extent < localBytes+int64(len(f.name)) || f.extent-localBytes-int64(len(f.name)) < f.packed {
			return f.fail(fmt.Errorf("overlap with %s: the archive is damaged, or a zip bomb", next))
		}
	}
	return nil
}

// Compression methods, and the largest number of bytes that one byte decompresses to.
const (
	stored  = 0
	deflate = 8
	zstd    = 93

	maxByDeflate = 1032    // a length of 258 with two bits
	maxByZstd    = 1 << 15 // a block of 128 KiB with four bytes
)

// methods are the names of unsupported methods.
var methods = map[uint16]string{6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 95: "xz", 98: "ppmd", 99: "encryption (AES)"}

const (
	masked    = 1 << 13 // names and sizes in the headers
	encrypted = 1<<0 | 1<<6 | masked
)

// checkUnused refuses an ignored member that would not be ignored by the name in its
// header, and a directory with content. Names of other members are compared when they
// are read.
func (e *entry) checkUnused(from io.ReaderAt) error {
	switch {
	case e.unpacked == 0 || e.flags&masked != 0:
		return nil
	case e.isDirectory():
		return errors.New("a directory with content: the archive is damaged")
	}
	_, err := header(from, e.at, e.name)
	return err
}

// check refuses a member that cannot be read, or has impossible sizes.
func (e *entry) check() error {
	most := int64(1)
	switch e.method {
	case stored:
	case deflate:
		most = maxByDeflate
	case zstd:
		most = maxByZstd
	default:
		return fmt.Errorf("compression %s is not supported; create the archive with deflate or zstd", cmp.Or(methods[e.method], fmt.Sprintf("method %d", e.method)))
	}
	switch {
	case e.flags&encrypted != 0:
		return errors.New("encryption is not supported; create the archive without a password")
	case !utf8.ValidString(e.name) || strings.ContainsRune(e.name, 0):
		return errors.New("the name is not UTF-8; rename the member and create the archive again")
	case e.method == stored && e.unpacked != e.packed:
		return fmt.Errorf("stored as %d bytes but declared as %d: the archive is damaged", e.packed, e.unpacked)
	case e.unpacked/most > e.packed:
		return fmt.Errorf("%d bytes cannot decompress to %d: the archive is damaged", e.packed, e.unpacked)
	}
	return nil
}
