package codec_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// npy returns a file of the given format version.
func npy(version byte, header string, data ...byte) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

func TestDecodeNPY(t *testing.T) {
	twoByThree := []byte{1, 2, 3, 4, 5, 6}
	tests := []struct {
		name  string
		file  []byte
		dtype array.DType
		shape []int
		data  []byte
	}{
		{"as numpy.save writes it", npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }                \n", twoByThree...), array.Uint8, []int{2, 3}, twoByThree},
		{"version 2", npy(2, "{'descr': '|i1', 'fortran_order': False, 'shape': (6,), }\n", twoByThree...), array.Int8, []int{6}, twoByThree},
		{"version 3", npy(3, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n", twoByThree...), array.Uint16, []int{3}, twoByThree},
		{"of Python 2, in another order", npy(1, `{"shape": (2L, 3L), "fortran_order":False,"descr":"u1"}`, twoByThree...), array.Uint8, []int{2, 3}, twoByThree},
		{"scalar", npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", make([]byte, 8)...), array.Float64, []int{}, make([]byte, 8)},
		{"empty", npy(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }\n"), array.Float64, []int{0, 5}, nil},
		{"Fortran order", npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 1, 4, 2, 5, 3, 6), array.Uint8, []int{2, 3}, twoByThree},
		{"Fortran order, big-endian, rank 3", npy(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 1, 2), }\n", 0, 1, 0, 3, 0, 2, 0, 4), array.Uint16, []int{2, 1, 2}, []byte{1, 0, 2, 0, 3, 0, 4, 0}},
		{"big-endian", npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n", 1, 2, 3, 4), array.Int32, []int{1}, []byte{4, 3, 2, 1}},
		{"big-endian complex", npy(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n", 1, 2, 3, 4, 5, 6, 7, 8), array.Complex64, []int{1}, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{"half", npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }\n", 0, 0x3c), array.Float16, []int{1}, []byte{0, 0x3c}},
		{"bool", npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", 1, 0), array.Bool, []int{2}, []byte{1, 0}},
	}
	for _, test := range tests {
		was := bytes.Clone(test.file)
		v, err := by(t, "npy").Decode(test.file)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := v.(*array.Array); !got.Equal(array.Array{DType: test.dtype, Shape: test.shape, Data: test.data}) {
			t.Errorf("%s: %v % x, want %v %v % x", test.name, got, got.Data, test.dtype, test.shape, test.data)
		}
		if !bytes.Equal(was, test.file) {
			t.Errorf("%s: decoding changed the file", test.name)
		}
	}
}

func TestDecodeNPYErrors(t *testing.T) {
	tests := []struct {
		file []byte
		want string
	}{
		{nil, "not a NumPy file"},
		{[]byte("\x93NUMPY\x01\x00\xff\xff"), "truncated"},
		{[]byte("\x93NUMPY\x02\x00\xff\xff"), "truncated"},
		{append([]byte("\x93NUMPY\x03\x00"), 0xff, 0xff, 0xff, 0xff), "truncated"},
		{npy(4, "{}"), "version 4"},
		{npy(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 1), "Python objects"},
		{npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 1), "records"},
		{npy(1, "{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", 1), "strings (<U5)"},
		{npy(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (1,), }", 1, 2, 3), "strings (|S3)"},
		{npy(1, "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", make([]byte, 8)...), "dates (<M8[ns])"},
		{npy(1, "{'descr': '<m8[s]', 'fortran_order': False, 'shape': (1,), }", make([]byte, 8)...), "durations"},
		{npy(1, "{'descr': '|V4', 'fortran_order': False, 'shape': (1,), }", 1, 2, 3, 4), "raw bytes"},
		{npy(1, "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", make([]byte, 16)...), "astype('float64')"},
		{npy(1, "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 1), "unknown element type"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", 1), "needs 2 bytes, but there are 1"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 1, 2), "needs 1 bytes, but there are 2"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), "more bytes than memory"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }"), "shape"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }"), "shape"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': ("+strings.Repeat("1,", 65)+"), }"), "shape"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1), }", 1), "shape"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (,), }", 1), "shape"},
		{npy(1, "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,), }", 1), "fortran_order"},
		{npy(1, "{'descr': '|u1', 'shape': (1,), }", 1), "dictionary"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}", 1), `"x"`},
		{npy(1, "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", 1), "dictionary"},
		{npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", 1), "dictionary"},
		{npy(1, "{'descr", 1), "dictionary"},
		{npy(1, "", 1), "dictionary"},
	}
	for _, test := range tests {
		if v, err := by(t, "npy").Decode(test.file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, %v; want %q", test.file, v, err, test.want)
		}
	}
}

// drawArray draws any array that NumPy supports.
func drawArray(t *rapid.T) *array.Array {
	dtype := array.DType(rapid.IntRange(int(array.Bool), int(array.Complex128)).Filter(func(d int) bool {
		return array.DType(d) != array.BFloat16
	}).Draw(t, "dtype"))
	shape := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 4).Draw(t, "shape")
	size, err := array.Bytes(dtype, shape)
	if err != nil {
		t.Fatal(err)
	}
	a, err := array.New(dtype, shape, append([]byte{}, rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNPYComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, c := drawArray(t), mustBy(t, "npy")
		b, err := c.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Decode(b)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		got := v.(*array.Array)
		if !got.Equal(*a) {
			t.Fatalf("%v came back as %v", a, got)
		}
		if at := len(b) - len(a.Data); at%64 != 0 {
			t.Fatalf("the data starts at byte %d", at)
		}
		if len(got.Data) > 0 && &got.Data[0] != &b[len(b)-len(a.Data)] {
			t.Fatal("the data was copied")
		}
	})
}

func mustBy(t *rapid.T, ext string) codec.Codec {
	c, ok := codec.ByExtension(ext)
	if !ok {
		t.Fatalf("no codec for %s", ext)
	}
	return c
}

func TestNPYHasNoBFloat16(t *testing.T) {
	a, err := array.From([]array.Brain{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := by(t, "npy").Encode(a); err == nil || !strings.Contains(err.Error(), "bfloat16") {
		t.Errorf("%v", err)
	}
}

func TestNPZComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]*array.Array{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z/]{1,5}`), 0, 3, rapid.ID[string]).Draw(t, "names") {
			want[name] = drawArray(t)
		}
		c := mustBy(t, "npz")
		b, err := c.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Encode(maps.Clone(want)); err != nil || !bytes.Equal(b, again) {
			t.Fatalf("one value has two encodings, %v", err)
		}
		v, err := c.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(v.(map[string]*array.Array), want, func(a, b *array.Array) bool { return a.Equal(*b) }) {
			t.Fatalf("%v came back as %v", want, v)
		}
	})
}

// zipped returns a compressed zip file.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for pair := range slices.Chunk(files, 2) {
		w, err := z.Create(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pair[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestDecodeNPZ(t *testing.T) {
	one := string(npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 7))
	c := by(t, "npz")
	v, err := c.Decode(zipped(t, "a.npy", one))
	if err != nil || v.(map[string]*array.Array)["a"].Data[0] != 7 {
		t.Fatalf("compressed: %v, %v", v, err)
	}
	for want, file := range map[string][]byte{
		"occurs twice": zipped(t, "a.npy", one, "a.npy", one),
		`"readme.txt"`: zipped(t, "readme.txt", "x"),
		"not a NumPy":  zipped(t, "a.npy", "x"),
		"not a npz":    []byte("x"),
	} {
		if v, err := c.Decode(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %s", v, err, want)
		}
	}
	codec.MaxUnpacked.Store(1 << 20)
	defer codec.MaxUnpacked.Store(0)
	half := string(npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (700000,), }", make([]byte, 700000)...))
	if _, err := c.Decode(zipped(t, "a.npy", half)); err != nil {
		t.Error(err)
	}
	if _, err := c.Decode(zipped(t, "a.npy", half, "b.npy", half)); err == nil || !strings.Contains(err.Error(), "MaxUnpacked") {
		t.Errorf("two files that are too large together: %v", err)
	}
}

func TestDamagedNPZIsAnError(t *testing.T) {
	a, err := array.From([]uint8{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	c := by(t, "npz")
	b, err := c.Encode(map[string]*array.Array{"a": a})
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte{1, 2, 3})
	b[at] = 9
	if v, err := c.Decode(b); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("%v, %v", v, err)
	}
}

// TestNamesOfNPZAreCompared checks that the two copies of an array's name are compared, as no checksum covers them.
func TestNamesOfNPZAreCompared(t *testing.T) {
	one := npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 7)
	for what, file := range map[string][]byte{"compressed": zipped(t, "x.npy", string(one)), "stored": nil} {
		if file == nil {
			a, err := array.From([]uint8{1})
			if err != nil {
				t.Fatal(err)
			}
			if file, err = by(t, "npz").Encode(map[string]*array.Array{"x": a}); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []int{bytes.Index(file, []byte("x.npy")), bytes.LastIndex(file, []byte("x.npy"))} {
			b := bytes.Clone(file)
			b[at] = 'z'
			if v, err := by(t, "npz").Decode(b); err == nil || !strings.Contains(err.Error(), "another name") {
				t.Errorf("%s, byte %d: %v, %v", what, at, v, err)
			}
		}
	}
}
