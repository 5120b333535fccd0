package zip

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// A directory is the position of an archive's list of members. Numbers of sections of
// the format refer to APPNOTE.TXT 6.3.10
// (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), 4.3.
type directory struct {
	at, size int64
	entries  uint64
	counted  uint64 // entries are counted modulo that; 0 means exactly
}

// maxDirectory bounds a directory: ten million members with names of usual length.
const maxDirectory = 1 << 30

const (
	endBytes     = 22
	locatorBytes = 20
	end64Bytes   = 56
)

var (
	le = binary.LittleEndian

	errNoZip  = errors.New("the central directory is missing: truncated, or not a zip archive (zip -FF repairs it)")
	errNotOne = errors.New("the archive is one part of several; join them (zip -s 0 first.zip --out whole.zip)")
	errPlace  = errors.New("the central directory is not at its declared offset: damaged, or with extra data around it (zip -F repairs it)")
)

// findDirectory reads the end of an archive. It must be at the end of the file, directly
// after the directory, so that another end is not used, for instance that of a member of
// a truncated archive.
func findDirectory(from io.ReaderAt, size int64) (d directory, err error) {
	tail := make([]byte, min(size, locatorBytes+endBytes+math.MaxUint16))
	if _, err := from.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return d, err
	}
	at := endIn(tail)
	if at < 0 {
		return d, errNoZip
	}
	end := tail[at:]
	where := size - int64(len(end))
	if le.Uint16(end[4:]) != 0 && le.Uint16(end[4:]) != math.MaxUint16 {
		return d, errNotOne
	}
	d = directory{at: int64(le.Uint32(end[16:])), size: int64(le.Uint32(end[12:])), entries: uint64(le.Uint16(end[10:])), counted: 1 << 16}
	if at >= locatorBytes && bytes.HasPrefix(tail[at-locatorBytes:], []byte("PK\x06\x07")) {
		if d, where, err = findDirectory64(from, where-locatorBytes, tail[at-locatorBytes:]); err != nil {
			return d, err
		}
	}
	switch {
	case d.at < 0 || d.size < 0 || d.at > where || d.size != where-d.at:
		return d, errPlace
	case d.size > maxDirectory:
		return d, fmt.Errorf("the central directory of %d bytes exceeds %d; split the archive", d.size, maxDirectory)
	}
	return d, nil
}

// endIn returns the position of the end record in the tail of an archive, or -1. Zeros
// may follow it, because bsdtar pads its last block.
func endIn(tail []byte) int {
	for at := len(tail) - endBytes; at >= 0; at-- {
		if !bytes.HasPrefix(tail[at:], []byte("PK\x05\x06")) {
			continue
		}
		if end := at + endBytes + int(le.Uint16(tail[at+20:])); end <= len(tail) && len(bytes.TrimLeft(tail[end:], "\x00")) == 0 {
			return at
		}
	}
	return -1
}

// findDirectory64 reads the end record of a large archive, which begins where its
// locator says and ends at the locator.
func findDirectory64(from io.ReaderAt, before int64, locator []byte) (d directory, where int64, err error) {
	where = int64(le.Uint64(locator[8:]))
	if le.Uint32(locator[4:]) != 0 {
		return d, 0, errNotOne
	}
	if where < 0 || where > before-end64Bytes {
		return d, 0, errPlace
	}
	end := make([]byte, end64Bytes)
	if _, err := from.ReadAt(end, where); err != nil {
		return d, 0, err
	}
	if !bytes.HasPrefix(end, []byte("PK\x06\x06")) || le.Uint64(end[4:]) != uint64(before-where-12) {
		return d, 0, errPlace
	}
	if le.Uint32(end[16:]) != 0 || le.Uint64(end[24:]) != le.Uint64(end[32:]) {
		return d, 0, errNotOne
	}
	return directory{at: int64(le.Uint64(end[48:])), size: int64(le.Uint64(end[40:])), entries: le.Uint64(end[32:])}, where, nil
}

