package mds_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/mds"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

// shard returns a file of samples with a string and an int.
func shard(texts ...string) []byte {
	little := binary.LittleEndian
	b := little.AppendUint32(nil, uint32(len(texts)))
	at := uint32(4*(2+len(texts)) + 2)
	var samples []byte
	for i, s := range texts {
		b = little.AppendUint32(b, at+uint32(len(samples)))
		samples = append(little.AppendUint32(samples, uint32(len(s))), s...)
		samples = little.AppendUint64(samples, uint64(i))
	}
	b = append(little.AppendUint32(b, at+uint32(len(samples))), "{}"...)
	return append(b, samples...)
}

func indexOf(samples, size int, more string) string {
	return fmt.Sprintf(`{"version": 2, "shards": [{"version": 2, "format": "mds", "samples": %d, "column_names": ["text", "n"],
		"column_encodings": ["str", "int"], "column_sizes": [null, 8], "raw_data": {"basename": "a.mds", "bytes": %d}%s}]}`, samples, size, more)
}

func directory(t testing.TB, index string, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	files["index.json"] = []byte(index)
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func shown(t testing.TB, dir string) (all []string, err error) {
	t.Helper()
	ds, err := mds.Source{}.Open(t.Context(), dir, env())
	if err != nil {
		return nil, err
	}
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			return all, err
		}
		text, err := s.Value(t.Context(), "text")
		if err != nil {
			return all, err
		}
		n, err := s.Value(t.Context(), "n")
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%v %v", text, n))
	}
	return all, nil
}

var want = []string{"one 0", " 1", "three 2"}

func TestShards(t *testing.T) {
	b := shard("one", "", "three")
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"raw":    directory(t, indexOf(3, len(b), ""), map[string][]byte{"a.mds": b}),
		"packed": directory(t, indexOf(3, len(b), `, "zip_data": {"basename": "a.mds.zstd", "bytes": 1}`), map[string][]byte{"a.mds.zstd": z.EncodeAll(b, nil)}),
	} {
		if got, err := shown(t, dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestDamage checks that a shard cut anywhere is an error, and that a changed byte gives an
// error or a value.
func TestDamage(t *testing.T) {
	b := shard("one", "", "three")
	for n := range b {
		if got, err := shown(t, directory(t, indexOf(3, len(b), ""), map[string][]byte{"a.mds": b[:n]})); err == nil || !strings.Contains(err.Error(), "a.mds") {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
		if got, err := shown(t, directory(t, indexOf(3, n, ""), map[string][]byte{"a.mds": b[:n]})); err == nil || !strings.Contains(err.Error(), "a.mds") {
			t.Errorf("%d bytes, as the index says: %q, %v", n, got, err)
		}
		changed := bytes.Clone(b)
		changed[n] ^= 1 << (n % 8)
		if _, err := shown(t, directory(t, indexOf(3, len(b), ""), map[string][]byte{"a.mds": changed})); err != nil && !strings.Contains(err.Error(), "a.mds") {
			t.Errorf("byte %d: %v does not name the file", n, err)
		}
	}
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	b := shard("one")
	good := indexOf(1, len(b), "")
	for name, c := range map[string]struct{ index, says string }{
		"no JSON":        {"{", "JSON"},
		"another one":    {strings.Replace(good, `"version": 2`, `"version": 3`, 1), "version 3"},
		"no shard":       {strings.Replace(good, `"mds"`, `"csv"`, 1), `format "csv", version 2 is not supported`},
		"a way out":      {strings.Replace(good, `"a.mds"`, `"../a.mds"`, 1), "is not a file name in its directory"},
		"huge":           {strings.Replace(good, `"samples": 1`, `"samples": 1000000000`, 1), "too short"},
		"other samples":  {strings.Replace(good, `"samples": 1`, `"samples": 2`, 1), "index.json says 2"},
		"lists":          {strings.Replace(good, `[null, 8]`, `[null]`, 1), "the numbers of names, encodings and sizes differ"},
		"two of a name":  {strings.Replace(good, `"text", "n"`, `"n", "n"`, 1), "two columns"},
		"a missing file": {strings.Replace(good, `"a.mds"`, `"b.mds"`, 1), "no such file"},
		"brotli":         {strings.Replace(indexOf(1, len(b), `, "compression": "br:11", "zip_data": {"basename": "a.mds.br", "bytes": 1}`), `"a.mds"`, `"b.mds"`, 1), "a.mds.br: compression br is not supported"},
		"pickle":         {strings.Replace(good, `"str"`, `"pkl"`, 1), "decoding could run code"},
	} {
		if got, err := shown(t, directory(t, c.index, map[string][]byte{"a.mds": b})); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzValues checks that any bytes of a column are refused or give an item whose array has
// as many elements as its shape.
func FuzzValues(f *testing.F) {
	for _, e := range []string{"int", "str_int", "float16", "ndarray", "ndarray:int8", "ndarray:int8:2,3", "pil", "str", "json", "pkl", "uint64"} {
		f.Add(e, []byte{8, 1 << 2, 3, 'a', 'b', 'c'})
	}
	f.Fuzz(func(t *testing.T, encoding string, b []byte) {
		it, err := mds.Decode(columns.Formats{}, "x", encoding, b)
		if err != nil {
			return
		}
		v, err := it.Value(t.Context())
		a, ok := v.(*array.Array)
		if err != nil || !ok {
			return
		}
		if n, err := array.Bytes(a.DType, a.Shape); err != nil || n != len(a.Data) {
			t.Errorf("%v of %v has %d bytes", a.DType, a.Shape, len(a.Data))
		}
	})
}
