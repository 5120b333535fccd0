package webdataset_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/webdataset"
	"github.com/larder-data/larder/stream"
)

// TestArchivesOfOthers reads archives that other software makes.
func TestArchivesOfOthers(t *testing.T) {
	for name, want := range map[string][]string{
		"cls-zero-padded": {"__key__=0 cls=8"},
		"dotted-suffixes": {"__key__=0 mp4=bytes \x00\x01\x02 mp4.json=map[] info.json=map[]"},
		"members-apart":   {"__key__=0 a=0\n b=0\n", "__key__=1 a=1\n b=1\n"},
		"links":           {"__key__=./0 txt=first", "__key__=./1 txt=second", "__key__=./2 txt=third", "__key__=./d/late txt=third", "__key__=./3 txt=second"},
	} {
		got, err := read(t, webdataset.Source{}, "testdata/"+name+".tar")
		if err != nil || !slices.Equal(got, want) && name != "dotted-suffixes" {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
		if name == "dotted-suffixes" && (len(got) != 1 || !strings.Contains(got[0], " mp4=") || !strings.Contains(got[0], " mp4.json=") || !strings.Contains(got[0], " info.json=")) {
			t.Errorf("%s: %q", name, got)
		}
	}
	ds, err := webdataset.Source{}.Open(t.Context(), "testdata/hard-link.tar", env())
	if err != nil || ds.Len() != 2 {
		t.Fatal(err)
	}
	var content [2][]byte
	for i := range content {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.Item("png")
		if err != nil {
			t.Fatal(err)
		}
		if content[i], err = it.Bytes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(content[0]) == 0 || !bytes.Equal(content[0], content[1]) {
		t.Errorf("%q", content)
	}
}

// TestIntegers checks that strings that Python's int accepts are integers, and that any
// other is an error that names the member.
func TestIntegers(t *testing.T) {
	for text, want := range map[string]string{
		"0008": "8", "-007\n": "-7", "+5": "5", " 1_000 ": "1000", "0": "0", "000": "0", "-0": "0", "18446744073709551616": "18446744073709551616",
		"": "", "cat": "", "1.5": "", "_1": "", "1__0": "", "- 1": "", "1 2": "", "+": "",
	} {
		path := save(t, archive(t, file{"a.cls", text}, file{"b.y.ID", text}))
		for _, stream := range []bool{false, true} {
			got, err := all(t, webdataset.Source{Stream: stream, Path: component.Path(path)})
			if want == "" && (err == nil || !strings.Contains(err.Error(), "a.cls") || !strings.Contains(err.Error(), "is not an integer")) {
				t.Errorf("%q: %q, %v", text, got, err)
			}
			if want != "" && (err != nil || !slices.Equal(got, []string{"__key__=a cls=" + want, "__key__=b y=" + want})) {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
}

// all reads a dataset or a stream.
func all(t *testing.T, s webdataset.Source) ([]string, error) {
	t.Helper()
	if !s.Stream {
		return read(t, s, string(s.Path))
	}
	st, err := s.OpenStream(t.Context(), env())
	if err != nil {
		return nil, err
	}
	samples, err := stream.Collect(t.Context(), st)
	if err != nil {
		return nil, err
	}
	return shown(t.Context(), dataset.List(samples...))
}

// TestDottedSuffixes checks that whole suffixes name items where two members would be one
// item.
func TestDottedSuffixes(t *testing.T) {
	path := save(t, archive(t, file{"S_1.wav.data", "1"}, file{"S_1.wav.label", "2"}, file{"2.a.txt", "3"}, file{"3.__key__.txt", "4"}))
	want := []string{"__key__=S_1 wav.data=bytes 1 wav.label=bytes 2", "__key__=2 a=3", "__key__=3 __key__.txt=4"}
	for _, stream := range []bool{false, true} {
		if got, err := all(t, webdataset.Source{Stream: stream, Path: component.Path(path)}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

// TestLinksThatLeadNowhere checks that they are errors that name the link.
func TestLinksThatLeadNowhere(t *testing.T) {
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeSymlink, Name: "a.txt", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeSymlink, Name: "a.txt", Linkname: "a.txt"},
		{Typeflag: tar.TypeSymlink, Name: "a.txt", Linkname: "d"},
		{Typeflag: tar.TypeLink, Name: "a.txt", Linkname: "../../etc/passwd"},
		{Typeflag: tar.TypeLink, Name: "a.txt", Linkname: "later.txt"},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range []*tar.Header{{Typeflag: tar.TypeDir, Name: "d/"}, h} {
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, stream := range []bool{false, true} {
			got, err := all(t, webdataset.Source{Stream: stream, Path: component.Path(save(t, b.Bytes()))})
			if err == nil || !strings.Contains(err.Error(), "a.txt") || !strings.Contains(err.Error(), "--dereference") {
				t.Errorf("%v: %q, %v", h, got, err)
			}
		}
	}
}

// TestStreamsWithMembersApart checks that a sample in separate parts is an error, because a
// stream holds no members back.
func TestStreamsWithMembersApart(t *testing.T) {
	if _, err := os.Stat("testdata/members-apart.tar"); err != nil {
		t.Fatal(err)
	}
	got, err := all(t, webdataset.Source{Stream: true, Path: "testdata/members-apart.tar"})
	if err == nil || !strings.Contains(err.Error(), "members of sample 0 are not adjacent") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPaddedNames checks that numbers are padded to the longest only where names stay
// distinct.
func TestPaddedNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sample := func(text string) component.Samples {
		return dataset.List(dataset.NewSample(dataset.Field{Key: "txt", Item: dataset.NewItem("txt", text)}))
	}
	in := component.Data{Names: []string{"1", "01", "10"}, Parts: []component.Samples{sample("a"), sample("b"), sample("c")}}
	if _, err := write(t, dir, output.Forbid, in); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"1": "a", "01": "b", "10": "c"} {
		if got, err := read(t, webdataset.Source{}, filepath.Join(dir, name+".tar")); err != nil || !slices.Equal(got, []string{"__key__=000000000 txt=" + text}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestSparseFilesOfPax checks that they have their real names, also if the archive has
// fewer bytes than they claim.
func TestSparseFilesOfPax(t *testing.T) {
	_, err := read(t, webdataset.Source{}, "testdata/sparse-pax.tar")
	if err == nil || !strings.Contains(err.Error(), `200.bin" is a sparse file`) {
		t.Errorf("%v", err)
	}
}
