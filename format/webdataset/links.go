package webdataset

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"

	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/stream/content"
)

// A link is a member that has the content of another one.
type link struct {
	name   string
	to     string // the name of the other one, normalized by [clean]
	member int    // in the index
}

// linkOf returns the link in a header.
func linkOf(h *tar.Header) (l link, ok bool) {
	switch h.Typeflag {
	case tar.TypeLink:
		return link{name: h.Name, to: clean(h.Linkname)}, true
	case tar.TypeSymlink:
		to := h.Linkname
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(h.Name), to)
		}
		return link{name: h.Name, to: clean(to)}, true
	}
	return l, false
}

// clean normalizes a name for comparing links with members.
func clean(name string) string { return path.Clean(name) }

// follow resolves links in an archive, of which the first headers headers are read. The
// target of a hard link precedes it; that of a symbolic link may be anywhere. Most
// archives have no links, so the names of members are read again only if there are some.
func follow(ctx context.Context, from io.ReaderAt, size int64, headers int, links []link, b *members.Builder) error {
	wanted := make(map[string][]byte, len(links)) // positions
	for _, l := range links {
		wanted[l.to] = nil
	}
	aliases := map[string]string{}
	hard := map[string][]byte{} // by the name of the link: the member before it
	at := &cursor{from: from, size: size}
	r := tar.NewReader(at)
	for range headers {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		h, err := r.Next()
		if err != nil {
			return explained(err)
		}
		name := clean(h.Name)
		l, isLink := linkOf(h)
		file, err := content.IsFile(h)
		if err != nil {
			return err
		}
		_, isWanted := wanted[name]
		switch {
		case isLink && h.Typeflag == tar.TypeLink && wanted[l.to] != nil:
			hard[name] = wanted[l.to]
			if isWanted {
				wanted[name] = wanted[l.to]
			}
		case isLink:
			aliases[name] = l.to
			if isWanted {
				wanted[name] = nil
			}
		case isWanted && file:
			wanted[name] = placeOf(at.at, h.Size)
		}
	}
	for _, l := range links {
		place := hard[clean(l.name)]
		for to, n := l.to, 0; place == nil && n < maxLinks; n++ {
			place, to = wanted[to], aliases[to]
		}
		if place == nil {
			return fmt.Errorf("%s is a link to %s outside the archive; create the archive with --dereference", l.name, l.to)
		}
		b.SetPlace(l.member, place)
	}
	return nil
}

// maxLinks bounds the length of a chain of links.
const maxLinks = 40
