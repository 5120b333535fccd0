package ipc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// An index has five numbers of 8 bytes, little-endian, for each message of a file. They
// are its kind, the position and the length of its metadata, the length of the following
// body, and the number of rows or the ID of the dictionary. The first message is the
// schema; its last number is 1 if the metadata is the footer of the file, and not a
// message.
type index []byte

const (
	entryBytes = 40
	maxMeta    = 16 << 20 // of a message
)

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	rowsMessage       = 3
	moreMessage       = 4 // an addition to a dictionary; in a file it is a dictionaryMessage
)

type entry struct{ kind, at, meta, body, number int64 }

func (x index) len() int { return len(x) / entryBytes }

func (x index) entry(i int) entry {
	n := func(k int) int64 { return int64(binary.LittleEndian.Uint64(x[entryBytes*i+8*k:])) }
	return entry{n(0), n(1), n(2), n(3), n(4)}
}

func (x index) add(e entry) index {
	for _, n := range []int64{e.kind, e.at, e.meta, e.body, e.number} {
		x = binary.LittleEndian.AppendUint64(x, uint64(n))
	}
	return x
}

// check returns an error if bytes are not a valid index.
func (x index) check() error {
	if len(x)%entryBytes != 0 || len(x) == 0 || x.entry(0).kind != schemaMessage {
		return errIndex
	}
	for i := range x.len() {
		e := x.entry(i)
		if e.at < 0 || e.meta < 0 || e.meta > maxMeta || e.body < 0 || e.at > 1<<60 || e.body > 1<<60 || e.number < 0 || e.number > maxRows {
			return errIndex
		}
	}
	return nil
}

// withSchema appends the metadata of the schema and the length of the index to an index:
// all that is needed before reading the file.
func withSchema(x index, schema []byte) []byte {
	return binary.LittleEndian.AppendUint64(slices.Concat(x, schema), uint64(len(x)))
}

// parted splits the result of withSchema.
func parted(retained []byte) (x index, schema []byte, err error) {
	end := len(retained) - 8
	if end < 0 {
		return nil, nil, errIndex
	}
	n := binary.LittleEndian.Uint64(retained[end:])
	if n > uint64(end) {
		return nil, nil, errIndex
	}
	x, schema = retained[:n], retained[n:end]
	if err := x.check(); err != nil {
		return nil, nil, err
	}
	if x.entry(0).meta != int64(len(schema)) {
		return nil, nil, errIndex
	}
	return x, schema, nil
}

var errIndex = errors.New("arrow: unknown format of a cached index")

// maxRows bounds the rows of a batch.
const maxRows = 1 << 40

const magic = "ARROW1"

// scan finds the messages of a file by its footer, and those of a stream one by one. It
// returns the index with the schema.
func scan(ctx context.Context, path string, from io.ReaderAt, size int64, incomplete bool) ([]byte, error) {
	s := &scanner{from: from, size: size, slot: 2}
	x, err := s.scan(ctx)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if incomplete && x.len() > 0 {
			return withSchema(x, s.schema), nil
		}
		err = errors.New("the file is truncated; set incomplete: true to read the rest")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", path, s.at, err)
	}
	return withSchema(x, s.schema), nil
}

type scanner struct {
	from     io.ReaderAt
	size, at int64
	schema   []byte // the metadata with the schema
	slot     int    // slot of the schema in it
}

