package compression

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// xzOf compresses strings into streams, with blocks of 4 KiB and the given checksum.
func xzOf(t testing.TB, check byte, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts {
		w, err := xz.WriterConfig{DictCap: 1 << 16, BlockSize: 1 << 12, CheckSum: check, NoCheckSum: check == 0}.NewWriter(&b)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// readPacked returns the uncompressed content of a file of that name and content.
func readPacked(name string, packed []byte) ([]byte, error) {
	r, err := Reader(name, bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// ofOthers has files of xz and bzip2. Those of xz have two blocks, or two streams with
// padding between them and other checksums.
var ofOthers = map[string]string{
	"blocks.xz":   "/Td6WFoAAATm1rRGA8AmiCchAQgAAAAALCh5U+AThwAeXQAw7/u//qOxXuX4P7KqJlX4aHBBcBUPjf0eNcnB1gAAAABEw9TqkKx+LAPAJognIQEIAAAAACwoeVPgE4cAHl0AMW/7v/6jsV7l+D+yqiZV+GhwQXAVD439HjXJwdYAAAAABI0n76LsjXIAAj6IJz6IJ/urGwixxGf7AgAAAAAEWVo=",
	"streams.xz":  "/Td6WFoAAArh+wyhAgAhAQgAAADYDyMT4BOHAB5dADDv+7/+o7Fe5fg/sqomVfhocEFwFQ+N/R41ycHWAAAAAMUmxiIgRNq1Z03pxKx/RWbrteTYv52Oo0ycyKfMPIacAAFSiCcAAAD1EWA+tunfHAIAAAAACllaAAAAAAAAAAD9N3pYWgAAAP8S2UECACEBCAAAANgPIxPgE4cAHl0AMW/7v/6jsV7l+D+yqiZV+GhwQXAVD439HjXJwdYAAAAAAAEyiCcAAACvHpQ2qAAK/AIAAAAAAFla",
	"streams.bz2": "QlpoOTFBWSZTWTlk6fkAAAmBIKAAAIAACCAAIKU0GY1GwTxdyRThQkDlk6fkQlpoMTFBWSZTWbZ3QSEAAAmBIJAAAIAACCAAIKU0GY1GwTxdyRThQkLZ3QSE",
}

// TestFilesOfOthers checks that files of other programs are read with all blocks and
// streams. Cut anywhere, except between two streams, they are an error and never give less.
func TestFilesOfOthers(t *testing.T) {
	for name, text := range ofOthers {
		whole, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("a", 5000) + strings.Repeat("b", 5000)
		if got, err := readPacked(name, whole); string(got) != want || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		for n := range whole {
			got, err := readPacked(name, whole[:n])
			between := err == nil && name != "blocks.xz" && string(got) == want[:5000] // the start of the second stream
			if !between && (err == nil || !strings.Contains(err.Error(), name+" cannot be unpacked")) {
				t.Errorf("%s, %d of %d bytes: %d bytes, %v", name, n, len(whole), len(got), err)
			}
		}
	}
}

// TestCutOffXZ checks that a file cut anywhere is an error, and so is one with an
// additional byte.
func TestCutOffXZ(t *testing.T) {
	text := strings.Repeat("a row\n", 1_000)
	for _, check := range []byte{0, xz.CRC32, xz.CRC64, xz.SHA256} {
		whole := xzOf(t, check, text)
		if got, err := readPacked("x.xz", whole); string(got) != text || err != nil {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		for n := range whole {
			if got, err := readPacked("x.xz", whole[:n]); err == nil {
				t.Errorf("%d of %d bytes are read as %d", n, len(whole), len(got))
			}
		}
		if _, err := readPacked("x.xz", append(slices.Clone(whole), 'x')); err == nil {
			t.Error("a byte behind the end is passed over")
		}
	}
}

// asking returns an xz file whose first block requests a dictionary, or has other flags.
func asking(t *testing.T, change func(header []byte)) []byte {
	b := xzOf(t, xz.CRC32, "text")
	header := b[xzHeader : xzHeader+(int(b[xzHeader])+1)*4]
	change(header)
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	return b
}

// TestLargeDictionaries checks that a request for too much memory is refused before the
// allocation, in any block.
func TestLargeDictionaries(t *testing.T) {
	large := asking(t, func(h []byte) { h[4] = 30 }) // 128 MiB
	if got, err := readPacked("x.xz", large); string(got) != "text" || err != nil {
		t.Errorf("a dictionary of 128 MiB: %q, %v", got, err)
	}
	larger := asking(t, func(h []byte) { h[4] = 31 })
	for _, b := range [][]byte{larger, asking(t, func(h []byte) { h[4] = 40 }), slices.Concat(xzOf(t, xz.CRC64, "one"), larger)} {
		if _, err := readPacked("x.xz", b); !errors.Is(err, errWindow) || !strings.HasPrefix(err.Error(), "x.xz: ") {
			t.Errorf("%v", err)
		}
	}
	if _, err := readPacked("x.xz", asking(t, func(h []byte) { h[2] = 4 })); !errors.Is(err, errFilter) { // x86
		t.Errorf("a filter: %v", err)
	}
}

// FuzzXZ checks that the guard passes on all bytes or an error, and never fewer than a
// decoder without it reads. Written data is read back.
func FuzzXZ(f *testing.F) {
	f.Add(xzOf(f, xz.CRC32, "one", "two"))
	f.Add(xzOf(f, xz.SHA256, strings.Repeat("one", 1<<12)))
	for _, text := range ofOthers {
		b, _ := base64.StdEncoding.DecodeString(text)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		passed, err := io.ReadAll(newXZGuard(bytes.NewReader(b)))
		if !bytes.HasPrefix(b, passed) || err == nil && len(passed) != len(b) {
			t.Fatalf("%d of %d bytes are handed on, %v", len(passed), len(b), err)
		}
		r, err := Reader("x.xz", bytes.NewReader(b))
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
	})
}
