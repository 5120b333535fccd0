package format

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// stored returns the files of a directory of an earlier version, by their names in it.
func stored(t *testing.T) map[string][]byte {
	t.Helper()
	packed, err := os.ReadFile("../../testdata/version2.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for all := tar.NewReader(z); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[path.Clean(h.Name)], err = io.ReadAll(all); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsDecodedIsEncodedTheSame checks that files of an earlier version are unchanged, to the byte, after decoding
// and encoding.
func TestWhatIsDecodedIsEncodedTheSame(t *testing.T) {
	files := stored(t)
	again := map[string]func(t *testing.T, name string, b []byte) []byte{
		"FORMAT": func(t *testing.T, _ string, b []byte) []byte {
			version, err := ParseVersion(b)
			if err != nil {
				t.Fatal(err)
			}
			return []byte(VersionText(version))
		},
		".pack":     packAgain,
		"packs.idx": mergedAgain,
		".idx": func(t *testing.T, name string, b []byte) []byte {
			pack := strings.TrimSuffix(name, ".idx") + ".pack"
			entries, covered, err := decodeIndex(b, idOf(t, pack), int64(len(files[pack])), 0)
			if err != nil {
				t.Fatal(err)
			}
			return EncodeIndex(idOf(t, pack), covered, entries)
		},
		".touch": func(t *testing.T, _ string, b []byte) []byte {
			uses, err := DecodeTouches(b)
			if err != nil {
				t.Fatal(err)
			}
			return EncodeTouches(uses)
		},
		"manifests": func(t *testing.T, _ string, b []byte) []byte {
			m, err := DecodeManifest(b)
			if err != nil {
				t.Fatal(err)
			}
			return EncodeManifest(&m)
		},
	}
	seen := make(map[string]int)
	for name, b := range files {
		for _, kind := range []string{name, path.Ext(name), path.Dir(name)} {
			if do := again[kind]; do != nil && len(b) > 0 {
				seen[kind]++
				if got := do(t, name, b); !bytes.Equal(got, b) {
					t.Errorf("%s: %d bytes came back as %d, others", name, len(b), len(got))
				}
				break
			}
		}
	}
	for kind := range again {
		if seen[kind] == 0 {
			t.Errorf("the directory has no %s", kind)
		}
	}
}

func idOf(t *testing.T, name string) uint64 {
	t.Helper()
	id, err := strconv.ParseUint(strings.TrimSuffix(path.Base(name), ".pack"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// packAgain writes each record of a pack, and each group from its members.
func packAgain(t *testing.T, name string, b []byte) (again []byte) {
	p := &Pack{idOf(t, name), bytes.NewReader(b)}
	found, err := p.Scan(0, int64(len(b)))
	if err != nil || found.End != int64(len(b)) || found.Torn || found.Damaged != nil {
		t.Fatalf("%s: %+v, %v", name, found, err)
	}
	for entries := found.Entries; len(entries) > 0; entries = entries[SameRecord(entries):] {
		var h Header
		at := entries[0].Place
		payload, provenance, err := p.ReadWhole(&h, at)
		if err != nil {
			t.Fatal(err)
		}
		if at.IsGroup() {
			var w GroupWriter
			g := Group{header: h}
			if err := g.open(p, at, payload); err != nil {
				t.Fatal(err)
			}
			members, err := g.All()
			if err != nil {
				t.Fatal(err)
			}
			for i := range members {
				var one Header
				g.record(&one, i)
				w.Add(members[i].fp, &one, members[i].payload, g.Provenance(i))
			}
			h, payload = w.Close()
		}
		record := make([]byte, h.Length())
		h.Encode(record, p.ID, at.Offset(), payload, provenance)
		again = append(again, record...)
	}
	return again
}

func mergedAgain(t *testing.T, _ string, b []byte) []byte {
	m, err := DecodeMerged(b)
	if err != nil {
		t.Fatal(err)
	}
	packs := make([]MergedPack, len(m.Packs))
	for i, p := range m.Packs {
		packs[i] = MergedPack{ID: p.ID, Covered: p.Covered, Blobs: p.Blobs}
	}
	var again bytes.Buffer
	err = WriteMerged(&again, m.Latest, packs, 3*m.Len(), func(yield func(Located) error) error {
		for i := range m.Len() {
			l, ok := m.Entry(i)
			if !ok {
				t.Fatalf("entry %d is damaged", i)
			}
			if err := yield(l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return again.Bytes()
}
