package codec

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/larder-data/larder/array"
)

// MaxUnpacked bounds the bytes of the arrays of one compressed file, so that a small file
// cannot claim all memory; 0, the default, means 4 GiB. More is an error.
var MaxUnpacked atomic.Int64

const defaultMaxUnpacked = 4 << 30

// moreUnpacked tells how to allow more bytes.
const moreUnpacked settingError = "raise --max-unpacked, limits: {unpacked: BYTES} in the flow file, or codec.MaxUnpacked in Go"

// npzCodec reads a zip file of NumPy files as a map[string]*array.Array, by the names
// passed to numpy.savez. Uncompressed arrays share the bytes of the file. It writes without
// compression.
var npzCodec = Codec{
	Name:       "npz",
	Extensions: []string{"npz"},
	Lossless:   true,
	Check: checkStart("npz", func(b []byte) error {
		_, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		return err
	}),
	Decode: func(b []byte) (any, error) {
		arrays, err := decodeNPZ(b)
		if err != nil {
			return nil, fmt.Errorf("npz: %w", inPlain("npz", err))
		}
		return arrays, nil
	},
	Encode: func(v any) ([]byte, error) {
		arrays, ok := v.(map[string]*array.Array)
		if !ok {
			return nil, unsupported("npz", v, "arrays by their names")
		}
		return encodeNPZ(arrays)
	},
}

func decodeNPZ(b []byte) (map[string]*array.Array, error) {
	from := &followed{b: bytes.NewReader(b)}
	z, err := zip.NewReader(from, int64(len(b)))
	if err != nil {
		return nil, err
	}
	left := uint64(MaxUnpacked.Load())
	if int64(left) <= 0 {
		left = defaultMaxUnpacked
	}
	arrays := make(map[string]*array.Array, len(z.File))
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if _, again := arrays[name]; !ok || again {
			return nil, fmt.Errorf("%q is not an array name, or occurs twice", f.Name)
		}
		if f.UncompressedSize64 > left {
			return nil, fmt.Errorf("%q: the arrays are too large; %w", f.Name, moreUnpacked)
		}
		left -= f.UncompressedSize64
		err := from.checkName(f)
		var data []byte
		if err == nil {
			data, err = unpack(f, b)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		if arrays[name], err = decodeNPY(data); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	return arrays, nil
}

// followed records the offset of the last read, because package zip does not report where
// the header of a file is.
type followed struct {
	b  *bytes.Reader
	at int64
}

func (f *followed) ReadAt(b []byte, at int64) (int, error) {
	f.at = at
	return f.b.ReadAt(b, at)
}

// checkName refuses a file whose header and directory entry differ in name: one of them is
// damaged, and no checksum covers them.
func (f *followed) checkName(file *zip.File) error {
	if _, err := file.DataOffset(); err != nil { // reads the header
		return err
	}
	head := make([]byte, 30+len(file.Name))
	if _, err := f.b.ReadAt(head, f.at); err != nil || int(head[26])|int(head[27])<<8 != len(file.Name) || string(head[30:]) != file.Name {
		return errors.New("the archive is damaged: the file header has another name")
	}
	return nil
}

// unpack returns the verified bytes of a file in the zip file b.
func unpack(f *zip.File, b []byte) ([]byte, error) {
	if f.Method == zip.Store && f.CompressedSize64 == f.UncompressedSize64 {
		offset, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		if offset < 0 || offset > int64(len(b)) || f.UncompressedSize64 > uint64(int64(len(b))-offset) {
			return nil, io.ErrUnexpectedEOF
		}
		data := b[offset:][:f.UncompressedSize64]
		if crc32.ChecksumIEEE(data) != f.CRC32 {
			return nil, zip.ErrChecksum
		}
		return data, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
	return data, errors.Join(err, r.Close())
}

func encodeNPZ(arrays map[string]*array.Array) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		data, err := encodeAnyNPY(arrays[name])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, fmt.Errorf("npz: %q: %w", name, err)
		}
		if _, err := w.Write(data); err != nil {
			return nil, fmt.Errorf("npz: %q: %w", name, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	return buf.Bytes(), nil
}
