package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// An index says where the messages of a file lie: five numbers of 8 bytes each, little-endian:
// what it is, where its metadata begins and how long it is, how long the body behind it, and how
// many rows it has or which dictionary it is of.
type index []byte

const (
	entryBytes = 40
	mostMeta   = 16 << 20 // of a message
)

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	rowsMessage       = 3
	moreMessage       = 4 // of what adds to a dictionary; in a file it is a dictionaryMessage
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

// check holds bytes to what an index has.
func (x index) check() error {
	if len(x)%entryBytes != 0 || len(x) == 0 || x.entry(0).kind != schemaMessage {
		return errIndex
	}
	last := int64(0)
	for i := range x.len() {
		e := x.entry(i)
		if e.at < last || e.meta < 0 || e.meta > mostMeta || e.body < 0 || e.at > 1<<60 || e.body > 1<<60 || e.number < 0 || e.number > mostRows {
			return errIndex
		}
		last = e.at + e.meta + e.body
	}
	return nil
}

// withSchema is an index with the metadata of the schema behind it, and how long it is itself:
// what must be known of a file before anything of it is read.
func withSchema(x index, schema []byte) []byte {
	return binary.LittleEndian.AppendUint64(slices.Concat(x, schema), uint64(len(x)))
}

// parted parts what withSchema put together.
func parted(kept []byte) (x index, schema []byte, err error) {
	end := len(kept) - 8
	if end < 0 {
		return nil, nil, errIndex
	}
	n := binary.LittleEndian.Uint64(kept[end:])
	if n > uint64(end) {
		return nil, nil, errIndex
	}
	x, schema = kept[:n], kept[n:end]
	if err := x.check(); err != nil {
		return nil, nil, err
	}
	if x.entry(0).meta != int64(len(schema)) {
		return nil, nil, errIndex
	}
	return x, schema, nil
}

var errIndex = errors.New("arrow: an index that is not understood")

// mostRows bounds the rows of a batch.
const mostRows = 1 << 40

const magic = "ARROW1"

// scan goes through a file from message to message, and returns the index with the schema.
func scan(ctx context.Context, path string, from io.ReaderAt, size int64, incomplete bool) ([]byte, error) {
	s := &scanner{from: from, size: size}
	x, err := s.scan(ctx)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if incomplete && x.len() > 0 {
			return withSchema(x, s.schema), nil
		}
		err = errors.New("it breaks off; say incomplete: true to read what is there")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", path, s.at, err)
	}
	return withSchema(x, s.schema), nil
}

type scanner struct {
	from     io.ReaderAt
	size, at int64
	schema   []byte // the metadata of the first message
}

func (s *scanner) read(n int64) ([]byte, error) {
	if n > s.size-s.at {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	_, err := s.from.ReadAt(b, s.at)
	s.at += n
	return b, err
}

func (s *scanner) scan(ctx context.Context) (x index, err error) {
	isFile := false
	head, err := s.read(8)
	if err != nil {
		return nil, err
	}
	if string(head) == magic+"\x00\x00" {
		isFile = true
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
			return nil, errors.New("this is no Arrow file, or it is damaged here")
		}
		x = x.add(e)
	}
	if isFile {
		if err := s.footer(x); err != nil {
			return x, err
		}
	} else if s.at < s.size {
		return x, errors.New("it goes on behind its end: it is damaged here, or of several streams, which are to be files of their own")
	}
	if x.len() == 0 {
		return nil, errors.New("it has no schema")
	}
	return x, nil
}

// footer holds what was found to what a file says of itself at its end.
func (s *scanner) footer(x index) error {
	end := make([]byte, 4+len(magic))
	if s.size-s.at < int64(len(end)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := s.from.ReadAt(end, s.size-int64(len(end))); err != nil {
		return err
	}
	if !bytes.Equal(end[4:], []byte(magic)) {
		return io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > s.size-s.at-int64(len(end)) || n > mostMeta {
		return errors.New("its end is damaged")
	}
	meta := make([]byte, n)
	if _, err := s.from.ReadAt(meta, s.size-int64(len(end))-n); err != nil {
		return err
	}
	t := rootOf(meta)
	said := t.structs(3, blockBytes)
	var found []entry
	for i := range x.len() {
		if e := x.entry(i); e.kind == rowsMessage {
			found = append(found, e)
		}
	}
	if n := len(said) / blockBytes; *t.fail != nil || n != len(found) {
		return fmt.Errorf("its end says that there are %d batches of rows, and %d were found: it is damaged", n, len(found))
	}
	for i, e := range found {
		if at := int64(binary.LittleEndian.Uint64(said[blockBytes*i:])); at != e.at-8 && at != e.at-4 { // behind its length
			return fmt.Errorf("its end says that batch %d of rows is at byte %d, and it is at %d: it is damaged", i, at, e.at-8)
		}
	}
	return s.sameSchema(t)
}

// blockBytes is what the end of a file says of a batch: where it is, and two lengths.
const blockBytes = 24

// sameSchema holds the schema that a file begins with to the one at its end.
func (s *scanner) sameSchema(footer table) error {
	last, ok := footer.table(1)
	first, there := rootOf(s.schema).table(2)
	if !ok || !there {
		return errors.New("it has no schema at its beginning, or at its end: it is damaged")
	}
	want, err := fieldsOf(last)
	if err != nil {
		return nil //nolint:nilerr // types that are not read are refused where the schema is, and name the column
	}
	if got, err := fieldsOf(first); err != nil || !reflect.DeepEqual(got, want) {
		return errors.New("its beginning and its end say that it has other columns: it is damaged")
	}
	return nil
}

// message reads the metadata of the next message, and passes over its body. ok is false at the
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
	if n > mostMeta {
		return e, false, errors.New("this is no Arrow file, or it is damaged here")
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
		return e, false, errors.New("a message says nothing: this is no Arrow file, or it is damaged here")
	}
	if e.kind != schemaMessage {
		if e.number = header.int(0, 8, 0); e.kind == dictionaryMessage && header.bool(2) {
			e.kind = moreMessage
		}
		if e.kind == rowsMessage && !s.fits(header.structs(1, 16), e.number) {
			return e, false, errors.New("a batch has columns that are longer or shorter than it is: it is damaged here")
		}
	}
	if *t.fail != nil || t.int(1, 1, 0) < schemaMessage || t.int(1, 1, 0) > rowsMessage || e.body < 0 || e.number < 0 || e.number > mostRows {
		return e, false, errors.New("this is no Arrow file, or it is damaged here")
	}
	if e.body > s.size-s.at {
		return e, false, io.ErrUnexpectedEOF
	}
	s.at += e.body
	return e, true, nil
}

// fits reports whether the first column of a batch, if the schema has one, has as many values as
// there are rows.
func (s *scanner) fits(columns []byte, rows int64) bool {
	schema, _ := rootOf(s.schema).table(2)
	if len(schema.tables(1)) == 0 {
		return len(columns) == 0
	}
	return len(columns) > 0 && int64(binary.LittleEndian.Uint64(columns)) == rows
}
