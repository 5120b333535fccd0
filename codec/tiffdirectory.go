package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The supported tags of TIFF 6.0 and its supplements.
const (
	tagSubfile      = 254
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagPhotometric  = 262
	tagFillOrder    = 266
	tagDescription  = 270
	tagStripOffsets = 273
	tagSamples      = 277
	tagRowsPerStrip = 278
	tagStripBytes   = 279
	tagPlanar       = 284
	tagT4Options    = 292
	tagPredictor    = 317
	tagColorMap     = 320
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTileOffsets  = 324
	tagTileBytes    = 325
	tagExtra        = 338
	tagSampleFormat = 339
	tagImageDepth   = 32997
	tagTileDepth    = 32998
)

// A tiffFile holds the bytes and the header of a TIFF file. Numbers of BigTIFF (big) take 8
// bytes where those of TIFF take 4.
type tiffFile struct {
	b     []byte
	order binary.ByteOrder
	big   bool
}

// A tiffDirectory describes one image of a file: values by tag.
type tiffDirectory struct {
	file   *tiffFile
	fields map[uint16]tiffField
}

type tiffField struct {
	kind  uint16
	count uint64
	data  []byte
}

// tiffSizes are the sizes of values by type.
var tiffSizes = [...]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

// parseTIFF returns the directories of a file in their order.
func parseTIFF(b []byte) ([]tiffDirectory, error) {
	if len(b) < 8 {
		return nil, errors.New("not a TIFF file")
	}
	f := &tiffFile{b: b}
	switch string(b[:2]) {
	case "II":
		f.order = binary.LittleEndian
	case "MM":
		f.order = binary.BigEndian
	default:
		return nil, errors.New("not a TIFF file; the first bytes are neither II nor MM")
	}
	at := uint64(4)
	switch version := f.order.Uint16(b[2:]); {
	case version == 43 && len(b) >= 16:
		f.big, at = true, 8
	case version != 42:
		return nil, fmt.Errorf("not a TIFF file: version %d", version)
	}
	next, err := f.word(at)
	if err != nil {
		return nil, err
	}
	var all []tiffDirectory
	for seen := map[uint64]bool{}; next != 0; {
		if seen[next] {
			return nil, errors.New("the directories form a cycle")
		}
		seen[next] = true
		var d tiffDirectory
		if d, next, err = f.directory(next); err != nil {
			return nil, fmt.Errorf("directory %d: %w", len(all), err)
		}
		all = append(all, d)
	}
	return all, nil
}

var errTIFFEnd = errors.New("an offset exceeds the end of the file")

// part returns n bytes at an offset.
func (f *tiffFile) part(at, n uint64) ([]byte, error) {
	if at > uint64(len(f.b)) || n > uint64(len(f.b))-at {
		return nil, errTIFFEnd
	}
	return f.b[at : at+n], nil
}

// word reads a number of 4 bytes, or 8 in BigTIFF.
func (f *tiffFile) word(at uint64) (uint64, error) {
	n := uint64(4)
	if f.big {
		n = 8
	}
	b, err := f.part(at, n)
	if err != nil {
		return 0, err
	}
	if f.big {
		return f.order.Uint64(b), nil
	}
	return uint64(f.order.Uint32(b)), nil
}

// directory reads a directory, and the offset of the next one.
func (f *tiffFile) directory(at uint64) (d tiffDirectory, next uint64, err error) {
	head, size, inline := uint64(2), uint64(12), uint64(4)
	if f.big {
		head, size, inline = 8, 20, 8
	}
	b, err := f.part(at, head)
	if err != nil {
		return d, 0, err
	}
	n := uint64(f.order.Uint16(b))
	if f.big {
		n = f.order.Uint64(b)
	}
	if n > uint64(len(f.b))/size {
		return d, 0, errTIFFEnd
	}
	entries, err := f.part(at+head, n*size)
	if err != nil {
		return d, 0, err
	}
	d = tiffDirectory{f, make(map[uint16]tiffField, n)}
	for ; len(entries) > 0; entries = entries[size:] {
		if err := d.add(entries[:size], inline); err != nil {
			return d, 0, err
		}
	}
	next, err = f.word(at + head + n*size)
	return d, next, err
}

// add reads an entry. It ignores unknown types.
func (d tiffDirectory) add(entry []byte, inline uint64) error {
	order := d.file.order
	field := tiffField{kind: order.Uint16(entry[2:]), count: uint64(order.Uint32(entry[4:]))}
	value := entry[8:]
	if d.file.big {
		field.count, value = order.Uint64(entry[4:]), entry[12:]
	}
	if int(field.kind) >= len(tiffSizes) || tiffSizes[field.kind] == 0 {
		return nil
	}
	size := tiffSizes[field.kind]
	if field.count > uint64(len(d.file.b))/size {
		return errTIFFEnd
	}
	if size *= field.count; size <= inline {
		field.data = value[:size]
	} else {
		at := uint64(order.Uint32(value))
		if d.file.big {
			at = order.Uint64(value)
		}
		var err error
		if field.data, err = d.file.part(at, size); err != nil {
			return err
		}
	}
	d.fields[order.Uint16(entry)] = field
	return nil
}

// numbers returns the integers of a tag, none if it is missing.
func (d tiffDirectory) numbers(tag uint16) []uint64 {
	f := d.fields[tag]
	all := make([]uint64, 0, f.count)
	for i := range f.count {
		switch order := d.file.order; f.kind {
		case 1, 7:
			all = append(all, uint64(f.data[i]))
		case 3:
			all = append(all, uint64(order.Uint16(f.data[2*i:])))
		case 4, 13:
			all = append(all, uint64(order.Uint32(f.data[4*i:])))
		case 16, 18:
			all = append(all, order.Uint64(f.data[8*i:]))
		}
	}
	return all
}

// number returns the first number of a tag.
func (d tiffDirectory) number(tag uint16, missing uint64) uint64 {
	if all := d.numbers(tag); len(all) > 0 {
		return all[0]
	}
	return missing
}

// same returns the number of a tag with one number per sample, if all are equal.
func (d tiffDirectory) same(tag uint16, missing uint64) (uint64, error) {
	all := d.numbers(tag)
	if len(all) == 0 {
		return missing, nil
	}
	for _, n := range all {
		if n != all[0] {
			return 0, fmt.Errorf("the channels differ: tag %d is %v", tag, all)
		}
	}
	return all[0], nil
}

// text returns the text of a tag.
func (d tiffDirectory) text(tag uint16) string {
	f := d.fields[tag]
	if f.kind != 2 {
		return ""
	}
	for n := len(f.data); n > 0; n-- {
		if f.data[n-1] != 0 {
			return string(f.data[:n])
		}
	}
	return ""
}
