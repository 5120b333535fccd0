package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	magic = "PAR1"
	// maxFooter bounds what is read when a file is opened.
	maxFooter = 64 << 20
	// maxPage bounds a page, decompressed.
	maxPage = 1 << 30
	// maxValues bounds the values of a page, which take memory even if they are all equal.
	maxValues = 1 << 24
)

// A footer is the metadata of a file.
type footer struct {
	schema *node
	groups []group
}

// A group is a row group of a file.
type group struct {
	rows   int64
	chunks []chunk // one for each leaf
}

// A chunk is the pages of a column in a row group.
type chunk struct {
	codec    int
	values   int64
	at, size int64 // position of its pages
}

// readFooter returns the bytes of a file's footer.
func readFooter(from io.ReaderAt, size int64) ([]byte, error) {
	var b [8]byte
	if size < 12 {
		return nil, errors.New("not a Parquet file: too short")
	}
	if _, err := from.ReadAt(b[:4], 0); err != nil {
		return nil, err
	}
	begin := string(b[:4])
	if _, err := from.ReadAt(b[:], size-8); err != nil {
		return nil, err
	}
	if end := string(b[4:]); begin == "PARE" || end == "PARE" {
		return nil, errors.New("encrypted files are not supported")
	} else if begin != magic {
		return nil, errors.New("not a Parquet file")
	} else if end != magic {
		return nil, errors.New("not a Parquet file, or truncated")
	}
	n := int64(binary.LittleEndian.Uint32(b[:]))
	if n > size-12 {
		return nil, errors.New("the end of the file is damaged")
	}
	if n > maxFooter {
		return nil, fmt.Errorf("the footer of %d bytes exceeds %d; write larger row groups", n, maxFooter)
	}
	text := make([]byte, n)
	_, err := from.ReadAt(text, size-8-n)
	return text, err
}

// parseFooter reads a FileMetaData. end is the end of the file's pages.
func parseFooter(b []byte, end int64) (*footer, error) {
	f, m := &footer{}, &message{b: b}
	var elements []element
	encrypted := false
	m.fields(kindStruct, func(id int, kind byte) {
		switch id {
		case 2:
			m.list(kind, func(kind byte) { elements = append(elements, readElement(m, kind)) })
		case 4:
			m.list(kind, func(kind byte) { f.groups = append(f.groups, readGroup(m, kind)) })
		case 8:
			encrypted = true
			m.skip(kind)
		default:
			m.skip(kind)
		}
	})
	if m.err != nil {
		return nil, fmt.Errorf("invalid footer: %w", m.err)
	}
	if encrypted {
		return nil, errors.New("encrypted files are not supported")
	}
	var err error
	if f.schema, err = tree(elements); err != nil {
		return nil, err
	}
	return f, f.check(end)
}

func readGroup(m *message, kind byte) (g group) {
	g.rows = -1
	m.fields(kind, func(id int, kind byte) {
		switch id {
		case 1:
			m.list(kind, func(kind byte) { g.chunks = append(g.chunks, readChunk(m, kind)) })
		case 3:
			g.rows = m.int(kind)
		default:
			m.skip(kind)
		}
	})
	return g
}

func readChunk(m *message, kind byte) (c chunk) {
	c.codec = -1
	dictionary := int64(0)
	m.fields(kind, func(id int, kind byte) {
		switch id {
		case 1:
			m.fail(errors.New("columns in other files are not supported"))
		case 3:
			m.fields(kind, func(id int, kind byte) {
				switch id {
				case 4:
					c.codec = m.int32(kind)
				case 5:
					c.values = m.int(kind)
				case 7:
					c.size = m.int(kind)
				case 9:
					c.at = m.int(kind)
				case 11:
					dictionary = m.int(kind)
				default:
					m.skip(kind)
				}
			})
		default:
			m.skip(kind)
		}
	})
	if c.codec < 0 {
		m.fail(errMessage)
	}
	if dictionary > 0 && dictionary < c.at {
		c.at = dictionary
	}
	return c
}

// check returns an error if the footer refers to bytes outside the file.
func (f *footer) check(end int64) error {
	rows := int64(0)
	for i, g := range f.groups {
		if g.rows < 0 || g.rows > 1<<40 || len(g.chunks) != f.schema.leaves {
			return fmt.Errorf("row group %d has %d rows and %d of %d columns: the file is damaged", i, g.rows, len(g.chunks), f.schema.leaves)
		}
		rows += g.rows
		for k, c := range g.chunks {
			if c.at < 0 || c.size < 0 || c.at > end || c.size > end-c.at || c.values < 0 {
				return fmt.Errorf("column %d of row group %d is outside the file: the file is damaged", k, i)
			}
		}
	}
	if int64(int(rows)) != rows || rows > 1<<48 {
		return errors.New("too many rows")
	}
	return nil
}