// An entry describes a member in the directory.
type entry struct {
	name                 string
	flags, method        uint16
	sum                  uint32
	at, packed, unpacked int64 // at: offset of its local header
	file                 bool  // not a directory, link or device
	link                 bool  // a symbolic link
}

const (
	entryBytes = 46
	wide       = math.MaxUint32 // represents a number of 64 bits
)

// each calls do for each entry of a directory.
func (d directory) each(ctx context.Context, from io.ReaderAt, do func(entry) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(from, d.at, d.size), 256<<10)
	n, left := uint64(0), d.size
	for left > 0 {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, length, err := readEntry(r)
		if err == nil {
			err = do(e)
		}
		if err != nil {
			return err
		}
		n++
		left -= int64(length)
	}
	if n != d.entries && (d.counted == 0 || n%d.counted != d.entries) {
		return fmt.Errorf("the central directory has %d members but declares %d: the archive is damaged", n, d.entries)
	}
	return nil
}

// readEntry reads the next entry, and returns its length.
func readEntry(r *bufio.Reader) (e entry, length int, err error) {
	head, err := r.Peek(entryBytes)
	if err != nil || !bytes.HasPrefix(head, []byte("PK\x01\x02")) {
		return e, 0, damagedEntry(err)
	}
	name, extra := int(le.Uint16(head[28:])), int(le.Uint16(head[30:]))
	length = entryBytes + name + extra + int(le.Uint16(head[32:]))
	b, err := r.Peek(length) // fits the reader's buffer
	if err != nil {
		return e, 0, damagedEntry(err)
	}
	e = entry{
		name:  string(b[entryBytes:][:name]),
		flags: le.Uint16(b[8:]), method: le.Uint16(b[10:]), sum: le.Uint32(b[16:]),
		packed: int64(le.Uint32(b[20:])), unpacked: int64(le.Uint32(b[24:])), at: int64(le.Uint32(b[42:])),
	}
	kind := b[41] >> 4 // Unix file type
	e.link = isUnix(b[5]) && kind == 0o12
	if part := le.Uint16(b[34:]); part != 0 && part != math.MaxUint16 {
		return e, 0, errNotOne
	}
	if err := e.widen(b[entryBytes+name:][:extra]); err != nil {
		return e, 0, err
	}
	e.file = !e.link && !e.isDirectory() && (e.unpacked > 0 || !isUnix(b[5]) || !isDevice(kind))
	_, err = r.Discard(length)
	return e, length, err
}

func damagedEntry(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the central directory is damaged")
	}
	return err
}

func isUnix(system byte) bool { return system == 3 || system == 19 } // or macOS

// isDevice reports whether a Unix file type is a pipe, a device or a socket, which have
// no content in an archive.
func isDevice(kind byte) bool { return kind == 0o1 || kind == 0o2 || kind == 0o6 || kind == 0o14 }

// isDirectory checks only the name, as other software does, because attributes are
// unreliable.
func (e *entry) isDirectory() bool { return strings.HasSuffix(e.name, "/") }

// widen reads the numbers of 64 bits in the extra fields of a member.
func (e *entry) widen(extra []byte) error {
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if n > len(extra)-4 {
			break
		}
		if id == 1 {
			numbers := extra[4:][:n]
			for _, v := range []*int64{&e.unpacked, &e.packed, &e.at} {
				if *v == wide && len(numbers) >= 8 {
					*v, numbers = int64(le.Uint64(numbers)), numbers[8:]
				}
			}
			break
		}
		extra = extra[4+n:]
	}
	if e.packed < 0 || e.unpacked < 0 || e.at < 0 {
		return e.fail(errors.New("size or offset is damaged"))
	}
	return nil
}

// fail adds the name of the member to an error.
func (e *entry) fail(err error) error { return fmt.Errorf("%s: %w", shown(e.name), err) }