func (s *scanner) read(n int64) ([]byte, error) {
	if s.at < 0 || n > s.size-s.at {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	_, err := s.from.ReadAt(b, s.at)
	s.at += n
	return b, err
}

func (s *scanner) scan(ctx context.Context) (x index, err error) {
	head, err := s.read(8)
	if err != nil {
		return nil, err
	}
	if string(head[:4]) == "FEA1" {
		return nil, errors.New("version 1 of Feather is not supported; write with version=2")
	}
	isFile := string(head) == magic+"\x00\x00"
	if isFile {
		footer, at, err := s.footer()
		if err == nil {
			return s.byFooter(ctx, footer, at)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
	} else {
		s.at = 0
	}
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, ok, err := s.message()
		if err != nil {
			return x, err
		}
		if !ok {
			break
		}
		if (e.kind == schemaMessage) != (x.len() == 0) {
			return nil, errors.New("not an Arrow file, or damaged")
		}
		x = x.add(e)
	}
	if isFile {
		return x, io.ErrUnexpectedEOF
	}
	if s.at < s.size {
		return x, errors.New("data after the end: the file is damaged, or has several streams; split them")
	}
	if x.len() == 0 {
		return nil, errors.New("the schema is missing: the file is damaged")
	}
	return x, nil
}

// footer reads the footer of a file, and its position.
func (s *scanner) footer() (meta []byte, at int64, err error) {
	end := make([]byte, 4+len(magic))
	if s.size-s.at < int64(len(end)) {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if _, err := s.from.ReadAt(end, s.size-int64(len(end))); err != nil {
		return nil, 0, err
	}
	if !bytes.Equal(end[4:], []byte(magic)) {
		return nil, 0, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > s.size-s.at-int64(len(end)) || n > maxMeta {
		return nil, 0, errors.New("the end of the file is damaged")
	}
	meta, at = make([]byte, n), s.size-int64(len(end))-n
	_, err = s.from.ReadAt(meta, at)
	return meta, at, err
}

// byFooter finds the messages by the footer: some writers begin a file with bytes that
// are not a message.
func (s *scanner) byFooter(ctx context.Context, footer []byte, end int64) (x index, err error) {
	t := rootOf(footer)
	rows := t.structs(3, blockBytes)
	blocks := slices.Concat(t.structs(2, blockBytes), rows) // dictionaries come first
	if *t.fail != nil {
		return nil, errors.New("the end of the file is damaged")
	}
	s.size = end
	var spans []span
	dictionaries := map[int64]bool{} // those already begun
	if e, ok, err := s.message(); ok && err == nil && e.kind == schemaMessage {
		if err := s.sameSchema(t); err != nil {
			return nil, err
		}
		spans = append(spans, span{0, s.at})
	}
	s.schema, s.slot = footer, 1
	x = x.add(entry{kind: schemaMessage, at: end, meta: int64(len(footer)), number: 1})
	for ; len(blocks) > 0; blocks = blocks[blockBytes:] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.at = int64(binary.LittleEndian.Uint64(blocks))
		from := s.at
		e, ok, err := s.message()
		if !ok && err == nil || errors.Is(err, io.ErrUnexpectedEOF) || ok && (e.kind == rowsMessage) != (len(blocks) <= len(rows)) {
			err = errors.New("the footer declares a batch here, but there is none: the file is damaged")
		}
		if e.kind == dictionaryMessage && dictionaries[e.number] && err == nil {
			s.at, err = from, errors.New("dictionary replacement is not supported in files; write a stream (.arrows)")
		}
		if err != nil {
			return nil, err
		}
		dictionaries[e.number] = dictionaries[e.number] || e.kind == dictionaryMessage
		x, spans = x.add(e), append(spans, span{from, s.at})
	}
	return x, s.covered(spans, end)
}

// A span is the position of a message.
type span struct{ from, to int64 }

// maxPadding is less than any message takes.
const maxPadding = 63

// covered returns an error if messages are not adjacent, because a message in a gap
// would be lost.
func (s *scanner) covered(spans []span, end int64) error {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	spans = append(spans, span{from: end})
	for i, next := range spans[1:] {
		s.at = spans[i].to
		space := int64(maxPadding)
		if next.from == end {
			space += 8 // the end marker
		}
		if gap := next.from - s.at; gap < 0 || gap > space {
			return fmt.Errorf("the footer declares these %d bytes not once: the file is damaged", gap)
		}
	}
	return nil
}

// blockBytes is the size of a batch in the footer: its position, and two lengths.
const blockBytes = 24

// sameSchema returns an error unless the schema at the beginning of a file equals the
// one in the footer.
func (s *scanner) sameSchema(footer table) error {
	last, ok := footer.table(1)
	first, there := rootOf(s.schema).table(2)
	if !ok || !there {
		return errors.New("the schema at the beginning or end is missing: the file is damaged")
	}
	want, err := fieldsOf(last)
	if err != nil {
		return nil //nolint:nilerr // types that are not read are refused where the schema is, and name the column
	}
	if got, err := fieldsOf(first); err != nil || !reflect.DeepEqual(got, want) {
		return errors.New("the schemas at beginning and end differ: the file is damaged")
	}
	return nil
}

// message reads the metadata of the next message, and skips its body. ok is false at the
// end.
func (s *scanner) message() (e entry, ok bool, err error) {
	b, err := s.read(4)
	if err != nil {
		return e, false, err
	}
	n := binary.LittleEndian.Uint32(b)
	if n == 0xFFFFFFFF { // since version 0.15
		if b, err = s.read(4); err != nil {
			return e, false, err
		}
		n = binary.LittleEndian.Uint32(b)
	}
	if n == 0 {
		return e, false, nil
	}
	if n > maxMeta {
		return e, false, errors.New("not an Arrow file, or damaged")
	}
	e.at, e.meta = s.at, int64(n)
	meta, err := s.read(e.meta)
	if err != nil {
		return e, false, err
	}
	if s.schema == nil {
		s.schema = meta
	}
	t := rootOf(meta)
	e.kind, e.body = t.int(1, 1, 0), t.int(3, 8, 0)
	header, there := t.table(2)
	if !there {
		return e, false, errors.New("empty message: not an Arrow file, or damaged")
	}
	if e.kind != schemaMessage {
		if e.number = header.int(0, 8, 0); e.kind == dictionaryMessage && header.bool(2) {
			e.kind = moreMessage
		}
		if e.kind == rowsMessage && !s.fits(header.structs(1, 16), e.number) {
			return e, false, errors.New("columns of a batch differ in length: the file is damaged")
		}
	}
	if *t.fail != nil || t.int(1, 1, 0) < schemaMessage || t.int(1, 1, 0) > rowsMessage || e.body < 0 || e.number < 0 || e.number > maxRows {
		return e, false, errors.New("not an Arrow file, or damaged")
	}
	if e.body > s.size-s.at {
		return e, false, io.ErrUnexpectedEOF
	}
	s.at += e.body
	return e, true, nil
}

// fits reports whether the first column of a batch, if there is one, has one value per
// row.
func (s *scanner) fits(columns []byte, rows int64) bool {
	schema, _ := rootOf(s.schema).table(s.slot)
	if len(schema.tables(1)) == 0 {
		return len(columns) == 0
	}
	return len(columns) > 0 && int64(binary.LittleEndian.Uint64(columns)) == rows
}
